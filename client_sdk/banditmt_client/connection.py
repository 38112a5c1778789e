"""The calls of the protocol, made over HTTP with retries.

Retrying is always safe: the service commits a round once, and resending a committed round returns the same response.
So the client retries after connection errors, timeouts, malformed responses, 429 and 5xx. It waits with exponential
backoff and jitter, and at least as long as ``Retry-After`` asks. Every other error status is final.
"""

from __future__ import annotations

import email.utils
import json
import logging
import math
import platform
import random
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Protocol
from urllib.parse import quote

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from banditmt_client.errors import (
    BanditError,
    ConfigurationError,
    ConnectionFailedError,
    OrderError,
    ProtocolError,
    ServiceError,
    error_for_response,
)

log = logging.getLogger("banditmt_client")
log.addHandler(logging.NullHandler())

INITIAL_BACKOFF_SECONDS = 0.25  # doubles with every attempt
MAX_BACKOFF_SECONDS = 30.0
MAX_RETRY_AFTER_SECONDS = 300.0  # a service that asks for more is not coming back soon
FINAL_CODES = frozenset({"quota_exceeded"})  # a 429 that does not go away by waiting

JsonObject = Mapping[str, Any]


class Connection(Protocol):
    """The calls of the protocol, one method each; every method returns the JSON object of the response.

    ``HttpConnection`` makes the calls over the network. Another implementation can make them in process. A method
    raises a subclass of ``BanditError`` when its call fails.
    """

    def open_run(self, phase: str, system: str, *, again: bool = True) -> JsonObject:
        """Call ``POST /v1/runs``."""
        ...

    def run(self, run: str) -> JsonObject:
        """Call ``GET /v1/runs/{run}``."""
        ...

    def sentence(self, run: str) -> JsonObject:
        """Call ``GET /v1/runs/{run}/sentence``."""
        ...

    def translate(
        self, run: str, sentence_id: str, translation: str, log_probability: float | None = None
    ) -> JsonObject:
        """Call ``POST /v1/runs/{run}/translations``."""
        ...

    def leaderboard(self, phase: str) -> JsonObject:
        """Call ``GET /v1/leaderboard/{phase}``."""
        ...

    def phases(self) -> JsonObject:
        """Call ``GET /v1/phases``."""
        ...

    def task(self) -> JsonObject:
        """Call ``GET /v1/task``."""
        ...

    def close(self) -> None:
        """Release the connection; later calls raise ``OrderError``."""
        ...


class HttpConnection:
    """One keep-alive HTTP connection to the service. Not thread-safe: give each thread its own."""

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        user_agent: str,
        connect_timeout: float,
        read_timeout: float,
        retries: int,
    ) -> None:
        self._url = url
        self._timeout = (connect_timeout, read_timeout)
        self._retries = retries
        self._closed = False
        self._session = requests.Session()
        self._session.headers.update({"Accept": "application/json", "User-Agent": user_agent})
        if api_key is not None:
            self._session.headers["x-api-key"] = api_key
        # Proxies and certificates from the environment, looked up once: requests would do it on every call.
        self._settings = self._session.merge_environment_settings(url, {}, False, None, None)
        self._prepared: dict[tuple[str, str], requests.PreparedRequest] = {}

    def __repr__(self) -> str:
        return f"HttpConnection({self._url!r})"

    def open_run(self, phase: str, system: str, *, again: bool = True) -> JsonObject:
        body: dict[str, str | bool] = {"phase": phase, "system": system}
        if not again:
            body["again"] = False
        return self._call("POST", "/v1/runs", body)

    def run(self, run: str) -> JsonObject:
        return self._call("GET", f"/v1/runs/{_path_segment(run)}")

    def sentence(self, run: str) -> JsonObject:
        return self._call("GET", f"/v1/runs/{_path_segment(run)}/sentence")

    def translate(
        self, run: str, sentence_id: str, translation: str, log_probability: float | None = None
    ) -> JsonObject:
        body: dict[str, str | float] = {"id": sentence_id, "translation": translation}
        if log_probability is not None:
            body["log_probability"] = log_probability
        return self._call("POST", f"/v1/runs/{_path_segment(run)}/translations", body)

    def leaderboard(self, phase: str) -> JsonObject:
        return self._call("GET", f"/v1/leaderboard/{_path_segment(phase)}")

    def phases(self) -> JsonObject:
        return self._call("GET", "/v1/phases")

    def task(self) -> JsonObject:
        return self._call("GET", "/v1/task")

    def close(self) -> None:
        self._closed = True
        self._session.close()

    def _call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        """Make one call, and retry it while a retry can succeed."""
        if self._closed:
            raise OrderError("this client is closed: create a new one")
        try:
            request = self._prepare(method, path, body)
        except (requests.RequestException, ValueError):
            raise invalid_address_error(self._url) from None
        for attempt in range(self._retries + 1):
            retry_after = None
            try:
                response = self._session.send(request, timeout=self._timeout, allow_redirects=False, **self._settings)
                if 200 <= response.status_code < 300:
                    return _read_object(response)
                failure: BanditError = _read_error(response)
                if not _is_retryable(failure):
                    raise failure
                retry_after = _parse_retry_after(response.headers.get("Retry-After"))
            except (requests.RequestException, HTTPError) as broken:  # some of urllib3's errors pass through requests
                failure = ConnectionFailedError(_explain(broken, self._url, attempt + 1))
            except _MalformedResponseError as malformed:
                failure = ProtocolError(
                    f"{self._url}{path} did not respond with a JSON object ({malformed}); check the service address"
                )
            if attempt < self._retries:
                seconds = _backoff_seconds(attempt, retry_after)
                log.debug("%s %s: %s; retrying in %.1f s", method, path, failure, seconds)
                time.sleep(seconds)
        raise failure

    def _prepare(self, method: str, path: str, body: JsonObject | None) -> requests.PreparedRequest:
        """Return a request that is ready to send. Address and headers are assembled once per method and path."""
        prepared = self._prepared.get((method, path))
        if prepared is None:
            prepared = self._session.prepare_request(requests.Request(method, self._url + path))
            self._prepared[method, path] = prepared
        if body is None:
            return prepared
        request = prepared.copy()
        request.body = json.dumps(body).encode()
        request.headers["Content-Type"] = "application/json"
        request.headers["Content-Length"] = str(len(request.body))
        return request


def _path_segment(name: str) -> str:
    """Return a name percent-encoded for a path. Lone surrogates become ``?``, so that the service responds with 404."""
    if not isinstance(name, str):
        raise OrderError(f"the name of a run or phase must be a string, not {type(name).__name__}")
    return quote(name, safe="", errors="replace")


class _MalformedResponseError(Exception):
    """A response with a success status whose body is not a JSON object."""


def _read_object(response: requests.Response) -> JsonObject:
    try:
        body = json.loads(response.content)
    except ValueError:
        raise _MalformedResponseError(f"{len(response.content)} bytes") from None
    if not isinstance(body, dict):
        raise _MalformedResponseError(type(body).__name__)
    return body


def _read_error(response: requests.Response) -> ServiceError:
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    code, message, request_id = (str(body.get(name) or "") for name in ("code", "message", "request_id"))
    request_id = request_id or response.headers.get("x-amzn-requestid", "")
    run = body.get("run")
    return error_for_response(response.status_code, code, message, request_id, run if isinstance(run, str) else "")


def _is_retryable(failure: BanditError) -> bool:
    """Return whether the same request could succeed later."""
    return (failure.status == 429 or failure.status >= 500) and failure.code not in FINAL_CODES


def _parse_retry_after(header: str | None) -> float | None:
    """Return the seconds that a ``Retry-After`` header asks for, given as a number or as a date; None if neither."""
    if not header:
        return None
    with suppress(ValueError):
        seconds = float(header)
        return None if math.isnan(seconds) else max(0.0, seconds)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _backoff_seconds(attempt: int, retry_after: float | None) -> float:
    """Return how long to wait before the next attempt: exponential backoff with jitter, added to ``Retry-After``."""
    ceiling = min(MAX_BACKOFF_SECONDS, INITIAL_BACKOFF_SECONDS * 2**attempt)
    backoff = random.uniform(ceiling / 2, ceiling)
    return backoff if retry_after is None else min(MAX_RETRY_AFTER_SECONDS, retry_after) + backoff / 4


def _explain(broken: Exception, url: str, attempts: int) -> str:
    # requests has no exception of its own for a body that never ends, so look at the cause.
    cause = broken.args[0] if broken.args else None
    late = isinstance(broken, requests.Timeout) or isinstance(cause, ReadTimeoutError)
    what = "did not respond in time" if late else "could not be reached"
    return f"{url} {what} ({type(broken).__name__}, {attempts} attempts); check the address and network, then resume"


def invalid_address_error(url: str) -> ConfigurationError:
    """Return the error for an address that cannot be called."""
    return ConfigurationError(f"{url!r} is not a valid service address; expected something like https://host/stage")


def user_agent(version: str) -> str:
    """Return the ``User-Agent`` header of this SDK."""
    return f"banditmt-client/{version} python/{platform.python_version()} requests/{requests.__version__}"

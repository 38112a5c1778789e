"""The calls of the protocol, made over HTTP with retries.

Retrying is always safe: the service commits a round once, and resending a committed round returns the same response.
So the client retries after connection errors, timeouts, malformed responses, 429 and 5xx. It waits with exponential
backoff and jitter, and at least as long as ``Retry-After`` asks. Every other error status is final, and so is a
response that is too large. A call that waits for seconds logs a warning for every further retry.
"""

from __future__ import annotations

import email.utils
import json
import logging
import math
import platform
import random
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any, Protocol
from urllib.parse import quote

import requests
from urllib3.exceptions import HTTPError, ReadTimeoutError

from banditmt_client.bounded_http import (
    ACCEPTED_ENCODING,
    BoundedAdapter,
    MalformedResponseError,
    OversizedResponseError,
    read_body,
)
from banditmt_client.errors import (
    BanditError,
    ConfigurationError,
    ConnectionFailedError,
    OrderError,
    ProtocolError,
    ServiceError,
    error_for_response,
)
from banditmt_client.strict_json import read_json

log = logging.getLogger("banditmt_client")

INITIAL_BACKOFF_SECONDS = 0.25  # doubles with every attempt
MAX_BACKOFF_SECONDS = 30.0
QUIET_SECONDS = 2.0  # after which a call that is still retried says so
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
        self._session.headers.update(
            {"Accept": "application/json", "Accept-Encoding": ACCEPTED_ENCODING, "User-Agent": user_agent}
        )
        if api_key is not None:
            self._session.headers["x-api-key"] = api_key
        # Called without its session, which would read the whole body of a redirect and parse where it leads.
        self._adapter = BoundedAdapter()
        # Proxies and certificates from the environment, looked up once: requests would do it on every call.
        self._settings: dict[str, Any] = {**self._session.merge_environment_settings(url, {}, True, None, None)}
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
        self._adapter.close()

    def _call(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        """Make one call, and retry it while a retry can succeed."""
        if self._closed:
            raise OrderError("this client is closed: create a new one")
        try:
            request = self._prepare(method, path, body)
        except (requests.RequestException, ValueError):
            raise invalid_address_error(self._url) from None
        begin, handled = time.monotonic(), sys.exc_info()[1]  # a caller may be handling an error of an earlier call
        for attempt in range(self._retries + 1):
            retry_after = None
            try:
                response = self._adapter.send(request, timeout=self._timeout, **self._settings)
                content = read_body(response)
                if 200 <= response.status_code < 300:
                    return _read_object(content)
                failure: BanditError = _read_error(response, content)
                if not _is_retryable(failure):
                    raise failure
                retry_after = _parse_retry_after(response.headers.get("Retry-After"))
            except (OSError, HTTPError, HTTPException, ValueError) as broken:
                # The first is the base of all errors of requests. Some of urllib3 and http.client pass through it.
                if oversized := _find_cause(broken, OversizedResponseError, handled):
                    raise ProtocolError(f"{self._url}{path}: {oversized}; check the service address") from None
                failure = ConnectionFailedError(_explain(broken, handled, self._url, attempt + 1))
            except MalformedResponseError as malformed:
                failure = ProtocolError(
                    f"{self._url}{path} did not respond with a JSON object ({malformed}); check the service address"
                )
            if attempt < self._retries:
                seconds = _backoff_seconds(attempt, retry_after)
                is_late = time.monotonic() - begin + seconds >= QUIET_SECONDS
                log.log(
                    logging.WARNING if is_late else logging.DEBUG,
                    "attempt %d of %d failed, retrying in %.1f s: %s",
                    attempt + 1,
                    self._retries + 1,
                    seconds,
                    failure,
                )
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


def _read_object(body: bytes) -> JsonObject:
    try:
        value = read_json(body)
    except ValueError:
        raise MalformedResponseError(f"{len(body):,} bytes") from None
    if not isinstance(value, dict):
        raise MalformedResponseError(type(value).__name__)
    return value


def _read_error(response: requests.Response, content: bytes) -> ServiceError:
    try:
        body = read_json(content)
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


def _explain(broken: Exception, handled: BaseException | None, url: str, attempts: int) -> str:
    # requests has no exception of its own for a body that never ends, so look at the cause.
    late = isinstance(broken, requests.Timeout) or _find_cause(broken, ReadTimeoutError, handled)
    what = "did not respond in time" if late else "could not be reached"
    return f"{url} {what} ({type(broken).__name__}, {attempts} attempts); check the address and network, then resume"


def _find_cause(
    error: BaseException | None, kind: type[Exception], handled: BaseException | None
) -> BaseException | None:
    """Return the first error of a kind among an error and those that led to it, up to one that was handled before."""
    while error is not None and error is not handled:
        if isinstance(error, kind):
            return error
        error = error.__context__
    return None


def invalid_address_error(url: str) -> ConfigurationError:
    """Return the error for an address that cannot be called."""
    return ConfigurationError(f"{url!r} is not a valid service address; expected something like https://host/stage")


def user_agent(version: str) -> str:
    """Return the ``User-Agent`` header of this SDK."""
    return f"banditmt-client/{version} python/{platform.python_version()} requests/{requests.__version__}"

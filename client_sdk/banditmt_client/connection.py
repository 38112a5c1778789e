"""The calls of the protocol, over HTTP with retries.

Retrying is always safe: the service commits a round once and answers the same request alike. So connection errors,
timeouts, damaged answers, 429 and 5xx are tried again after a growing, jittered pause (or the one that ``Retry-After``
asks for); every other refusal is final.
"""

from __future__ import annotations

import email.utils
import json
import logging
import platform
import random
import time
from collections.abc import Mapping
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
    refusal,
)

log = logging.getLogger("banditmt_client")
log.addHandler(logging.NullHandler())

FIRST_PAUSE = 0.25  # seconds; doubles with every try
LONGEST_PAUSE = 30.0
LONGEST_RETRY_AFTER = 300.0  # a service that asks for more is not coming back soon
FINAL_CODES = frozenset({"quota_exceeded"})  # a 429 that waiting does not mend

Answer = Mapping[str, Any]


class Connection(Protocol):
    """The calls of the protocol; ``HttpConnection`` makes them over the network, others may make them in process."""

    def open_run(self, phase: str, system: str) -> Answer: ...
    def run(self, run: str) -> Answer: ...
    def sentence(self, run: str) -> Answer: ...
    def translate(self, run: str, sentence_id: str, translation: str) -> Answer: ...
    def leaderboard(self, phase: str) -> Answer: ...
    def phases(self) -> Answer: ...
    def close(self) -> None: ...


class HttpConnection:
    """One keep-alive connection to the service. Not thread-safe: give each thread its own."""

    def __init__(
        self, url: str, api_key: str, *, user_agent: str, connect_timeout: float, read_timeout: float, retries: int
    ) -> None:
        self._url = url
        self._timeout = (connect_timeout, read_timeout)
        self._retries = retries
        self._closed = False
        self._session = requests.Session()
        self._session.headers.update({"x-api-key": api_key, "Accept": "application/json", "User-Agent": user_agent})
        # Proxies and certificates from the environment, looked up once: requests would do it on every call.
        self._settings = self._session.merge_environment_settings(url, {}, False, None, None)
        self._prepared: dict[tuple[str, str], requests.PreparedRequest] = {}

    def __repr__(self) -> str:
        return f"HttpConnection({self._url!r})"

    def open_run(self, phase: str, system: str) -> Answer:
        return self._call("POST", "/v1/runs", {"phase": phase, "system": system})

    def run(self, run: str) -> Answer:
        return self._call("GET", f"/v1/runs/{_segment(run)}")

    def sentence(self, run: str) -> Answer:
        return self._call("GET", f"/v1/runs/{_segment(run)}/sentence")

    def translate(self, run: str, sentence_id: str, translation: str) -> Answer:
        body = {"id": sentence_id, "translation": translation}
        return self._call("POST", f"/v1/runs/{_segment(run)}/translations", body)

    def leaderboard(self, phase: str) -> Answer:
        return self._call("GET", f"/v1/leaderboard/{_segment(phase)}")

    def phases(self) -> Answer:
        return self._call("GET", "/v1/phases")

    def close(self) -> None:
        self._closed = True
        self._session.close()

    def _call(self, method: str, path: str, body: Answer | None = None) -> Answer:
        """Make one call, trying again while that can help."""
        if self._closed:
            raise OrderError("this client is closed")
        try:
            request = self._prepare(method, path, body)
        except (requests.RequestException, ValueError):
            raise not_an_address(self._url) from None
        for attempt in range(self._retries + 1):
            wished_pause = None
            try:
                response = self._session.send(request, timeout=self._timeout, allow_redirects=False, **self._settings)
                if 200 <= response.status_code < 300:
                    return _read_object(response)
                failure: BanditError = _read_refusal(response)
                if not _may_pass(failure):
                    raise failure
                wished_pause = _retry_after(response.headers.get("Retry-After"))
            except (requests.RequestException, HTTPError) as broken:  # requests lets some of urllib3's through
                failure = ConnectionFailedError(_explain(broken, self._url, attempt + 1))
            except _DamagedAnswerError as damaged:
                failure = ProtocolError(
                    f"{self._url}{path} answers, but not with JSON ({damaged}); is the address right?"
                )
            if attempt < self._retries:
                pause = _pause(attempt, wished_pause)
                log.debug("%s %s: %s; trying again in %.1f s", method, path, failure, pause)
                time.sleep(pause)
        raise failure

    def _prepare(self, method: str, path: str, body: Answer | None) -> requests.PreparedRequest:
        """A request ready to be sent; addresses and headers are put together once for each place."""
        known = self._prepared.get((method, path))
        if known is None:
            known = self._session.prepare_request(requests.Request(method, self._url + path))
            self._prepared[method, path] = known
        if body is None:
            return known
        request = known.copy()
        request.body = json.dumps(body).encode()
        request.headers["Content-Type"] = "application/json"
        request.headers["Content-Length"] = str(len(request.body))
        return request


def _segment(name: str) -> str:
    """A name as part of a path. One that is no text is the name of nothing, which the service then says."""
    if not isinstance(name, str):
        raise OrderError(f"runs and phases are named by strings, not by {type(name).__name__}")
    return quote(name, safe="", errors="replace")


class _DamagedAnswerError(Exception):
    """A success whose body is not a JSON object."""


def _read_object(response: requests.Response) -> Answer:
    try:
        answer = json.loads(response.content)
    except ValueError:
        raise _DamagedAnswerError(f"{len(response.content)} bytes") from None
    if not isinstance(answer, dict):
        raise _DamagedAnswerError(type(answer).__name__)
    return answer


def _read_refusal(response: requests.Response) -> BanditError:
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    code, message, request_id = (str(body.get(name) or "") for name in ("code", "message", "request_id"))
    request_id = request_id or response.headers.get("x-amzn-requestid", "")
    run = body.get("run")
    return refusal(response.status_code, code, message, request_id, run if isinstance(run, str) else "")


def _may_pass(failure: BanditError) -> bool:
    """Can the same request be answered otherwise later?"""
    return (failure.status == 429 or failure.status >= 500) and failure.code not in FINAL_CODES


def _retry_after(header: str | None) -> float | None:
    """Seconds that the service asks to wait, from either form of the header."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _pause(attempt: int, wished: float | None) -> float:
    """How long to wait before the next try: what the service asks for, and a growing random time on top of it."""
    ceiling = min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt)
    jitter = random.uniform(ceiling / 2, ceiling)
    return jitter if wished is None else min(LONGEST_RETRY_AFTER, wished) + jitter / 4


def _explain(broken: Exception, url: str, tries: int) -> str:
    cause = broken.args[0] if broken.args else None  # requests has no name of its own for a body that does not end
    late = isinstance(broken, requests.Timeout) or isinstance(cause, ReadTimeoutError)
    what = "did not answer in time" if late else "could not be reached"
    return f"{url} {what} ({type(broken).__name__}, {tries} tries); check the address and the network, then go on"


def not_an_address(url: str) -> ConfigurationError:
    return ConfigurationError(f"{url!r} is not the address of a service; it looks like https://host/stage")


def user_agent(version: str) -> str:
    return f"banditmt-client/{version} python/{platform.python_version()} requests/{requests.__version__}"

"""The way in: a client knows the service and the participant's key, and opens runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import requests

from banditmt_client._version import __version__
from banditmt_client.connection import Connection, HttpConnection, not_an_address, user_agent
from banditmt_client.errors import ConfigurationError, ProtocolError
from banditmt_client.results import Phase, read_phase
from banditmt_client.run import Run

KEY_VARIABLE = "BANDITMT_API_KEY"
URL_VARIABLE = "BANDITMT_URL"


class Client:
    """A participant's connection to a shared task.

    The key and the address come from ``BANDITMT_API_KEY`` and ``BANDITMT_URL`` unless they are given. A client and its
    runs belong to one thread at a time; make one client for each thread that plays.
    """

    def __init__(
        self,
        api_key: str | None = None,
        url: str | None = None,
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        retries: int = 10,
        connection: Connection | None = None,
    ) -> None:
        if connection is None:
            api_key = _Secret((api_key or os.environ.get(KEY_VARIABLE, "")).strip())  # hidden before anything can fail
            url = _Secret((url or os.environ.get(URL_VARIABLE, "")).strip())
            if retries < 0 or connect_timeout <= 0 or read_timeout <= 0:
                raise ConfigurationError("retries are counted from 0, and timeouts are positive seconds")
            connection = HttpConnection(
                _address(url),
                _key(api_key),
                user_agent=user_agent(__version__),
                connect_timeout=connect_timeout,
                read_timeout=read_timeout,
                retries=retries,
            )
        self._connection = connection

    def __repr__(self) -> str:
        return f"Client({getattr(self, '_connection', None)!r})"  # None in the traceback of one that was refused

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()

    def open_run(self, *, phase: str, system: str) -> Run:
        """Begin a run of a system over a phase, or go on with the unfinished one of that name."""
        return Run(self._connection, self._connection.open_run(phase, system))

    def get_run(self, run: str) -> Run:
        """A run by its id, finished or not: with it a learner that crashed on the very last round gets its score."""
        return Run(self._connection, self._connection.run(run))

    def phases(self) -> list[Phase]:
        """The phases of the task, and which of them are open."""
        listed = self._connection.phases().get("phases")
        if not isinstance(listed, list):
            raise ProtocolError("the answer of the service has no usable 'phases'; is this the address of the service?")
        return [read_phase(phase) for phase in listed]

    def leaderboard(self, phase: str) -> Mapping[str, Any]:
        """The leaderboard of a phase, as the service publishes it."""
        return self._connection.leaderboard(phase)


class _Secret(str):
    """A string that is not shown by those who show all variables, such as tracebacks and debuggers."""

    def __repr__(self) -> str:
        return "<hidden>"


def _address(url: _Secret) -> str:
    if not url:
        raise ConfigurationError(f"where is the service? Set {URL_VARIABLE} or pass url=")
    if "@" in url:  # and therefore perhaps a password, so it is not repeated
        raise ConfigurationError(
            "the address has an '@' in it: leave out user name and password, the API key is enough"
        )
    if not _can_be_called(url):
        raise not_an_address(str(url))
    return url.rstrip("/")


def _can_be_called(url: str) -> bool:
    """Would the library that makes the calls take this address, as it stands and with paths at its end?"""
    if not url.isprintable() or any(mark in url for mark in " ?#"):
        return False
    try:
        prepared = requests.PreparedRequest()
        prepared.prepare_url(url, None)
        parts = urlsplit(prepared.url or "")
        (parts.hostname or "").encode("idna")  # what the sockets will do with the name
    except (requests.RequestException, ValueError):
        return False
    return parts.scheme in ("http", "https")


def _key(key: _Secret) -> _Secret:
    if not key:
        raise ConfigurationError(f"no API key: set {KEY_VARIABLE} or pass api_key= (the organiser hands it out)")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigurationError("the API key has characters that no key has; was it copied whole and alone?")
    return key

"""The entry point of the SDK: a client holds the service address and the API key, and opens runs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import requests

from banditmt_client._version import __version__
from banditmt_client.connection import Connection, HttpConnection, invalid_address_error, user_agent
from banditmt_client.errors import ConfigurationError
from banditmt_client.results import Phase, TaskInfo, read_phases, read_task
from banditmt_client.run import Run

KEY_VARIABLE = "BANDITMT_API_KEY"
URL_VARIABLE = "BANDITMT_URL"


class Client:
    """A participant's client of a shared task.

    A client and its runs must be used by one thread at a time; create one client per thread. A client is a context
    manager that closes its connection on exit.

    Args:
        api_key: The API key that the organiser issued. Default: the environment variable ``BANDITMT_API_KEY``.
        url: The address of the service, such as ``https://host/stage``. Default: the environment variable
            ``BANDITMT_URL``.
        connect_timeout: Seconds to wait for a connection, and for each step until the request is sent.
        read_timeout: Seconds to wait for a whole response.
        retries: How often a failed call is retried, 0 or more. Retrying is always safe; see ``connection``.
        anonymous: Whether to send no API key. ``task``, ``phases`` and ``leaderboard`` are public; other calls then
            raise ``AuthenticationError``.
        connection: A transport to use instead of HTTP, such as one that calls the service in process. The other
            arguments are then ignored.

    Raises:
        ConfigurationError: The key or the address is missing or invalid, or a timeout or ``retries`` is out of range.
    """

    def __init__(
        self,
        api_key: str | None = None,
        url: str | None = None,
        *,
        connect_timeout: float = 5.0,
        read_timeout: float = 30.0,
        retries: int = 10,
        anonymous: bool = False,
        connection: Connection | None = None,
    ) -> None:
        if connection is None:
            # Wrapped first, so that no later failure shows the key or a password in a traceback.
            api_key = _Secret((api_key or os.environ.get(KEY_VARIABLE, "")).strip())
            url = _Secret((url or os.environ.get(URL_VARIABLE, "")).strip())
            _check_retry_policy(retries, connect_timeout=connect_timeout, read_timeout=read_timeout)
            connection = HttpConnection(
                _checked_url(url),
                None if anonymous else _checked_key(api_key),
                user_agent=user_agent(__version__),
                connect_timeout=connect_timeout,
                read_timeout=read_timeout,
                retries=retries,
            )
        self._connection = connection

    def __repr__(self) -> str:
        # The attribute is missing in the traceback of a constructor that raised.
        return f"Client({getattr(self, '_connection', None)!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def connection(self) -> Connection:
        """The transport of this client, for a program that passes calls on."""
        return self._connection

    def close(self) -> None:
        """Close the connection. Later calls of the client and its runs raise ``OrderError``."""
        self._connection.close()

    def open_run(self, *, phase: str, system: str, again: bool = True) -> Run:
        """Start a run of a system over a phase, or resume the unfinished run of that name.

        Args:
            phase: The phase, such as ``"mock"``, ``"dev"`` or ``"training"``.
            system: The name under which the system appears on the leaderboard.
            again: Whether to start another run if the system has finished one and the phase can be played repeatedly.

        Returns:
            The run, positioned at its first sentence without a translation.

        Raises:
            NotFoundError: The task has no such phase.
            PhaseClosedError: The organiser has closed or frozen the phase.
            ConflictError: The system has finished the phase, and either ``again`` is false or the phase can be played
                only once. The error's ``run`` is the id of the finished run.
            QuotaExceededError: The participant has no runs left in this phase.
            BanditError: Any other failure; see ``banditmt_client.errors``.
        """
        return Run(self._connection, self._connection.open_run(phase, system, again=again))

    def get_run(self, run: str) -> Run:
        """Return a run by its id, whether it is finished or not.

        A learner that crashed during the last round of a run reads the score of that round from ``get_run(id).last``.

        Args:
            run: The id of one of the participant's own runs (``Run.id``).

        Returns:
            The run in its current state.

        Raises:
            NotFoundError: The participant has no run with this id.
            BanditError: Any other failure; see ``banditmt_client.errors``.
        """
        return Run(self._connection, self._connection.run(run))

    def phases(self) -> list[Phase]:
        """Return the phases of the task: their states, times and feedback, and how many runs the participant has left.

        Raises:
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        return read_phases(self._connection.phases())

    def task(self) -> TaskInfo:
        """Return the task's description of itself: languages, text convention, phases, licence and contact.

        Raises:
            NotFoundError: The service is older than this call.
            BanditError: The call failed; see ``banditmt_client.errors``.
        """
        return read_task(self._connection.task())

    def leaderboard(self, phase: str) -> Mapping[str, Any]:
        """Return the leaderboard of a phase as the JSON object that the service publishes.

        Args:
            phase: The phase, such as ``"dev"``.

        Raises:
            NotFoundError: The task has no such phase.
            BanditError: Any other failure; see ``banditmt_client.errors``.
        """
        return self._connection.leaderboard(phase)


class _Secret(str):
    """A string whose ``repr`` is hidden, so that tracebacks and debuggers that print variables do not show it."""

    def __repr__(self) -> str:
        return "<hidden>"


def _check_retry_policy(retries: int, **timeouts: float) -> None:
    if retries < 0:
        raise ConfigurationError(f"retries must be 0 or more, not {retries}")
    for name, seconds in timeouts.items():
        if seconds <= 0:
            raise ConfigurationError(f"{name} must be a positive number of seconds, not {seconds}")


def _checked_url(url: _Secret) -> str:
    if not url:
        raise ConfigurationError(f"no service address: set {URL_VARIABLE} or pass url=")
    if "@" in url:  # It may contain a password, so the message does not repeat it.
        raise ConfigurationError(
            "the service address contains '@': remove the user name and password, the API key is enough"
        )
    if not _is_callable_address(url):
        raise invalid_address_error(str(url))
    return url.rstrip("/")


def _is_callable_address(url: str) -> bool:
    """Return whether ``requests`` accepts the address, both as it is and with a path appended."""
    if not url.isprintable() or any(mark in url for mark in " ?#"):
        return False
    try:
        prepared = requests.PreparedRequest()
        prepared.prepare_url(url, None)
        parts = urlsplit(prepared.url or "")
        (parts.hostname or "").encode("idna")  # as the socket layer does with a host name
    except (requests.RequestException, ValueError):
        return False
    return parts.scheme in ("http", "https")


def _checked_key(key: _Secret) -> _Secret:
    if not key:
        raise ConfigurationError(f"no API key: set {KEY_VARIABLE} or pass api_key= (the organiser issues keys)")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigurationError(
            "the API key contains invalid characters; check that you copied the whole key and nothing else"
        )
    return key

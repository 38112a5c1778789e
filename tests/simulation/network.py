"""The simulated network between clients and servers, which loses, delays, duplicates and truncates messages."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import requests
import urllib3
from requests.structures import CaseInsensitiveDict

from simulator.cloud.http_messages import HttpRequest, HttpResponse
from tests.simulation import faults
from tests.simulation.disks import InterruptedThreadError
from tests.simulation.faults import FaultPlan
from tests.simulation.history import History
from tests.simulation.scheduler import Actor, KilledError, Scheduler
from tests.simulation.servers import ServerProcess

LATENCY_SECONDS, LATE_SECONDS = 0.05, 60.0  # at most; a client waits for 30 seconds
ORPHAN_SECONDS = 3.0  # at most, until the last request of a killed process arrives
PROXY_ERROR = HttpResponse(502, [("Content-Type", "text/html")], b"<html>Bad Gateway</html>")
RESET = HttpResponse(0, [], b"")  # the connection was closed without a response


class NetworkResponse(NamedTuple):
    """What reached the client."""

    response: HttpResponse
    is_whole: bool = True


class LearnerKilledError(BaseException):
    """The process of a learner was killed."""


class _Mailbox:
    """Where a server puts a response, and who waits for it."""

    def __init__(self, reader: Actor | None) -> None:
        self.reader = reader
        self.response: HttpResponse | None = None


class Network:
    """Carries requests to whatever server process is alive."""

    def __init__(
        self, scheduler: Scheduler, plan: FaultPlan, log: History, servers: Callable[[], list[ServerProcess]]
    ) -> None:
        self._scheduler, self._plan, self._history, self._servers = scheduler, plan, log, servers

    def call(
        self,
        participant: str | None,
        key: str | None,
        method: str,
        path: str,
        body: bytes,
        *,
        timeout: float = 30.0,
        may_die: bool = False,
    ) -> NetworkResponse:
        """Send a request and return the response. Raises the errors of ``requests``.

        A client that may die is killed now and then while it waits, and its request arrives all the same.
        """
        exchange = self._history.send(participant, method, path, _parse(body), self._scheduler.now)
        request = _request(key, method, path, body)
        if may_die and self._plan.draw(("learner killed while it waits",)):
            self._deliver(request, None, self._plan.duration(ORPHAN_SECONDS))
            raise LearnerKilledError
        received = self._exchange(request, timeout)
        if received.is_whole:
            status, content = received.response.status, received.response.body
            self._history.receive(exchange, status, _parse(content), self._scheduler.now)
        return received

    def _exchange(self, request: HttpRequest, timeout: float) -> NetworkResponse:
        fault, plan = self._plan.draw(faults.NETWORK), self._plan
        self._scheduler.pause(plan.duration(LATENCY_SECONDS))
        if fault == "request lost":
            raise requests.ConnectionError("the request was lost")
        if fault == "error of a proxy before":
            return NetworkResponse(PROXY_ERROR)
        if fault == "request duplicated":
            self._deliver(request, None, plan.duration(LATE_SECONDS))
        delay = plan.duration(LATE_SECONDS) if fault == "request late" else 0.0
        response = self._await(self._deliver(request, self._scheduler.current, delay), timeout)
        self._scheduler.pause(plan.duration(LATE_SECONDS if fault == "response late" else LATENCY_SECONDS))
        if fault == "response lost" or response is RESET:
            raise requests.ConnectionError("the connection was closed")
        if fault == "error of a proxy after":
            return NetworkResponse(PROXY_ERROR)
        return NetworkResponse(response, is_whole=fault != "response truncated")

    def _await(self, mailbox: _Mailbox, timeout: float) -> HttpResponse:
        deadline = self._scheduler.now + timeout
        while mailbox.response is None:
            if self._scheduler.now >= deadline:
                mailbox.reader = None
                raise requests.ReadTimeout("no response in time")
            assert self._scheduler.current is not None
            self._scheduler.resume(self._scheduler.current, deadline - self._scheduler.now)
            self._scheduler.wait()
        return mailbox.response

    def _deliver(self, request: HttpRequest, reader: Actor | None, delay: float) -> _Mailbox:
        mailbox = _Mailbox(reader)
        self._scheduler.start(f"{request.method} {request.path}", lambda: self._serve(request, mailbox), delay)
        return mailbox

    def _serve(self, request: HttpRequest, mailbox: _Mailbox) -> None:
        """Serve a request in a thread of a server process."""
        alive, thread = self._servers(), self._scheduler.current
        assert thread is not None
        response = RESET
        if alive:
            process = alive[int(self._plan.uniform(0, len(alive)))]
            thread.owner = process
            process.threads[thread] = None
            with suppress(KilledError, InterruptedThreadError):
                response = process.gateway.respond(request)
            del process.threads[thread]
        mailbox.response = response
        if mailbox.reader is not None:
            self._scheduler.resume(mailbox.reader)


class SimulatedAdapter:
    """The adapter of the SDK's connection: sends its requests over the simulated network."""

    def __init__(self, network: Network, participant: str, before: Callable[[], None]) -> None:
        self._network, self._participant, self._before = network, participant, before

    def send(self, request: requests.PreparedRequest, timeout: Any, **_: Any) -> requests.Response:
        self._before()
        path, key, body = request.path_url, request.headers.get("x-api-key"), request.body or b""
        assert isinstance(body, bytes)
        received = self._network.call(
            self._participant, key, request.method or "", path, body, timeout=timeout[1], may_die=True
        )
        self._before()
        response = requests.Response()
        response.status_code = received.response.status
        response.headers = CaseInsensitiveDict(received.response.headers)
        response.raw = _Body(received)
        return response

    def close(self) -> None:
        """Do nothing: there is no socket."""


class _Body:
    """The body of a response, which may end too early."""

    length_remaining = 0

    def __init__(self, received: NetworkResponse) -> None:
        self._body, self._is_whole = received.response.body, received.is_whole

    def read(self, _size: int, *, decode_content: bool) -> bytes:
        assert not decode_content
        if not self._is_whole:
            raise urllib3.exceptions.ProtocolError("the response ended early")
        return self._body

    def close(self) -> None:
        """Do nothing: there is no socket."""


def _request(key: str | None, method: str, path: str, body: bytes) -> HttpRequest:
    headers = [("Host", "simulated"), ("Content-Type", "application/json")]
    if key is not None:
        headers.append(("x-api-key", key))
    return HttpRequest(method, path, "", headers, body, "10.0.0.1")


def _parse(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body) if body else {}
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) else {}

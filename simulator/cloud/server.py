"""An HTTP/1.1 server for one application: keep-alive, strict about what it reads, and gentle when it stops.

Built on the standard library's threading server, one thread per connection. What that lacks is added here: no Nagle
delay, a limit on bodies that is enforced before they are read, a limit on connections, deadlines for reading a request
and for answering it that a trickle of bytes cannot extend, and a stop that lets requests under way finish.
"""

import contextlib
import logging
import re
import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from io import BufferedReader
from typing import Any
from urllib.parse import quote

from simulator.cloud.head import Head, read_head
from simulator.cloud.messages import Application, Refusal, RefusedError, Request, Response

access_log = logging.getLogger(f"{__name__}.access")
log = logging.getLogger(__name__)

UNASKED = 4_096  # bytes of a body that are read before anybody asks who sends them: all that a round takes


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may ask of the server; the defaults are API Gateway's."""

    body: int = 10 * 1024 * 1024
    head: int = 10_240  # all header names and values together
    connections: int = 256
    reading: float = 30.0  # seconds from the first byte of a request to its last
    answering: float = 29.0
    idle: float = 65.0  # seconds a kept-alive connection may be silent


class Deadlines:
    """Calls back when something takes too long. Whoever takes an entry out, worker or watch, owns the answer."""

    def __init__(self, interval: float = 0.1) -> None:
        self._entries: dict[object, tuple[float, Callable[[], None]]] = {}
        self._interval = interval
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)
        self._thread.start()

    def begin(self, seconds: float, late: Callable[[], None]) -> object:
        """Start a clock; ``late`` is called from another thread if ``end`` is not called in time."""
        ticket = object()
        self._entries[ticket] = (time.monotonic() + seconds, late)
        return ticket

    def end(self, ticket: object) -> bool:
        """Stop the clock; False if it had run out."""
        return self._entries.pop(ticket, None) is not None

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval):
            now = time.monotonic()
            overdue = [ticket for ticket, (due, _) in list(self._entries.items()) if due <= now]
            for ticket in overdue:
                entry = self._entries.pop(ticket, None)
                if entry:
                    entry[1]()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


class Server(socketserver.ThreadingTCPServer):
    """Serves ``application`` until it is stopped; ``server_port`` tells the port when 0 was asked for."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], application: Application, *, limits: Limits | None = None, drain: float = 10.0
    ) -> None:
        self.application = application
        self.limits = limits or Limits()
        self.drain = drain  # seconds that requests under way get when the server stops
        self.stopping = False
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Connection)
        self.deadlines = Deadlines()
        self._open: dict[socket.socket, threading.Thread] = {}

    @property
    def server_port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        host = str(self.server_address[0])
        return f"http://[{host}]:{self.server_port}" if ":" in host else f"http://{host}:{self.server_port}"

    def process_request(self, request: Any, client_address: Any) -> None:
        if len(self._open) >= self.limits.connections:
            with contextlib.suppress(OSError):
                request.settimeout(1)
                request.sendall(_encode(self.application.refuse(Refusal.BUSY), close=True, send_body=True))
            self.shutdown_request(request)
            return
        thread = threading.Thread(target=self.process_request_thread, args=(request, client_address), daemon=True)
        self._open[request] = thread
        thread.start()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._open.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        log.exception("a connection died of an unexpected error")

    def stop(self) -> None:
        """Accept nothing new, let requests under way finish, close the rest. Call it from outside ``serve_forever``."""
        self.stopping = True
        self.shutdown()
        until = time.monotonic() + self.drain
        open_connections = list(self._open.items())
        for connection, _ in open_connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RD)  # an idle reader sees the end; an answer can still be written
        for _, thread in open_connections:
            thread.join(max(0.0, until - time.monotonic()))
        self.deadlines.stop()
        self.server_close()


class Connection(socketserver.StreamRequestHandler):
    """One connection: a loop of request, answer."""

    server: Server
    rfile: BufferedReader
    disable_nagle_algorithm = True
    rbufsize = 64 * 1024

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.limits.idle)
        self.close_connection = False

    def handle(self) -> None:
        while not self.close_connection:
            self._handle_one_request()

    def _handle_one_request(self) -> None:
        """Read one request, answer it, and leave the connection open if both sides want that."""
        try:
            request = self._read()
        except RefusedError as refused:
            self._refuse(refused.refusal)
            return
        except OSError:
            request = None  # the client went away, or was silent for too long
        if request is None:
            self.close_connection = True
            return
        self._answer(request)

    # reading

    def _read(self) -> Request | None:
        if not self.rfile.peek(1):  # the first byte may take as long as a connection may be silent; then the clock runs
            return None
        clock = self.server.deadlines.begin(self.server.limits.reading, self._stop_reading)
        try:
            head = read_head(self.rfile, self.server.limits.head)
            if head is None or self.server.stopping:
                return None
            body = self._read_body(head)
        finally:
            if not self.server.deadlines.end(clock):
                raise RefusedError(Refusal.REQUEST_TIMEOUT)
        self.close_connection = head.closes
        return self._request(head, body)

    def _request(self, head: Head, body: bytes) -> Request:
        path, _, query = head.target.partition("?")
        return Request(head.method, path, query, head.headers, body, str(self.client_address[0]), head.protocol)

    def _stop_reading(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def _read_body(self, head: Head) -> bytes:
        lengths = head.all("content-length")
        if head.all("transfer-encoding"):
            # a message with both is how requests are smuggled past a proxy; chunks alone are merely not supported
            raise RefusedError(Refusal.MALFORMED if lengths else Refusal.LENGTH_REQUIRED)
        if not lengths:
            return b""
        if len(lengths) > 1 or not re.fullmatch(r"[0-9]{1,18}", lengths[0], re.ASCII):
            raise RefusedError(Refusal.MALFORMED)
        length = int(lengths[0])
        if length > self.server.limits.body:
            raise RefusedError(Refusal.TOO_LARGE)
        asks_first = "100-continue" in map(str.lower, head.all("expect"))
        if asks_first or length > UNASKED:
            refused = self.server.application.admit(self._request(head, b""))
            if refused is not None:
                raise RefusedError(refused)
        if asks_first:
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the client went away in the middle of its request")
        return body

    # answering

    def _answer(self, request: Request) -> None:
        began = time.monotonic()
        clock = self.server.deadlines.begin(self.server.limits.answering, lambda: self._give_up(request, began))
        try:
            response = self.server.application.answer(request)
        except Exception:
            log.exception("the application crashed")
            response = self.server.application.refuse(Refusal.CRASHED)
            self.close_connection = True
        if not self.server.deadlines.end(clock):
            self.close_connection = True  # too late: the watch has answered for us
            return
        self._write(response, request, began)

    def _give_up(self, request: Request, began: float) -> None:
        self._write(self.server.application.refuse(Refusal.APPLICATION_TIMEOUT), request, began)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _refuse(self, refusal: Refusal | Response) -> None:
        self.close_connection = True
        response = self.server.application.refuse(refusal) if isinstance(refusal, Refusal) else refusal
        self._write(response, None, time.monotonic())
        self._linger()

    def _linger(self) -> None:
        """Take in a little of what still comes: closing at once would reset the client before it reads the answer."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(0.5)
            until = time.monotonic() + 1.0
            while time.monotonic() < until and self.connection.recv(65_536):
                pass

    def _write(self, response: Response, request: Request | None, began: float) -> None:
        if self.server.stopping:
            self.close_connection = True
        head_only = request is not None and request.method == "HEAD"
        data = _encode(response, close=self.close_connection, send_body=not head_only)
        try:
            self.connection.sendall(data)
        except OSError:
            self.close_connection = True
        if access_log.isEnabledFor(logging.INFO):
            access_log.info("%s", self._line(response, request, began))

    def _line(self, response: Response, request: Request | None, began: float) -> str:
        """Who, what, outcome, size, time; never a key, a query or anything of a body."""
        what = f"{request.method} {quote(request.path, safe='/%:@!$&()*+,;=~')}" if request else "-"
        milliseconds = (time.monotonic() - began) * 1_000
        return f'{self.client_address[0]} "{what}" {response.status} {len(response.body)} {milliseconds:.1f}ms'


def _encode(response: Response, *, close: bool, send_body: bool) -> bytes:
    status = response.status
    phrase = HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", f"Date: {_now()}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    if status not in (204, 304):
        lines.append(f"Content-Length: {len(response.body)}")
    if close:
        lines.append("Connection: close")
    head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
    return head + response.body if send_body and status not in (204, 304) else head


_clock: tuple[int, str] = (0, "")


def _now() -> str:
    """The date as HTTP writes it, made once per second."""
    global _clock
    second = int(time.time())
    if _clock[0] != second:
        _clock = (second, formatdate(second, usegmt=True))
    return _clock[1]


@contextlib.contextmanager
def running(server: Server) -> Iterator[Server]:
    """Serve in the background for as long as the block lasts."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="server")
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()

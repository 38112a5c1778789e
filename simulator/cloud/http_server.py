"""An HTTP/1.1 server for one application, with keep-alive, strict parsing and graceful shutdown.

It is built on the standard library's threading server, with one thread per connection. It adds what that lacks: no
Nagle delay, a limit on bodies that is enforced before they are read, limits on connections, deadlines for reading a
request and for responding that a client cannot extend by sending single bytes, and a shutdown that lets requests end.
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

from simulator.cloud.connections import ConnectionCounts, ConnectionTable, OpenConnection, network_of
from simulator.cloud.http_messages import (
    Application,
    FilePart,
    HttpRequest,
    HttpResponse,
    RejectionReason,
    RequestRejectedError,
)
from simulator.cloud.rate_limiter import BucketTable, ThrottleSettings
from simulator.cloud.request_head import RequestHead, read_request_head

access_log = logging.getLogger(f"{__name__}.access")
log = logging.getLogger(__name__)

HEAD_START_SECONDS = 0.002  # of a process with fewer connections: more than it needs to wake up and accept one
MAX_UNCHECKED_BODY_BYTES = 4_096  # read before the application sees the head: enough for a round

_PHRASES = {int(status): status.phrase for status in HTTPStatus}
_LENGTH = re.compile(r"[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of the server. The defaults are those of API Gateway."""

    body_bytes: int = 10 * 1024 * 1024
    header_bytes: int = 10_240  # of all header names and values together
    connections: int = 256  # beyond which a new one replaces the one that has been idle longest
    connections_per_address: int = 128  # not less, because all clients of a proxy have its address
    unsuccessful_connections_per_second: float = 100.0  # of each address: new ones without a successful request
    read_seconds: float = 30.0  # from the first byte of a request to its last
    response_seconds: float = 29.0  # for the application to respond
    idle_seconds: float = 65.0  # between two requests of a kept-alive connection
    throttled_seconds: float = 1.0  # after a 429 until the next request of its connection is read, as Retry-After says


class Deadlines:
    """Calls a function when a deadline passes.

    A worker and the watching thread may race for an entry. The one that removes it responds to the request.
    """

    def __init__(self, interval: float = 0.1) -> None:
        self._entries: dict[object, tuple[float, Callable[[], None]]] = {}
        self._interval = interval
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)

    def begin(self) -> None:
        """Start the watching thread."""
        self._thread.start()

    def start(self, seconds: float, on_timeout: Callable[[], None]) -> object:
        """Start a timer and return it; ``on_timeout`` is called in another thread unless ``cancel`` is called first."""
        timer = object()
        self._entries[timer] = (time.monotonic() + seconds, on_timeout)
        return timer

    def cancel(self, timer: object) -> bool:
        """Cancel a timer; return False if it had expired."""
        return self._entries.pop(timer, None) is not None

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval):
            now = time.monotonic()
            overdue = [timer for timer, (due, _) in list(self._entries.items()) if due <= now]
            for timer in overdue:
                entry = self._entries.pop(timer, None)
                if entry:
                    entry[1]()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()


class HttpServer(socketserver.ThreadingTCPServer):
    """Serves ``application`` until it is stopped. ``server_port`` is the actual port if port 0 was requested.

    It has no threads before ``serve_forever``, so a process can fork before, and its children serve the same port.
    """

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 1_024  # so that clients can connect while somebody opens connections as fast as possible

    def __init__(
        self,
        address: tuple[str, int],
        application: Application,
        *,
        limits: ServerLimits | None = None,
        drain_seconds: float = 10.0,
    ) -> None:
        self.application = application
        self.limits = limits or ServerLimits()
        self.drain_seconds = drain_seconds  # that requests in progress get to finish when the server stops
        self.stopping = False
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, ConnectionHandler)  # which ``_handle`` calls
        self.socket.setblocking(False)  # another process may be faster to accept the connection that this one has seen
        self.peers: ConnectionCounts | None = None  # if other processes serve the same port
        self.deadlines = Deadlines()
        self.unsuccessful_connections = BucketTable(
            ThrottleSettings(self.limits.unsuccessful_connections_per_second, burst=self.limits.connections_per_address)
        )
        self.connections = ConnectionTable(self.limits.connections, self.limits.connections_per_address)

    @property
    def server_port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        host = str(self.server_address[0])
        return f"http://[{host}]:{self.server_port}" if ":" in host else f"http://{host}:{self.server_port}"

    def get_request(self) -> Any:
        """Accept a connection, but let another process be faster that has fewer of them."""
        if self.peers is not None and self.peers.has_more_than_another():
            time.sleep(HEAD_START_SECONDS)
        return super().get_request()

    def service_actions(self) -> None:  # called after every connection, and several times a second
        if self.peers is not None:
            self.peers.publish(len(self.connections))

    def serve_forever(self, poll_interval: float = 0.5) -> None:
        self.deadlines.begin()
        super().serve_forever(poll_interval)

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Return whether the address may open another connection now. If not, it is closed without a response.

        Opening a connection costs the server as much as several requests.
        """
        return self.unsuccessful_connections.take(network_of(str(client_address[0])))

    def process_request(self, request: Any, client_address: Any) -> None:
        connection = self.connections.add(request, str(client_address[0]))
        if connection is None:
            self._refuse(request)
            return
        thread = threading.Thread(target=self._handle, args=(connection, client_address), daemon=True)
        connection.thread = thread
        try:
            thread.start()
        except RuntimeError:  # the system allows no more threads
            self.connections.remove(connection)
            self._refuse(request)

    def _refuse(self, request: Any) -> None:
        with contextlib.suppress(OSError):
            request.settimeout(1)
            request.sendall(_encode(self.application.reject(RejectionReason.BUSY), close=True, send_body=True))
        self.shutdown_request(request)

    def _handle(self, connection: OpenConnection, client_address: Any) -> None:
        try:
            ConnectionHandler(connection, client_address, self)
        except Exception:
            self.handle_error(connection.socket, client_address)
        finally:
            self.shutdown_request(connection.socket)
            self.connections.remove(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        log.exception("a connection ended with an unexpected error")

    def stop(self) -> None:
        """Stop accepting connections, let requests in progress finish, and close all connections.

        Call it from another thread than ``serve_forever``.
        """
        self.stopping = True
        self.shutdown()
        until = time.monotonic() + self.drain_seconds
        open_connections = self.connections.all()
        for connection in open_connections:
            connection.stop_reading()
        for connection in open_connections:
            if connection.thread is not None:
                connection.thread.join(max(0.0, until - time.monotonic()))
        self.deadlines.stop()
        self.server_close()


class ConnectionHandler(socketserver.StreamRequestHandler):
    """Handles the requests of one connection, one after the other."""

    server: HttpServer
    rfile: BufferedReader
    disable_nagle_algorithm = True
    rbufsize = 64 * 1024

    def __init__(self, open_connection: OpenConnection, client_address: Any, server: HttpServer) -> None:
        self.open_connection = open_connection
        super().__init__(open_connection.socket, client_address, server)  # handles the whole connection

    def setup(self) -> None:
        super().setup()
        self.connection.settimeout(self.server.limits.idle_seconds)
        self.close_connection = False
        self.is_unsuccessful = True  # until a request succeeds

    def handle(self) -> None:
        while not self.close_connection:
            self._handle_one_request()

    def _handle_one_request(self) -> None:
        """Read one request and respond to it. The connection stays open unless either side wants to close it."""
        try:
            request = self._read()
        except RequestRejectedError as rejected:
            self._reject(rejected.rejection)
            return
        except OSError:
            request = None  # the client closed the connection, or was idle for too long
        if request is None:
            self.close_connection = True
            return
        self._respond(request)

    # reading

    def _read(self) -> HttpRequest | None:
        if not self.rfile.peek(1):  # waits for the first byte under the idle limit, before the read deadline starts
            return None
        timer = self.server.deadlines.start(self.server.limits.read_seconds, self._stop_reading)
        try:
            head = read_request_head(self.rfile, self.server.limits.header_bytes)
            if head is None or self.server.stopping:
                return None
            body = self._read_body(head)
        finally:
            if not self.server.deadlines.cancel(timer):
                raise RequestRejectedError(RejectionReason.REQUEST_TIMEOUT)
        self.close_connection = head.closes_connection
        return self._request(head, body)

    def _request(self, head: RequestHead, body: bytes) -> HttpRequest:
        path, _, query = head.target.partition("?")
        return HttpRequest(head.method, path, query, head.headers, body, str(self.client_address[0]), head.protocol)

    def _stop_reading(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RD)

    def _read_body(self, head: RequestHead) -> bytes:
        lengths = head.values("content-length")
        if head.values("transfer-encoding"):
            # A message with both headers can smuggle a request past a proxy; chunks alone are merely not supported.
            raise RequestRejectedError(RejectionReason.MALFORMED if lengths else RejectionReason.LENGTH_REQUIRED)
        if not lengths:
            return b""
        if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
            raise RequestRejectedError(RejectionReason.MALFORMED)
        length = int(lengths[0])
        if length > self.server.limits.body_bytes:
            raise RequestRejectedError(RejectionReason.TOO_LARGE)
        expects_continue = "100-continue" in map(str.lower, head.values("expect"))
        if expects_continue or length > MAX_UNCHECKED_BODY_BYTES:
            rejection = self.server.application.reject_early(self._request(head, b""))
            if rejection is not None:
                raise RequestRejectedError(rejection)
        if expects_continue:
            self.connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionError("the client closed the connection in the middle of a request")
        return body

    # responding

    def _respond(self, request: HttpRequest) -> None:
        if not self.server.connections.start_work(self.open_connection):
            self.close_connection = True  # evicted while the request arrived: the client sends it again
            return
        started = time.monotonic()
        seconds = self.server.limits.response_seconds
        timer = self.server.deadlines.start(seconds, lambda: self._time_out(request, started))
        try:
            response = self.server.application.respond(request)
        except Exception:
            log.exception("the application crashed")
            response = self.server.application.reject(RejectionReason.CRASHED)
            self.close_connection = True
        self.server.connections.finish_work(self.open_connection)
        if not self.server.deadlines.cancel(timer):
            self.close_connection = True  # too late: the watching thread has responded
            return
        self._write(response, request, started)
        if self.is_unsuccessful and response.status < HTTPStatus.BAD_REQUEST:
            self.is_unsuccessful = False
            self.server.unsuccessful_connections.give_back(self.open_connection.network)
        if response.status == HTTPStatus.TOO_MANY_REQUESTS:
            self.open_connection.closing.wait(self.server.limits.throttled_seconds)

    def _time_out(self, request: HttpRequest, started: float) -> None:
        self._write(self.server.application.reject(RejectionReason.APPLICATION_TIMEOUT), request, started)
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _reject(self, rejection: RejectionReason | HttpResponse) -> None:
        self.close_connection = True
        response = rejection if isinstance(rejection, HttpResponse) else self.server.application.reject(rejection)
        self._write(response, None, time.monotonic())
        self._linger()

    def _linger(self) -> None:
        """Read a little more: closing at once would reset the connection before the client reads the response."""
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(0.5)
            until = time.monotonic() + 1.0
            while time.monotonic() < until and self.connection.recv(65_536):
                pass

    def _write(self, response: HttpResponse, request: HttpRequest | None, started: float) -> None:
        if self.server.stopping:
            self.close_connection = True
        head_only = request is not None and request.method == "HEAD"
        data = _encode(response, close=self.close_connection, send_body=not head_only)
        try:
            if response.file is None or head_only:
                self.connection.sendall(data)
            else:
                self._send_with_file(data, response.file)
        except OSError:
            self.close_connection = True
        if access_log.isEnabledFor(logging.INFO):
            access_log.info("%s", self._access_line(response, request, started))

    def _send_with_file(self, head: bytes, part: FilePart) -> None:
        """Send the head of a response, then a part of a file from the disk.

        A client that does not read it can be evicted, as any other.
        """
        with part.path.open("rb") as file:
            self.connection.sendall(head)
            sent = self.connection.sendfile(file, part.start, part.length) if part.length else 0
        if sent < part.length:
            self.close_connection = True  # the file has become shorter: the client must not wait for the rest

    def _access_line(self, response: HttpResponse, request: HttpRequest | None, started: float) -> str:
        """Return client, request, status, size and duration: never a key, a query string or a part of a body."""
        what = f"{request.method} {quote(request.path, safe='/%:@!$&()*+,;=~')}" if request else "-"
        milliseconds = (time.monotonic() - started) * 1_000
        return f'{self.client_address[0]} "{what}" {response.status} {response.content_length} {milliseconds:.1f}ms'


def _encode(response: HttpResponse, *, close: bool, send_body: bool) -> bytes:
    status = response.status
    lines = [f"HTTP/1.1 {status} {_PHRASES.get(status, 'Unknown')}", f"Date: {_http_date()}"]
    lines += [f"{name}: {value}" for name, value in response.headers]
    if status not in (204, 304):
        lines.append(f"Content-Length: {response.content_length}")
    if close:
        lines.append("Connection: close")
    head = "\r\n".join(lines).encode("latin-1", "replace") + b"\r\n\r\n"
    return head + response.body if send_body and status not in (204, 304) else head


_date: tuple[int, str] = (0, "")


def _http_date() -> str:
    """Return the current date in the format of HTTP, formatted once per second."""
    global _date
    second = int(time.time())
    if _date[0] != second:
        _date = (second, formatdate(second, usegmt=True))
    return _date[1]


@contextlib.contextmanager
def running(server: HttpServer) -> Iterator[HttpServer]:
    """Run a server in a background thread, and stop it at the end of the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="server")
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()

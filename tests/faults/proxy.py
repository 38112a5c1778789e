"""An HTTP proxy that injects the faults of networks and clouds, in an order that a seed determines.

It stands in front of the service, or in front of a DynamoDB server. Which fault it injects into the n-th request
depends only on the seed and n, so that a trial can be repeated.
"""

import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

CLIENT_TIMEOUT_SECONDS = 1.0  # how long a client of the proxy waits for a response
NETWORK_FAULTS = (
    "drop request",
    "drop response",
    "delay",
    "truncate request",
    "truncate response",
    "duplicate",
    "reorder",
)
DELAY_BEYOND_TIMEOUT = "delay beyond timeout"  # injected once, because it takes longer than all others together
DYNAMODB_ERRORS = {  # status and type of DynamoDB errors
    "throttle": (400, "ProvisionedThroughputExceededException"),
    "error 500": (500, "InternalServerError"),
    "error 503": (503, "ServiceUnavailable"),
}
DYNAMODB_FAULTS = (*DYNAMODB_ERRORS, "drop request", "drop response", "truncate response", "delay", "duplicate")
HOP_BY_HOP_HEADERS = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Message(NamedTuple):
    """A complete request or response."""

    start: tuple[Any, ...]  # method and path, or the status
    headers: list[tuple[str, str]]
    body: bytes


class Proxy(ThreadingHTTPServer):
    """Forwards requests to one address, and injects one of ``faults`` into a share of them."""

    daemon_threads = True

    def __init__(self, upstream: str, seed: str, *, faults: Sequence[str], share: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream).netloc
        self.events: Counter[str] = Counter()
        self._rng, self._faults, self._share = random.Random(seed), faults, share
        # every fault is injected once before any is injected again
        self._deck = self._rng.sample([*faults, DELAY_BEYOND_TIMEOUT], len(faults) + 1)
        self._lock = threading.Lock()
        self._held: list[tuple[int, Message]] = []  # delayed requests, and how many others go first

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def next_fault(self, request: Message) -> tuple[str | None, float]:
        """Return the fault to inject into this request, if any, and a number in [0, 1) for its details."""
        with self._lock:
            fault = self._draw_fault() if self._rng.random() < self._share else None
            detail = self._rng.random()
            self._held = [(left - 1, held) for left, held in self._held]
            due = [held for left, held in self._held if left <= 0]
            self._held = [(left, held) for left, held in self._held if left > 0]
            if fault == "reorder":
                self._held.append((1 + int(4 * detail), request))
            if fault:
                self.events[fault] += 1
        for late in due:
            self.deliver_late(late)
        return fault, detail

    def _draw_fault(self) -> str:
        if not self._deck:
            self._deck = self._rng.sample(self._faults, len(self._faults))
        return self._deck.pop()

    def deliver_late(self, request: Message) -> None:
        """Deliver a request whose client no longer waits for the response."""
        with suppress(OSError, HTTPException):
            forward(self.upstream, request)

    def deliver_held(self) -> None:
        for _, late in self._held:
            self.deliver_late(late)
        self._held = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that gave up waiting: that is part of the trial."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP_HEADERS]
        request = Message((self.command, self.path), headers, self.rfile.read(length))
        fault, detail = self.server.next_fault(request)
        try:
            self._inject(fault, detail, request)
        except (OSError, HTTPException):  # the server behind the proxy is gone
            self._hang_up()

    do_POST = do_GET  # noqa: N815 (the library's names)

    def _inject(self, fault: str | None, detail: float, request: Message) -> None:
        upstream = self.server.upstream
        if fault in DYNAMODB_ERRORS:
            return self._respond(_dynamodb_error(fault))
        if fault in ("drop request", "reorder"):
            return self._hang_up()
        if fault == "truncate request":
            send_beginning(upstream, request, detail)
            return self._hang_up()
        if fault == "duplicate":
            copy = threading.Thread(target=self.server.deliver_late, args=(request,))
            copy.start()
            response = forward(upstream, request)
            copy.join()
            return self._respond(response)
        response = forward(upstream, request)
        if fault == "drop response":
            return self._hang_up()
        if fault in ("delay", DELAY_BEYOND_TIMEOUT):
            time.sleep(0.02 * detail if fault == "delay" else 1.2 * CLIENT_TIMEOUT_SECONDS)
        return self._respond(response, whole=fault != "truncate response")

    def _respond(self, response: Message, *, whole: bool = True) -> None:
        self.send_response(*response.start)
        for name, value in response.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        self.wfile.write(response.body if whole else response.body[: len(response.body) // 2])
        if not whole:
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_arguments: object) -> None:
        """Log nothing, so that the output of a test shows only failures."""


def forward(upstream: str, request: Message) -> Message:
    """Send a request and return the complete response."""
    connection = HTTPConnection(upstream, timeout=20)
    try:
        method, path = request.start
        connection.request(method, path, request.body or None, dict(request.headers))
        response = connection.getresponse()
        headers = [(name, value) for name, value in response.getheaders() if name.lower() not in HOP_BY_HOP_HEADERS]
        return Message((response.status,), headers, response.read())
    finally:
        connection.close()


def send_beginning(upstream: str, request: Message, share: float) -> None:
    """Send only the beginning of a request."""
    method, path = request.start
    lines = [f"{method} {path} HTTP/1.1", f"Host: {upstream}", f"Content-Length: {len(request.body)}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    whole = "\r\n".join(lines).encode() + b"\r\n\r\n" + request.body
    host, port = upstream.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(whole[: int(share * len(whole))])


def _dynamodb_error(fault: str) -> Message:
    status, kind = DYNAMODB_ERRORS[fault]
    body = f'{{"__type":"com.amazonaws.dynamodb.v20120810#{kind}","message":"not now"}}'
    return Message((status,), [("Content-Type", "application/x-amz-json-1.0")], body.encode())


@contextmanager
def proxy_running(proxy: Proxy) -> Iterator[Mapping[str, int]]:
    """Run the proxy, and yield the counts of its faults. Delayed requests are delivered at the end."""
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy.events
    finally:
        proxy.shutdown()
        thread.join()
        proxy.deliver_held()
        proxy.server_close()

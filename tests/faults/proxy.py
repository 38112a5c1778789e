"""A proxy that does to HTTP what networks and clouds do, in an order that one seed decides.

It stands before the service, or before a DynamoDB that speaks HTTP. What it does to the n-th request follows from the
seed and n alone, so that a run through it can be repeated.
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

PATIENCE = 1.0  # seconds that a client before the proxy waits for an answer
NETWORK = ("drop request", "drop answer", "delay", "truncate request", "truncate answer", "duplicate", "reorder")
TOO_LATE = "delay beyond patience"  # comes once: it takes longer than all others together
SAID = {  # what DynamoDB says when it does not want to: status and type
    "throttle": (400, "ProvisionedThroughputExceededException"),
    "error 500": (500, "InternalServerError"),
    "error 503": (503, "ServiceUnavailable"),
}
DYNAMODB = (*SAID, "drop request", "drop answer", "truncate answer", "delay", "duplicate")
HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "host"}


class Message(NamedTuple):
    """A request or an answer, whole."""

    start: tuple[Any, ...]  # method and path, or the status
    headers: list[tuple[str, str]]
    body: bytes


class Proxy(ThreadingHTTPServer):
    """Passes requests on to one address; now and then, one of ``fates`` befalls one of them."""

    daemon_threads = True

    def __init__(self, upstream: str, seed: str, *, fates: Sequence[str], share: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream).netloc
        self.done: Counter[str] = Counter()
        self._rng, self._fates, self._share = random.Random(seed), fates, share
        # fates are dealt like cards: all of them come before one comes again
        self._deck = self._rng.sample([*fates, TOO_LATE], len(fates) + 1)
        self._lock = threading.Lock()
        self._held: list[tuple[int, Message]] = []  # requests that arrive late, and how many they let go first

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def draw(self, request: Message) -> tuple[str | None, float]:
        """What befalls this request, and a number in [0, 1) for its details."""
        with self._lock:
            fate = self._deal() if self._rng.random() < self._share else None
            detail = self._rng.random()
            self._held = [(left - 1, held) for left, held in self._held]
            due = [held for left, held in self._held if left <= 0]
            self._held = [(left, held) for left, held in self._held if left > 0]
            if fate == "reorder":
                self._held.append((1 + int(4 * detail), request))
            if fate:
                self.done[fate] += 1
        for late in due:
            self.forget(late)
        return fate, detail

    def _deal(self) -> str:
        if not self._deck:
            self._deck = self._rng.sample(self._fates, len(self._fates))
        return self._deck.pop()

    def forget(self, request: Message) -> None:
        """Deliver a request whose answer nobody waits for."""
        with suppress(OSError, HTTPException):
            forward(self.upstream, request)

    def deliver_held(self) -> None:
        for _, late in self._held:
            self.forget(late)
        self._held = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that gave up waiting is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in HOP]
        request = Message((self.command, self.path), headers, self.rfile.read(length))
        fate, detail = self.server.draw(request)
        try:
            self._befall(fate, detail, request)
        except (OSError, HTTPException):  # whoever is behind us is gone: so are we
            self._hang_up()

    do_POST = do_GET  # noqa: N815 (the library's names)

    def _befall(self, fate: str | None, detail: float, request: Message) -> None:
        upstream = self.server.upstream
        if fate in SAID:
            return self._answer(_refusal(fate))
        if fate in ("drop request", "reorder"):
            return self._hang_up()
        if fate == "truncate request":
            cut_off(upstream, request, detail)
            return self._hang_up()
        if fate == "duplicate":
            copy = threading.Thread(target=self.server.forget, args=(request,))
            copy.start()
            answer = forward(upstream, request)
            copy.join()
            return self._answer(answer)
        answer = forward(upstream, request)
        if fate == "drop answer":
            return self._hang_up()
        if fate in ("delay", TOO_LATE):
            time.sleep(0.02 * detail if fate == "delay" else 1.2 * PATIENCE)
        return self._answer(answer, whole=fate != "truncate answer")

    def _answer(self, answer: Message, *, whole: bool = True) -> None:
        self.send_response(*answer.start)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body if whole else answer.body[: len(answer.body) // 2])
        if not whole:
            self._hang_up()

    def _hang_up(self) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_arguments: object) -> None:
        """Quiet: a test's output is its failures."""


def forward(upstream: str, request: Message) -> Message:
    """Make the request and read the answer to its end."""
    connection = HTTPConnection(upstream, timeout=20)
    try:
        method, path = request.start
        connection.request(method, path, request.body or None, dict(request.headers))
        answer = connection.getresponse()
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in HOP]
        return Message((answer.status,), headers, answer.read())
    finally:
        connection.close()


def cut_off(upstream: str, request: Message, share: float) -> None:
    """Send the beginning of a request, and no more."""
    method, path = request.start
    lines = [f"{method} {path} HTTP/1.1", f"Host: {upstream}", f"Content-Length: {len(request.body)}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    whole = "\r\n".join(lines).encode() + b"\r\n\r\n" + request.body
    host, port = upstream.split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(whole[: int(share * len(whole))])


def _refusal(fate: str) -> Message:
    status, kind = SAID[fate]
    body = f'{{"__type":"com.amazonaws.dynamodb.v20120810#{kind}","message":"not now"}}'
    return Message((status,), [("Content-Type", "application/x-amz-json-1.0")], body.encode())


@contextmanager
def standing(proxy: Proxy) -> Iterator[Mapping[str, int]]:
    """The proxy at work; what it did is counted. Whatever it still holds arrives at the end."""
    thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield proxy.done
    finally:
        proxy.shutdown()
        thread.join()
        proxy.deliver_held()
        proxy.server_close()

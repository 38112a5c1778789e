"""The HTTP server: what it accepts and rejects, its deadlines, and how it stops."""

import http.client
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

import pytest

from simulator.cloud.http_messages import HttpRequest, HttpResponse, RejectionReason
from simulator.cloud.http_server import HttpServer, ServerLimits, running

TIMEOUT_SECONDS = 60  # for what happens at once unless the machine is busy


class Echo:
    """An application that responds with the body or the path of the request."""

    def __init__(self, before: Callable[[HttpRequest], None] = lambda _: None) -> None:
        self.before = before
        self.requests: list[HttpRequest] = []

    def reject_early(self, request: HttpRequest) -> HttpResponse | None:
        return HttpResponse(403, [], b"who are you?") if request.path == "/members" else None

    def respond(self, request: HttpRequest) -> HttpResponse:
        self.requests.append(request)
        self.before(request)
        return HttpResponse(200, [("Content-Type", "text/plain")], request.body or request.path.encode())

    def reject(self, reason: RejectionReason) -> HttpResponse:
        return HttpResponse(reason.value, [("Content-Type", "text/plain")], reason.name.encode())


@contextmanager
def serving(
    application: Echo | None = None, limits: ServerLimits | None = None, drain_seconds: float = 5.0
) -> Iterator[HttpServer]:
    with running(
        HttpServer(("127.0.0.1", 0), application or Echo(), limits=limits, drain_seconds=drain_seconds)
    ) as server:
        yield server


@pytest.fixture(scope="module")
def shared() -> Iterator[HttpServer]:
    with serving() as server:
        yield server


@contextmanager
def connected(server: HttpServer) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=TIMEOUT_SECONDS) as client:
        yield client


def read_all(client: socket.socket) -> bytes:
    received = b""
    while chunk := client.recv(65_536):
        received += chunk
    return received


def exchange(server: HttpServer, data: bytes) -> tuple[int, bytes]:
    """Send raw bytes and read until the server closes the connection; return status and body."""
    with connected(server) as client:
        client.sendall(data)
        received = read_all(client)
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def test_a_connection_is_kept_alive_over_many_requests(shared: HttpServer) -> None:
    client = http.client.HTTPConnection("127.0.0.1", shared.server_port, timeout=TIMEOUT_SECONDS)
    client.connect()
    first_socket = client.sock
    for number in range(20):
        client.request("POST", "/", body=f"request {number}".encode())
        assert client.getresponse().read() == f"request {number}".encode()
    assert client.sock is first_socket
    client.close()


def test_pipelined_requests_get_responses_in_order(shared: HttpServer) -> None:
    request = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with connected(shared) as client:
        client.sendall(request % 0 + request % 1 + last)
        bodies = re.findall(rb"\r\n\r\n(/\d)", read_all(client))
    assert bodies == [b"/0", b"/1", b"/2"]


def test_a_response_has_the_headers_of_http(shared: HttpServer) -> None:
    client = http.client.HTTPConnection("127.0.0.1", shared.server_port, timeout=TIMEOUT_SECONDS)
    client.request("GET", "/hello")
    response = client.getresponse()
    assert response.getheader("Content-Length") == "6"
    assert response.getheader("Date", "").endswith("GMT")
    assert response.getheader("Server") is None  # do not reveal the software
    client.close()


def test_a_response_to_head_has_no_body(shared: HttpServer) -> None:
    status, body = exchange(shared, b"HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (status, body) == (200, b"")


def test_path_and_query_are_separated() -> None:
    echo = Echo()
    with serving(echo) as server:
        exchange(server, b"GET /a%20b?c=d&c=e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (echo.requests[0].path, echo.requests[0].query) == ("/a%20b", "c=d&c=e")


@pytest.mark.parametrize(
    ("request_bytes", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /\r\n\r\n", 400),  # HTTP/0.9
        (b"GET / HTTP/x\r\n\r\n", 400),
        (b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505),
        (b"GET / more HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET http://elsewhere/ HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GE(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),  # no host
        (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400),  # a space before the colon can smuggle a request
        (b"GET / HTTP/1.1\r\n A: b\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400),  # folded header
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n", 400),
        (
            b"GET / HTTP/1.1\r\nHost: x\r\nA: b\rx-api-key: c\r\n\r\n",
            400,
        ),  # two headers to a parser that ends lines at CR
        # two headers to a parser that ends lines at LF, and one to a parser that does not
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\nx-api-key: c\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\n\n", 400),
        (b"\nGET / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\n: no name\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA:" + b" " * 10_000 + b"\x00\r\n\r\n", 400),
        (b"GET\x0b/a\x0cHTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b" GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1_0\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\na", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + b"9" * 5_000 + b"\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400),
        (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 10_300 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
    ],
)
def test_malformed_http_is_rejected_and_the_connection_closed(
    shared: HttpServer, request_bytes: bytes, status: int
) -> None:
    assert exchange(shared, request_bytes)[0] == status


def test_http_1_0_is_supported_and_the_connection_closed(shared: HttpServer) -> None:
    assert exchange(shared, b"GET /old HTTP/1.0\r\n\r\n") == (200, b"/old")


def test_a_multipart_body_is_passed_on_unchanged(shared: HttpServer) -> None:
    request = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    assert exchange(shared, request + b"Content-Length: 4\r\n\r\nbody") == (200, b"body")


def test_a_body_that_is_too_large_is_rejected_before_it_is_sent() -> None:
    with serving(limits=ServerLimits(body_bytes=1_000)) as server:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n"
        assert exchange(server, head) == (413, b"TOO_LARGE")


def test_a_client_that_sends_too_large_a_body_can_read_the_response() -> None:
    with serving(limits=ServerLimits(body_bytes=1_000)) as server:
        status, _ = exchange(server, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000)
    assert status == 413


@pytest.mark.parametrize("expect", [b"", b"Expect: 100-continue\r\n"], ids=["sent at once", "expects continue"])
def test_a_large_body_is_not_read_if_the_application_rejects_the_head(expect: bytes) -> None:
    echo = Echo()
    with serving(echo) as server:
        head = b"POST /members HTTP/1.1\r\nHost: h\r\n" + expect + b"Content-Length: 60000\r\n\r\n"
        assert exchange(server, head) == (403, b"who are you?")  # before a byte of the body was sent
    assert echo.requests == []


def test_a_small_body_is_read_before_the_application_sees_the_head(shared: HttpServer) -> None:
    """The application rejects the request when it responds: asking twice would slow down every round."""
    head = b"POST /members HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
    assert exchange(shared, head + b"hi") == (200, b"hi")


def test_an_acceptable_body_is_requested_with_100_continue() -> None:
    with serving() as server, connected(server) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"abc")
        assert client.recv(1_000).endswith(b"\r\n\r\nabc")


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (b"", b"G"),  # a request line without end
        (b"\r\n", b"G"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"a"),  # a header without end
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"x"),
    ],
)
def test_single_bytes_do_not_extend_the_deadline_of_a_request(start: bytes, more: bytes) -> None:
    with serving(limits=ServerLimits(read_seconds=0.3)) as server, connected(server) as client:
        client.sendall(start)
        response = b""
        client.settimeout(0.1)
        for _ in range(10 * TIMEOUT_SECONDS):
            try:
                client.sendall(more)
                response = client.recv(1_000)
                break
            except TimeoutError:
                continue
    assert response.startswith(b"HTTP/1.1 408 ")


def test_an_idle_connection_is_closed() -> None:
    with serving(limits=ServerLimits(idle_seconds=0.2)) as server, connected(server) as client:
        assert client.recv(100) == b""


def test_a_client_that_closes_in_the_middle_of_a_request_is_ignored() -> None:
    echo = Echo()
    with serving(echo) as server:
        with connected(server) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
        assert exchange(server, b"GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == (200, b"/next")
    assert [request.path for request in echo.requests] == ["/next"]  # not the incomplete one


def test_an_application_that_takes_too_long_causes_a_504() -> None:
    release = threading.Event()

    def hang(_: HttpRequest) -> None:
        release.wait(TIMEOUT_SECONDS)

    with serving(Echo(before=hang), ServerLimits(response_seconds=0.3)) as server:
        response = exchange(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        release.set()
    assert response == (504, b"APPLICATION_TIMEOUT")


def test_an_application_that_crashes_does_not_stop_the_server(caplog: pytest.LogCaptureFixture) -> None:
    def crash(request: HttpRequest) -> None:
        if request.path == "/crash":
            raise RuntimeError("a bug")

    with serving(Echo(before=crash)) as server:
        assert exchange(server, b"GET /crash HTTP/1.1\r\nHost: x\r\n\r\n") == (500, b"CRASHED")
        assert exchange(server, b"GET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == (200, b"/fine")
    assert "the application crashed" in caplog.text


REQUEST = b"GET /%b HTTP/1.1\r\nHost: x\r\n\r\n"


def ask(client: socket.socket, path: bytes = b"") -> bytes:
    """Send a request and return what comes back first: the response, or nothing if the connection was closed."""
    client.sendall(REQUEST % path)
    return client.recv(1_000)


@contextmanager
def connected_from(address: str, server: HttpServer) -> Iterator[socket.socket]:
    """Connect from an address of the loopback network, all of which are this machine's."""
    target = ("127.0.0.1", server.server_port)
    with socket.create_connection(target, timeout=TIMEOUT_SECONDS, source_address=(address, 0)) as client:
        yield client


def is_closed(client: socket.socket) -> bool:
    """Return whether the server closes the connection."""
    try:
        return client.recv(1) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


def test_idle_connections_lock_no_client_out() -> None:
    with serving(limits=ServerLimits(connections=8)) as server, ExitStack() as clients:
        for _ in range(20):
            clients.enter_context(connected(server))
        assert ask(clients.enter_context(connected(server))).startswith(b"HTTP/1.1 200")


def test_the_longest_idle_connection_makes_room_for_a_new_one() -> None:
    with serving(limits=ServerLimits(connections=3)) as server, ExitStack() as clients:
        first, second, third = (clients.enter_context(connected(server)) for _ in range(3))
        for client in (second, third, first):
            assert ask(client).startswith(b"HTTP/1.1 200")
        assert ask(clients.enter_context(connected(server))).startswith(b"HTTP/1.1 200")
        assert is_closed(second)
        assert ask(first).startswith(b"HTTP/1.1 200")
        assert ask(third).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "unfinished", [b"", b"G", b"GET / HTTP/1.1\r\nA: ", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"]
)
def test_a_request_that_does_not_end_keeps_no_place(unfinished: bytes) -> None:
    with serving(limits=ServerLimits(connections=4)) as server, ExitStack() as clients:
        for _ in range(4):
            clients.enter_context(connected(server)).sendall(unfinished)
        assert ask(clients.enter_context(connected(server))).startswith(b"HTTP/1.1 200")


def test_a_client_that_does_not_read_its_response_keeps_no_place() -> None:
    class Large(Echo):
        def respond(self, request: HttpRequest) -> HttpResponse:
            return HttpResponse(200, [], b"x" * (20_000_000 if request.path == "/large" else 1))

    with serving(Large(), ServerLimits(connections=4)) as server, ExitStack() as clients:
        for _ in range(4):
            clients.enter_context(connected(server)).sendall(REQUEST % b"large")
        deadline = time.monotonic() + TIMEOUT_SECONDS
        response = b""
        while not response.startswith(b"HTTP/1.1 200") and time.monotonic() < deadline:  # until all responses are sent
            with suppress(ConnectionError), connected(server) as client:
                response = ask(client)
        assert response.startswith(b"HTTP/1.1 200")


def test_an_address_takes_no_places_from_others() -> None:
    limits = ServerLimits(connections=10, connections_per_address=4, unsuccessful_connections_per_second=1e6)
    with serving(limits=limits) as server, ExitStack() as clients:
        honest = [clients.enter_context(connected_from("127.0.0.2", server)) for _ in range(3)]
        assert all(ask(client).startswith(b"HTTP/1.1 200") for client in honest)
        flood = [clients.enter_context(connected_from("127.0.0.3", server)) for _ in range(30)]
        assert all(is_closed(client) for client in flood[:26])
        assert ask(flood[-1]).startswith(b"HTTP/1.1 200")
        assert all(ask(client).startswith(b"HTTP/1.1 200") for client in honest)


def test_the_address_with_most_connections_makes_room() -> None:
    with serving(limits=ServerLimits(connections=6)) as server, ExitStack() as clients:
        oldest = clients.enter_context(connected_from("127.0.0.2", server))
        assert ask(oldest).startswith(b"HTTP/1.1 200")
        for address in ("127.0.0.3", "127.0.0.4", "127.0.0.5"):
            for _ in range(10):
                clients.enter_context(connected_from(address, server))
        assert ask(clients.enter_context(connected_from("127.0.0.6", server))).startswith(b"HTTP/1.1 200")
        assert ask(oldest).startswith(b"HTTP/1.1 200")


class Member(Echo):
    """An application that knows one path."""

    def respond(self, request: HttpRequest) -> HttpResponse:
        return HttpResponse(200 if request.path == "/known" else 404, [], b"")


def answers_to_new_connections(server: HttpServer, address: str, path: bytes, count: int) -> int:
    """Open connections one after the other, send a request over each, and return how many were answered."""
    answered = 0
    for _ in range(count):
        with connected_from(address, server) as client, suppress(ConnectionError):
            answered += ask(client, path).startswith(b"HTTP/1.1")
    return answered


LIMITS = ServerLimits(unsuccessful_connections_per_second=5, connections_per_address=5)


def test_an_address_opens_only_so_many_connections_without_success() -> None:
    with serving(Member(), LIMITS) as server, connected_from("127.0.0.3", server) as kept:
        assert 4 <= answers_to_new_connections(server, "127.0.0.3", b"unknown", 50) < 50
        assert ask(kept, b"known").startswith(b"HTTP/1.1 200")
        assert answers_to_new_connections(server, "127.0.0.4", b"unknown", 1) == 1


def test_connections_with_a_successful_request_are_not_limited() -> None:
    """Some proxies and clients open a connection for every request."""
    with serving(Member(), LIMITS) as server:
        assert answers_to_new_connections(server, "127.0.0.3", b"known", 50) == 50


def test_beyond_the_limit_a_connection_gets_a_503_if_all_others_wait_for_their_response() -> None:
    arrived, release = threading.Barrier(3), threading.Event()

    def hang(_: HttpRequest) -> None:
        arrived.wait(TIMEOUT_SECONDS)
        release.wait(TIMEOUT_SECONDS)

    with serving(Echo(before=hang), ServerLimits(connections=2)) as server, ExitStack() as clients:
        waiting = [clients.enter_context(connected(server)) for _ in range(2)]
        for client in waiting:
            client.sendall(REQUEST % b"")
        arrived.wait(TIMEOUT_SECONDS)
        assert exchange(server, b"") == (503, b"BUSY")
        release.set()
        assert all(client.recv(1_000).startswith(b"HTTP/1.1 200") for client in waiting)


def test_a_thread_that_cannot_start_leaves_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with serving(limits=ServerLimits(connections=2)) as server:
        with monkeypatch.context() as no_threads:
            no_threads.setattr(threading.Thread, "start", fail)
            assert [exchange(server, b"") for _ in range(5)] == [(503, b"BUSY")] * 5
        with connected(server) as client:
            assert ask(client).startswith(b"HTTP/1.1 200")


def test_a_throttled_client_is_not_heard_again_at_once() -> None:
    class Throttled(Echo):
        def respond(self, request: HttpRequest) -> HttpResponse:
            return HttpResponse(429 if request.path == "/throttled" else 200, [], b"")

    with serving(Throttled(), ServerLimits(throttled_seconds=0.3)) as server, connected(server) as client:
        began = time.monotonic()
        client.sendall(REQUEST % b"throttled" * 3 + b"GET / HTTP/1.0\r\n\r\n")
        assert re.findall(rb"HTTP/1.1 (\d+)", read_all(client)) == [b"429", b"429", b"429", b"200"]
        assert time.monotonic() - began >= 0.9


def test_stopping_does_not_wait_for_throttled_clients() -> None:
    class Throttled(Echo):
        def respond(self, request: HttpRequest) -> HttpResponse:
            return super().respond(request)._replace(status=429)

    began = time.monotonic()
    limits = ServerLimits(throttled_seconds=10 * TIMEOUT_SECONDS)
    with serving(Throttled(), limits, drain_seconds=5 * TIMEOUT_SECONDS) as server, connected(server) as client:
        assert ask(client).startswith(b"HTTP/1.1 429")
    assert time.monotonic() - began < 5 * TIMEOUT_SECONDS


def test_concurrent_clients_get_their_own_responses(shared: HttpServer) -> None:
    def converse(client_number: int) -> list[bytes]:
        client = http.client.HTTPConnection("127.0.0.1", shared.server_port, timeout=TIMEOUT_SECONDS)
        bodies = []
        for number in range(25):
            client.request("POST", "/", body=f"{client_number}/{number}".encode())
            bodies.append(client.getresponse().read())
        client.close()
        return bodies

    with ThreadPoolExecutor(16) as pool:
        for client_number, bodies in enumerate(pool.map(converse, range(16))):
            assert bodies == [f"{client_number}/{number}".encode() for number in range(25)]


def test_stopping_lets_requests_finish_and_closes_idle_connections() -> None:
    arrived, release = threading.Event(), threading.Event()

    def wait(request: HttpRequest) -> None:
        if request.path == "/slow":
            arrived.set()
            release.wait(TIMEOUT_SECONDS)

    server = HttpServer(("127.0.0.1", 0), Echo(before=wait), drain_seconds=TIMEOUT_SECONDS)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with connected(server) as idle, connected(server) as slow:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(1_000).startswith(b"HTTP/1.1 200")
        slow.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        assert arrived.wait(TIMEOUT_SECONDS)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert idle.recv(1_000) == b""
        release.set()
        response = read_all(slow)
        stopping.join(TIMEOUT_SECONDS)
    thread.join(TIMEOUT_SECONDS)
    assert response.startswith(b"HTTP/1.1 200")
    assert b"Connection: close" in response
    assert not stopping.is_alive()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", server.server_port), timeout=2):  # noqa: PT011
        pass


def test_stopping_does_not_wait_longer_than_the_limit() -> None:
    arrived, release, responded = threading.Event(), threading.Event(), threading.Event()

    def hang(_: HttpRequest) -> None:
        arrived.set()
        release.wait(TIMEOUT_SECONDS)
        responded.set()

    with serving(Echo(before=hang), drain_seconds=0.2) as server, connected(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert arrived.wait(TIMEOUT_SECONDS)
        server.stop()
        assert not responded.is_set()  # stopped while the application still hangs
        release.set()


def test_the_access_log_has_client_request_and_status_but_no_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="simulator.cloud.http_server.access"), serving() as server:
        request = b"POST /path\x1b[31m?secret=query HTTP/1.1\r\nHost: x\r\n"
        exchange(server, request + b"\r\n")
        request = b"POST /path'[31m?secret=query HTTP/1.1\r\nHost: x\r\nx-api-key: sesame\r\nContent-Length: 4\r\n"
        exchange(server, request + b"Connection: close\r\n\r\nbody")
    rejected, served = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r'127\.0\.0\.1 "-" 400 9 \d+\.\dms', rejected)
    assert re.fullmatch(r'127\.0\.0\.1 "POST /path%27%5B31m" 200 4 \d+\.\dms', served)

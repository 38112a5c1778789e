"""The HTTP server: what it reads, what it refuses, and how it stops."""

import http.client
import logging
import re
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest

from simulator.cloud.messages import Refusal, Request, Response
from simulator.cloud.server import Limits, Server, running

PATIENCE = 60  # seconds for what comes at once unless the machine is busy


class Echo:
    """Answers with what it was sent."""

    def __init__(self, before: Callable[[Request], None] = lambda _: None) -> None:
        self.before = before
        self.seen: list[Request] = []

    def admit(self, request: Request) -> Response | None:
        return Response(403, [], b"who are you?") if request.path == "/members" else None

    def answer(self, request: Request) -> Response:
        self.seen.append(request)
        self.before(request)
        return Response(200, [("Content-Type", "text/plain")], request.body or request.path.encode())

    def refuse(self, refusal: Refusal) -> Response:
        return Response(refusal.value, [("Content-Type", "text/plain")], refusal.name.encode())


@contextmanager
def serving(application: Echo | None = None, limits: Limits | None = None, drain: float = 5.0) -> Iterator[Server]:
    with running(Server(("127.0.0.1", 0), application or Echo(), limits=limits, drain=drain)) as server:
        yield server


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    with serving() as server:
        yield server


@contextmanager
def connected(server: Server) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=PATIENCE) as client:
        yield client


def read_all(client: socket.socket) -> bytes:
    received = b""
    while chunk := client.recv(65_536):
        received += chunk
    return received


def exchange(server: Server, data: bytes) -> tuple[int, bytes]:
    """Send raw bytes, and read the answer until the server closes."""
    with connected(server) as client:
        client.sendall(data)
        received = read_all(client)
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split(b" ", 2)[1]), body


def test_a_connection_is_kept_alive_over_many_requests(shared: Server) -> None:
    client = http.client.HTTPConnection("127.0.0.1", shared.server_port, timeout=PATIENCE)
    client.connect()
    first_socket = client.sock
    for number in range(20):
        client.request("POST", "/", body=f"request {number}".encode())
        assert client.getresponse().read() == f"request {number}".encode()
    assert client.sock is first_socket
    client.close()


def test_requests_sent_ahead_are_answered_in_order(shared: Server) -> None:
    request = b"GET /%d HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /2 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with connected(shared) as client:
        client.sendall(request % 0 + request % 1 + last)
        bodies = re.findall(rb"\r\n\r\n(/\d)", read_all(client))
    assert bodies == [b"/0", b"/1", b"/2"]


def test_an_answer_carries_what_http_needs(shared: Server) -> None:
    client = http.client.HTTPConnection("127.0.0.1", shared.server_port, timeout=PATIENCE)
    client.request("GET", "/hello")
    answer = client.getresponse()
    assert answer.getheader("Content-Length") == "6"
    assert answer.getheader("Date", "").endswith("GMT")
    assert answer.getheader("Server") is None  # nobody needs to know what runs here
    client.close()


def test_a_head_request_gets_a_length_and_no_body(shared: Server) -> None:
    status, body = exchange(shared, b"HEAD /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (status, body) == (200, b"")


def test_the_query_is_apart_from_the_path() -> None:
    echo = Echo()
    with serving(echo) as server:
        exchange(server, b"GET /a%20b?c=d&c=e HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (echo.seen[0].path, echo.seen[0].query) == ("/a%20b", "c=d&c=e")


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
        (b"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", 400),  # space before the colon: a smuggler's trick
        (b"GET / HTTP/1.1\r\n A: b\r\nHost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400),  # folded over two lines
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\x00c\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: x\r\nA: b\rx-api-key: c\r\n\r\n", 400),  # two headers to whom a CR ends a line
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
def test_what_is_not_sound_http_is_refused_and_the_connection_closed(
    shared: Server, request_bytes: bytes, status: int
) -> None:
    assert exchange(shared, request_bytes)[0] == status


def test_an_older_client_is_answered_and_the_connection_closed(shared: Server) -> None:
    assert exchange(shared, b"GET /old HTTP/1.0\r\n\r\n") == (200, b"/old")


def test_a_multipart_body_is_passed_on_like_any_other(shared: Server) -> None:
    request = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    assert exchange(shared, request + b"Content-Length: 4\r\n\r\nbody") == (200, b"body")


def test_a_body_that_is_too_large_is_refused_before_it_is_sent() -> None:
    with serving(limits=Limits(body=1_000)) as server:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1001\r\n\r\n"
        assert exchange(server, head) == (413, b"TOO_LARGE")


def test_a_client_that_sends_too_large_a_body_all_the_same_can_read_the_answer() -> None:
    with serving(limits=Limits(body=1_000)) as server:
        status, _ = exchange(server, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n" + b"x" * 200_000)
    assert status == 413


@pytest.mark.parametrize("asks", [b"", b"Expect: 100-continue\r\n"], ids=["sent at once", "asked first"])
def test_a_stranger_is_turned_away_before_a_large_body_is_read(asks: bytes) -> None:
    echo = Echo()
    with serving(echo) as server:
        head = b"POST /members HTTP/1.1\r\nHost: h\r\n" + asks + b"Content-Length: 60000\r\n\r\n"
        assert exchange(server, head) == (403, b"who are you?")  # and not a byte of the body was sent
    assert echo.seen == []


def test_a_small_body_is_read_unasked(shared: Server) -> None:
    """The application refuses it when it answers: asking twice would cost every round."""
    head = b"POST /members HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
    assert exchange(shared, head + b"hi") == (200, b"hi")


def test_a_body_that_is_welcome_is_asked_for() -> None:
    with serving() as server, connected(server) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"abc")
        assert client.recv(1_000).endswith(b"\r\n\r\nabc")


@pytest.mark.parametrize(
    ("beginning", "trickle"),
    [
        (b"", b"G"),  # a request line that never ends
        (b"\r\n", b"G"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"a"),  # a header that never ends
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"x"),
    ],
)
def test_a_trickle_of_bytes_does_not_extend_the_time_for_a_request(beginning: bytes, trickle: bytes) -> None:
    with serving(limits=Limits(reading=0.3)) as server, connected(server) as client:
        client.sendall(beginning)
        answer = b""
        client.settimeout(0.1)
        for _ in range(10 * PATIENCE):
            try:
                client.sendall(trickle)
                answer = client.recv(1_000)
                break
            except TimeoutError:
                continue
    assert answer.startswith(b"HTTP/1.1 408 ")


def test_a_silent_connection_is_closed() -> None:
    with serving(limits=Limits(idle=0.2)) as server, connected(server) as client:
        assert client.recv(100) == b""


def test_a_client_that_goes_away_in_the_middle_harms_nobody() -> None:
    echo = Echo()
    with serving(echo) as server:
        with connected(server) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc")
        assert exchange(server, b"GET /next HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == (200, b"/next")
    assert [request.path for request in echo.seen] == ["/next"]  # half a request is none


def test_an_application_that_takes_too_long_is_answered_for() -> None:
    release = threading.Event()

    def hang(_: Request) -> None:
        release.wait(PATIENCE)

    with serving(Echo(before=hang), Limits(answering=0.3)) as server:
        answer = exchange(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        release.set()
    assert answer == (504, b"APPLICATION_TIMEOUT")


def test_an_application_that_crashes_does_not_take_the_server_along(caplog: pytest.LogCaptureFixture) -> None:
    def crash(request: Request) -> None:
        if request.path == "/crash":
            raise RuntimeError("a bug")

    with serving(Echo(before=crash)) as server:
        assert exchange(server, b"GET /crash HTTP/1.1\r\nHost: x\r\n\r\n") == (500, b"CRASHED")
        assert exchange(server, b"GET /fine HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") == (200, b"/fine")
    assert "the application crashed" in caplog.text


def test_a_connection_too_many_is_told_to_come_back() -> None:
    with serving(limits=Limits(connections=2)) as server, ExitStack() as clients:
        for _ in range(2):
            client = clients.enter_context(connected(server))
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(1_000).startswith(b"HTTP/1.1 200")
        assert exchange(server, b"") == (503, b"BUSY")


def test_many_clients_at_once_get_their_own_answers(shared: Server) -> None:
    def converse(client_number: int) -> list[bytes]:
        client = http.client.HTTPConnection("127.0.0.1", shared.server_port, timeout=PATIENCE)
        answers = []
        for number in range(25):
            client.request("POST", "/", body=f"{client_number}/{number}".encode())
            answers.append(client.getresponse().read())
        client.close()
        return answers

    with ThreadPoolExecutor(16) as pool:
        for client_number, answers in enumerate(pool.map(converse, range(16))):
            assert answers == [f"{client_number}/{number}".encode() for number in range(25)]


def test_stopping_lets_a_request_under_way_finish_and_closes_idle_connections() -> None:
    arrived, release = threading.Event(), threading.Event()

    def wait(request: Request) -> None:
        if request.path == "/slow":
            arrived.set()
            release.wait(PATIENCE)

    server = Server(("127.0.0.1", 0), Echo(before=wait), drain=PATIENCE)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with connected(server) as idle, connected(server) as slow:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(1_000).startswith(b"HTTP/1.1 200")
        slow.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        assert arrived.wait(PATIENCE)
        stopping = threading.Thread(target=server.stop)
        stopping.start()
        assert idle.recv(1_000) == b""
        release.set()
        answer = read_all(slow)
        stopping.join(PATIENCE)
    thread.join(PATIENCE)
    assert answer.startswith(b"HTTP/1.1 200")
    assert b"Connection: close" in answer
    assert not stopping.is_alive()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", server.server_port), timeout=2):  # noqa: PT011
        pass


def test_stopping_does_not_wait_for_ever() -> None:
    arrived, release, answered = threading.Event(), threading.Event(), threading.Event()

    def hang(_: Request) -> None:
        arrived.set()
        release.wait(PATIENCE)
        answered.set()

    with serving(Echo(before=hang), drain=0.2) as server, connected(server) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert arrived.wait(PATIENCE)
        server.stop()
        assert not answered.is_set()  # it has stopped, and the application still hangs
        release.set()


def test_the_access_log_tells_who_what_and_how_it_went_but_no_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="simulator.cloud.server.access"), serving() as server:
        request = b"POST /path\x1b[31m?secret=query HTTP/1.1\r\nHost: x\r\n"
        exchange(server, request + b"\r\n")
        request = b"POST /path'[31m?secret=query HTTP/1.1\r\nHost: x\r\nx-api-key: sesame\r\nContent-Length: 4\r\n"
        exchange(server, request + b"Connection: close\r\n\r\nbody")
    refused, served = [record.getMessage() for record in caplog.records]
    assert re.fullmatch(r'127\.0\.0\.1 "-" 400 9 \d+\.\dms', refused)
    assert re.fullmatch(r'127\.0\.0\.1 "POST /path%27%5B31m" 200 4 \d+\.\dms', served)

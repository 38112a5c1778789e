"""A server that breaks HTTP and the protocol in any way that a test asks for: bytes on a plain socket.

An attack is a function that writes to the socket of a client whose request has arrived. After its attacks, the server
responds as it should, so that a test can see whether the client has recovered.
"""

import gzip
import json
import re
import socket
import struct
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
BOMB_BYTES = 256 * 1024 * 1024  # decoded
FLOOD_SECONDS = 60  # of an attack without an end, if the client does not hang up
PHASES = {"phases": [{"phase": "dev", "state": "open", "total": 2, "repeatable": True}]}

Attack = Callable[[socket.socket], None]


class HostileServer:
    """A server on loopback that attacks the first clients, and serves the later ones as a service would."""

    def __init__(self, *attacks: Attack) -> None:
        self._attacks = iter(attacks)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.requests: list[bytes] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.settimeout(FLOOD_SECONDS)
            self.requests.append(_read_request(connection))
            next(self._attacks, respond_with(json.dumps(PHASES).encode(), "Connection: close"))(connection)


def _read_request(connection: socket.socket) -> bytes:
    """Return a request with its body. What does not look like one, such as the begin of TLS, is returned as it is."""
    request = connection.recv(65_536)
    head, _, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: *([0-9]+)", head)
    while length and len(body) < int(length[1]):
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


@contextmanager
def attacking(*attacks: Attack) -> Iterator[HostileServer]:
    """Run a server that makes one attack per connection."""
    server = HostileServer(*attacks)
    try:
        yield server
    finally:
        server.close()


def send(*parts: bytes) -> Attack:
    """Return the attack that sends these bytes and hangs up."""
    return lambda connection: connection.sendall(b"".join(parts))


def respond_with(body: bytes, *headers: str, status: str = "200 OK") -> Attack:
    """Return the response with this body, its length, and these further headers."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", f"Content-Length: {len(body)}", *headers, "", ""]
    return send("\r\n".join(lines).encode("latin-1"), body)


def flood(start: bytes, repeated: bytes, *, pause: float = 0) -> Attack:
    """Return the attack that repeats some bytes until the client hangs up."""

    def attack(connection: socket.socket) -> None:
        connection.sendall(start)
        block = repeated if pause else repeated * max(1, 65_536 // len(repeated))
        end = time.monotonic() + FLOOD_SECONDS
        while time.monotonic() < end:
            connection.sendall(block)
            if pause:
                time.sleep(pause)

    return attack


def say_nothing(connection: socket.socket) -> None:
    """Wait until the client hangs up."""
    while connection.recv(65_536):
        pass


def reset_in_the_middle(connection: socket.socket) -> None:
    connection.sendall(HEAD + b'Content-Length: 500\r\n\r\n{"phases": [')
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # RST instead of FIN


def chunked(body: bytes, *headers: bytes) -> Attack:
    start = HEAD + b"".join(header + b"\r\n" for header in headers) + b"Transfer-Encoding: chunked\r\n\r\n"
    return send(start, b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body))


def compressed_zeros(wbits: int) -> bytes:
    """Return a quarter of a megabyte that decodes to a JSON string of 256 MB."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    parts = [packer.compress(b'{"phases": "')]
    parts += [packer.compress(bytes(b"0" * 1024 * 1024)) for _ in range(BOMB_BYTES // 1024 // 1024)]
    return b"".join([*parts, packer.compress(b'"}'), packer.flush()])


GZIP_BOMB, DEFLATE_BOMB, RAW_DEFLATE_BOMB = (compressed_zeros(wbits) for wbits in (31, 15, -15))

SLOW: dict[str, Attack] = {
    "says nothing": say_nothing,
    "drips the status line": flood(b"HTTP/1.1 200 ", b"O", pause=0.1),
    "drips a header": flood(HEAD + b"X: ", b"x", pause=0.1),
    "drips headers": flood(HEAD, b"X: x\r\n", pause=0.1),
    "drips a body of known length": flood(HEAD + b"Content-Length: 1000\r\n\r\n{", b" ", pause=0.1),
    "drips a body of unknown length": flood(HEAD + b"Connection: close\r\n\r\n{", b" ", pause=0.1),
    "drips chunks": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", pause=0.1),
    "drips a chunk size": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0", pause=0.1),
    "drips a refusal": flood(b"HTTP/1.1 404 No\r\nContent-Length: 1000\r\n\r\n{", b" ", pause=0.1),
}

LARGE: dict[str, Attack] = {
    "a body of known length": flood(HEAD + b"Content-Length: 100000000000\r\n\r\n{", b" "),
    "a body of unknown length": flood(HEAD + b"Connection: close\r\n\r\n{", b" "),
    "chunks": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"400\r\n" + b" " * 1024 + b"\r\n"),
    "one chunk": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n7fffffff\r\n", b" "),
    "a gzip bomb": respond_with(GZIP_BOMB, "Content-Encoding: gzip"),
    "a gzip bomb in chunks": chunked(GZIP_BOMB, b"Content-Encoding: gzip"),
    "a gzip bomb with a refusal": respond_with(GZIP_BOMB, "Content-Encoding: gzip", status="404 Not Found"),
}

# Neither too large nor too late, or only for some HTTP libraries: any error of the SDK will do.
BROKEN: dict[str, Attack] = {
    "trailers that drip": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: x\r\n", pause=0.1),
    "interim responses that drip": flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n", pause=0.1),
    "chunks of one byte": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n"),
    "interim responses": flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "early hints": flood(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"),
    "headers": flood(HEAD, b"X: x\r\n"),
    "one header": flood(HEAD + b"X: ", b"x"),
    "a folded header": flood(HEAD + b"X: x\r\n", b" x\r\n"),
    "a status line": flood(b"HTTP/1.1 200 ", b"x"),
    "a chunk size": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "a chunk extension": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x"),
    "trailers": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: x\r\n"),
    "a negative chunk": flood(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n", b" "),
    "a deflate bomb": respond_with(DEFLATE_BOMB, "Content-Encoding: deflate"),
    "a raw deflate bomb": respond_with(RAW_DEFLATE_BOMB, "Content-Encoding: deflate"),
    "a gzip bomb in gzip": respond_with(gzip.compress(GZIP_BOMB), "Content-Encoding: gzip, gzip"),
    "a gzip bomb with a redirect": respond_with(GZIP_BOMB, "Content-Encoding: gzip", "Location: /", status="302 Found"),
    "a redirect with an invalid address": respond_with(b"", "Location: http://[::1", status="302 Found"),
    "a redirect with an invalid port": respond_with(b"", "Location: http://h:99999999/", status="307 Found"),
    "gzip that is none": respond_with(b"{}", "Content-Encoding: gzip"),
    "half of gzip": respond_with(gzip.compress(json.dumps(PHASES).encode())[:-9], "Content-Encoding: gzip"),
    "an unknown encoding": respond_with(b"{}", "Content-Encoding: \x1b[31m"),
    "a longer length": send(HEAD, b"Content-Length: 500\r\n\r\n{}"),
    "a negative length": send(HEAD, b"Content-Length: -5\r\n\r\n{}"),
    "two lengths": send(HEAD, b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
    "a length in words": send(HEAD, b"Content-Length: two\r\n\r\n{}"),
    "a length of many digits": send(HEAD, b"Content-Length: " + b"9" * 5_000 + b"\r\n\r\n{}"),
    "an unknown transfer encoding": send(HEAD, b"Transfer-Encoding: gzip\r\n\r\n", gzip.compress(b"{}")),
    "no status": send(b"\x1b]0;owned\x07\r\n\r\n"),
    "status 0": send(b"HTTP/1.1 000 \r\n\r\n"),
    "status 999": send(b"HTTP/1.1 999 x\r\nContent-Length: 0\r\n\r\n"),
    "a status of many digits": send(b"HTTP/1.1 " + b"9" * 5_000 + b" x\r\n\r\n"),
    "another protocol": send(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"),
    "no content": send(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "a login": respond_with(b"", 'WWW-Authenticate: Basic realm="\x1b[31m"', status="401 x"),
    "a login of a proxy": respond_with(b"", "Proxy-Authenticate: Basic", status="407 x"),
    "a wrong cookie": respond_with(b"", "Set-Cookie: \xff=;;;expires=never;max-age=x", status="404 x"),
    "a record of TLS": send(b"\x15\x03\x03\x00\x02\x02\x28"),
    "a reset": reset_in_the_middle,
}

_PHASE = '{"phase": "dev", "state": "open", "total": %s, "repeatable": true}'
MALFORMED: dict[str, bytes] = {
    "nothing": b"",
    "deep arrays": b'{"phases": [], "x": ' + b"[" * 100 + b"]" * 100 + b"}",
    "deep objects": b'{"phases": [], "x": ' + b'{"x":' * 100 + b"1" + b"}" * 100 + b"}",
    "arrays without an end": b"[" * 1_000_000,
    "very deep arrays": b'{"phases": ' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
    "very deep objects": b'{"x":' * 300_000 + b"1" + b"}" * 300_000,
    "a number of many digits": b'{"phases": [%b]}' % (_PHASE % ("9" * 1_000_000)).encode(),
    "an infinite number": b'{"phases": [], "x": 1e999}',
    "NaN": b'{"phases": [], "x": NaN}',
    "Infinity": b'{"phases": [], "x": -Infinity}',
    "a duplicate name": b'{"phases": 1, "phases": []}',
    "a lone surrogate": b'{"phases": [], "x": "\\ud800"}',
    "a lone surrogate in capitals": b'{"phases": [], "x": "\\uDFFF"}',
    "a lone surrogate as a name": b'{"phases": [], "\\ud800": 1}',
    "a lone surrogate in UTF-8": b'{"phases": [], "x": "\xed\xa0\x80"}',
    "bytes that are not UTF-8": b'{"phases": [], "x": "\xff"}',
    "UTF-16": '{"phases": []}'.encode("utf-16"),
    "UTF-32 without a mark": '{"phases": []}'.encode("utf-32-be"),
    "a byte order mark": b'\xef\xbb\xbf{"phases": []}',
    "a line break in a string": b'{"phases": [], "x": "\n"}',
    "two objects": b'{"phases": []}{}',
    "a string": b'"phases"',
}

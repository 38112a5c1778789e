"""The same echo for other HTTP servers: what is left of a request when nothing but HTTP is done.

It runs in an environment of its own (``make bench-http``), without the packages of this repository.
"""

import asyncio
import socket
import socketserver
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import h11

CONTENT_TYPE = "application/json"
MAX_HEAD_BYTES = 10_240


def echo(body: bytes) -> bytes:
    """Stand for a function, which blocks its thread while it waits for the store."""
    return body


async def asgi(
    _: dict[str, Any],
    receive: Callable[[], Awaitable[dict[str, Any]]],
    send: Callable[[dict[str, Any]], Awaitable[None]],
) -> None:
    """Echo a request with ASGI. A function runs in a thread, because other requests must not wait for it."""
    body, more = b"", True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body, more = body + message["body"], message["more_body"]
    answer = await asyncio.to_thread(echo, body)
    headers = [(b"content-type", CONTENT_TYPE.encode()), (b"content-length", b"%d" % len(answer))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def wsgi(environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]) -> Iterable[bytes]:
    """Echo a request with WSGI, whose functions may block."""
    answer = echo(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
    start_response("200 OK", [("Content-Type", CONTENT_TYPE), ("Content-Length", str(len(answer)))])
    return [answer]


class H11Handler(socketserver.BaseRequestHandler):
    """One thread per connection, as in the server of this repository, with h11 as the parser."""

    request: socket.socket

    def handle(self) -> None:
        self.request.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
        try:
            while self._handle_one_request(connection):
                connection.start_next_cycle()
        except h11.RemoteProtocolError as error:
            self._send(connection, error.error_status_hint, b"", [("Connection", "close")])
        except OSError:
            return

    def _handle_one_request(self, connection: h11.Connection) -> bool:
        body = b""
        while True:
            event = connection.next_event()
            if event is h11.NEED_DATA:
                connection.receive_data(self.request.recv(65_536))
            elif isinstance(event, h11.Data):
                body += event.data
            elif isinstance(event, h11.EndOfMessage):
                self._send(connection, 200, echo(body), [])
                return connection.our_state is h11.DONE
            elif not isinstance(event, h11.Request):
                return False

    def _send(self, connection: h11.Connection, status: int, body: bytes, more: list[tuple[str, str]]) -> None:
        headers = [("Content-Type", CONTENT_TYPE), ("Content-Length", str(len(body))), *more]
        events = (h11.Response(status_code=status, headers=headers), h11.Data(data=body), h11.EndOfMessage())
        self.request.sendall(b"".join(connection.send(event) or b"" for event in events))


class H11Server(socketserver.ThreadingTCPServer):
    """A threading server whose port may be used again at once."""

    daemon_threads = True
    allow_reuse_address = True


if __name__ == "__main__":
    H11Server(("127.0.0.1", int(sys.argv[1])), H11Handler).serve_forever()

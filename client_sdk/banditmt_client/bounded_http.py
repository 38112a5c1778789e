"""HTTP responses of bounded size and duration, whatever the server sends and however it is encoded.

``requests`` limits the time between two packets and nothing else: a server that sends a byte now and then holds a
client for ever, and a small compressed body can fill the memory. Here, all that is read from a socket counts, from the
status line to the last trailer, and the read timeout is that of the whole response.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
import zlib
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import PoolManager

MAX_BODY_BYTES = 6 * 1024 * 1024  # decoded: AWS Lambda, on which the service runs, returns no more
MAX_FRAMING_BYTES = 1024 * 1024  # of status lines, headers, chunk sizes and trailers
ACCEPTED_ENCODING = "gzip"


class OversizedResponseError(http.client.HTTPException):
    """The response is larger than any of a banditmt service."""

    def __init__(self) -> None:
        super().__init__(f"the response is larger than {MAX_BODY_BYTES:,} bytes")


class MalformedResponseError(Exception):
    """The response is complete, but its body is not what the protocol asks for."""


class BoundedAdapter(HTTPAdapter):
    """An adapter of ``requests`` whose connections, also those to proxies, read bounded responses."""

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        _bound_responses(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        is_new = proxy not in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options)
        if is_new:
            _bound_responses(manager)
        return manager


def _bound_responses(manager: PoolManager) -> None:
    """Let the connections of a manager use ``_BoundedResponse``. Their other classes stay: SOCKS has its own."""
    pools: dict[str, Any] = manager.pool_classes_by_scheme
    manager.pool_classes_by_scheme = {
        scheme: _subclass(pool, ConnectionCls=_subclass(pool.ConnectionCls, response_class=_BoundedResponse))
        for scheme, pool in pools.items()
    }


def _subclass(base: type, **attributes: type) -> Any:
    return type(base.__name__, (base,), attributes)


class _BoundedResponse(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(_BoundedSocket(sock), *arguments, **options)  # type: ignore[arg-type]


class _BoundedSocket:
    """The one method of a socket that a response uses."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(_BoundedReader(self._socket))


class _BoundedReader(io.RawIOBase):
    """The bytes of one response. The timeout of the socket, when the response begins, is that of the whole response."""

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._file = sock.makefile("rb", buffering=0)  # keeps the socket open after its connection is closed
        self._timeout = sock.gettimeout()
        self._deadline = None if self._timeout is None else time.monotonic() + self._timeout
        self._bytes_left = MAX_BODY_BYTES + MAX_FRAMING_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._deadline is not None:
            seconds = self._deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError("the response did not end in time")
            self._socket.settimeout(seconds)
        count = self._file.readinto(buffer)
        self._bytes_left -= count or 0
        if self._bytes_left < 0:
            raise OversizedResponseError
        return count

    def close(self) -> None:
        if not self.closed:
            if self._socket.fileno() >= 0:
                self._socket.settimeout(self._timeout)  # for the next request on this connection
            self._file.close()
        super().close()


def read_body(response: requests.Response) -> bytes:
    """Return the body of a streamed response, decoded. The connection can be used again if the body was complete.

    Raises:
        OversizedResponseError: The body is larger than ``MAX_BODY_BYTES``.
        MalformedResponseError: The body is not encoded as it says.
        HTTPError: The body did not end, or not in time; the error is one of urllib3.
    """
    try:
        body = _read_encoded(response.raw)
    except BaseException:
        response.raw.close()
        raise
    return _decode(body, response.headers.get("Content-Encoding", "").strip().lower())


def _read_encoded(raw: Any) -> bytes:
    body = b""
    while part := raw.read(MAX_BODY_BYTES + 1 - len(body), decode_content=False):
        body = body + part if body else part
        if len(body) > MAX_BODY_BYTES:
            raise OversizedResponseError
        if raw.length_remaining == 0:
            break
    return body


def _decode(body: bytes, encoding: str) -> bytes:
    if encoding in ("", "identity"):
        return body
    if encoding != ACCEPTED_ENCODING:
        raise MalformedResponseError(f"encoded as {encoding[:20]!r}, which was not asked for")
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)  # with the header of gzip
    try:
        decoded = decoder.decompress(body, MAX_BODY_BYTES + 1)
    except zlib.error:
        raise MalformedResponseError(f"{len(body):,} bytes that are not gzip") from None
    if len(decoded) > MAX_BODY_BYTES:
        raise OversizedResponseError
    if not decoder.eof or decoder.unused_data:
        raise MalformedResponseError("incomplete gzip")
    return decoded

"""The head of an HTTP/1.1 request: its first line and its headers, read strictly.

The standard library reads headers by the rules of mail, which take a lone carriage return for the end of a line and
forgive much else; two readers that disagree about where a header ends are how requests are smuggled past a proxy.
"""

import re
from io import BufferedReader
from typing import NamedTuple

from simulator.cloud.messages import Refusal, RefusedError

LONGEST_LINE = 8_192
MOST_HEADERS = 100

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # RFC 9110: what a method or the name of a header is made of
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") (/[\x21-\x7e]*) HTTP/([0-9])\.([0-9])\r?\n")
_HEADER = re.compile(rb"(" + _TOKEN + rb"):([^\x00-\x08\x0a-\x1f\x7f]*)\r?\n")
_EMPTY = (b"\r\n", b"\n")


class Head(NamedTuple):
    """What comes before the body."""

    method: str
    target: str
    protocol: str
    headers: list[tuple[str, str]]

    def all(self, name: str) -> list[str]:
        """The values of all headers of a name, given in lower case."""
        return [value for known, value in self.headers if known.lower() == name]

    @property
    def closes(self) -> bool:
        """Is this the last request of its connection?"""
        return self.protocol == "HTTP/1.0" or "close" in re.split(r"[ \t,]+", ",".join(self.all("connection")).lower())


def read_head(stream: BufferedReader, limit: int) -> Head | None:
    """Read a head whose names and values have at most ``limit`` bytes; None if the client has left."""
    line = stream.readline(LONGEST_LINE + 1)
    if line in _EMPTY:  # RFC 9112 2.2: an empty line before a request is forgiven, once
        line = stream.readline(LONGEST_LINE + 1)
    if not line:
        return None
    if len(line) > LONGEST_LINE:
        raise RefusedError(Refusal.HEADERS_TOO_LARGE)
    found = _REQUEST_LINE.fullmatch(line)
    if not found:
        raise RefusedError(Refusal.MALFORMED)
    method, target, major, minor = (part.decode("ascii") for part in found.groups())
    if major != "1":
        raise RefusedError(Refusal.VERSION_UNSUPPORTED)
    head = Head(method, target, f"HTTP/1.{minor}", _read_headers(stream, limit))
    hosts = len(head.all("host"))
    if hosts > 1 or (hosts == 0 and minor != "0"):
        raise RefusedError(Refusal.MALFORMED)
    return head


def _read_headers(stream: BufferedReader, limit: int) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    size = 0
    while (line := stream.readline(limit + 5)) not in _EMPTY:  # a colon, a space and the end of the line do not count
        found = _HEADER.fullmatch(line)
        if not found:
            raise RefusedError(Refusal.HEADERS_TOO_LARGE if len(line) > limit else Refusal.MALFORMED)
        name, value = found[1], found[2].strip(b" \t")
        size += len(name) + len(value)
        headers.append((name.decode("ascii"), value.decode("latin-1")))
        if size > limit or len(headers) > MOST_HEADERS:
            raise RefusedError(Refusal.HEADERS_TOO_LARGE)
    return headers

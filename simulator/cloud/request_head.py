"""The head of an HTTP/1.1 request, parsed strictly: the request line and the headers.

The standard library parses headers by the rules of mail, which accept a lone carriage return as the end of a line and
much else. Two parsers that disagree about where a header ends let an attacker smuggle requests past a proxy. So a line
ends with CRLF here: RFC 9112, section 2.2, lets a server accept a lone line feed, but does not ask it to.
"""

import re
from io import BufferedReader
from typing import NamedTuple

from simulator.cloud.http_messages import RejectionReason, RequestRejectedError

MAX_LINE_BYTES = 8_192
MAX_HEADERS = 100

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # RFC 9110: the syntax of a method or the name of a header
_REQUEST_LINE = re.compile(rb"(" + _TOKEN + rb") (/[\x21-\x7e]*) HTTP/([0-9])\.([0-9])\r\n")
_HEADER = re.compile(rb"(" + _TOKEN + rb"):([^\x00-\x08\x0a-\x1f\x7f]*)\r\n")
_EMPTY_LINE = b"\r\n"
_SEPARATORS = re.compile(r"[ \t,]+")


class RequestHead(NamedTuple):
    """Everything before the body."""

    method: str
    target: str
    protocol: str
    headers: list[tuple[str, str]]

    def values(self, name: str) -> list[str]:
        """Return the values of all headers with a name, which is given in lower case."""
        return [value for header, value in self.headers if header.lower() == name]

    @property
    def closes_connection(self) -> bool:
        """Whether this is the last request of its connection."""
        options = _SEPARATORS.split(",".join(self.values("connection")).lower())
        return self.protocol == "HTTP/1.0" or "close" in options


def read_request_head(stream: BufferedReader, max_header_bytes: int) -> RequestHead | None:
    """Read a head whose header names and values have at most ``max_header_bytes``; None if the client has left.

    Raises:
        RequestRejectedError: The head is malformed or too large.
    """
    line = stream.readline(MAX_LINE_BYTES + 1)
    if line == _EMPTY_LINE:  # RFC 9112, section 2.2: ignore one empty line before a request
        line = stream.readline(MAX_LINE_BYTES + 1)
    if not line:
        return None
    if len(line) > MAX_LINE_BYTES:
        raise RequestRejectedError(RejectionReason.HEADERS_TOO_LARGE)
    found = _REQUEST_LINE.fullmatch(line)
    if not found:
        raise RequestRejectedError(RejectionReason.MALFORMED)
    method, target, major, minor = (part.decode("ascii") for part in found.groups())
    if major != "1":
        raise RequestRejectedError(RejectionReason.VERSION_UNSUPPORTED)
    head = RequestHead(method, target, f"HTTP/1.{minor}", _read_headers(stream, max_header_bytes))
    hosts = len(head.values("host"))
    if hosts > 1 or (hosts == 0 and minor != "0"):
        raise RequestRejectedError(RejectionReason.MALFORMED)
    return head


def _read_headers(stream: BufferedReader, max_bytes: int) -> list[tuple[str, str]]:
    headers: list[tuple[str, str]] = []
    size = 0
    # five more bytes: a colon, a space and the end of the line do not count
    while (line := stream.readline(max_bytes + 5)) != _EMPTY_LINE:
        found = _HEADER.fullmatch(line)
        if not found:
            raise RequestRejectedError(
                RejectionReason.HEADERS_TOO_LARGE if len(line) > max_bytes else RejectionReason.MALFORMED
            )
        name, value = found[1], found[2].strip(b" \t")
        size += len(name) + len(value)
        headers.append((name.decode("ascii"), value.decode("latin-1")))
        if size > max_bytes or len(headers) > MAX_HEADERS:
            raise RequestRejectedError(RejectionReason.HEADERS_TOO_LARGE)
    return headers

"""HTTP requests and responses, and the interface between the server and the application that it serves."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class HttpRequest:
    """One complete request."""

    method: str
    path: str  # as sent, without the query string
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str
    protocol: str = "HTTP/1.1"

    @cached_property
    def headers_by_name(self) -> dict[str, str]:
        """The headers by lower-case name; the last of several with one name, as in API Gateway."""
        return {name.lower(): value for name, value in self.headers}


_WEIGHT = re.compile(r"q=(0(\.[0-9]{0,3})?|1(\.0{0,3})?)")  # RFC 9110, section 12.4.2


def accepts_gzip(request: HttpRequest) -> bool:
    """Return whether the client accepts a response in gzip."""
    for offer in request.headers_by_name.get("accept-encoding", "").lower().split(","):
        coding, *parameters = (part.strip(" \t") for part in offer.split(";"))
        weight = _WEIGHT.fullmatch(parameters[0]) if len(parameters) == 1 else None
        if coding == "gzip" and (not parameters or (weight is not None and float(weight[1]) > 0)):
            return True
    return False


class FilePart(NamedTuple):
    """A part of a file, which the server sends from the disk."""

    path: Path
    start: int
    length: int


class HttpResponse(NamedTuple):
    """One response. The server adds the headers that HTTP itself needs: length, date, connection."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes
    file: FilePart | None = None  # the body, if it is not in memory

    @property
    def content_length(self) -> int:
        return len(self.body) if self.file is None else self.file.length


class RejectionReason(Enum):
    """Why the server itself rejects a request, before or instead of calling the application; by HTTP status."""

    MALFORMED = 400
    REQUEST_TIMEOUT = 408
    LENGTH_REQUIRED = 411
    TOO_LARGE = 413
    HEADERS_TOO_LARGE = 431
    CRASHED = 500
    BUSY = 503
    APPLICATION_TIMEOUT = 504
    VERSION_UNSUPPORTED = 505


class RequestRejectedError(Exception):
    """The server stops reading a request, because it rejects it itself or the application did by its head."""

    def __init__(self, rejection: RejectionReason | HttpResponse) -> None:
        super().__init__(str(rejection))
        self.rejection = rejection


class Application(Protocol):
    """What a server serves. The methods are called from many threads."""

    def respond(self, request: HttpRequest) -> HttpResponse:
        """Return the response to a request."""
        ...

    def reject_early(self, request: HttpRequest) -> HttpResponse | None:
        """Return the rejection of a request by its head alone, or None. Called before a large body is read."""
        ...

    def reject(self, reason: RejectionReason) -> HttpResponse:
        """Return the response to a request that the server rejects."""
        ...

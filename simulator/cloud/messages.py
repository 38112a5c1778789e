"""HTTP requests and answers, as the server hands them to an application and takes them back."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple, Protocol


@dataclass(frozen=True)
class Request:
    """One request, read whole."""

    method: str
    path: str  # as it was sent, without the query
    query: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    source_ip: str
    protocol: str = "HTTP/1.1"

    @cached_property
    def last_headers(self) -> dict[str, str]:
        """By name in lower case; of several with one name, the last, as API Gateway does."""
        return {name.lower(): value for name, value in self.headers}


def accepts_gzip(request: Request) -> bool:
    """Does the client say that it can read gzip?"""
    offers = request.last_headers.get("accept-encoding", "").lower().split(",")
    return any(re.fullmatch(r"\s*gzip\s*(;\s*q=(1(\.0*)?|0?\.\d*[1-9]\d*))?\s*", offer) for offer in offers)


class Response(NamedTuple):
    """One answer; the server adds what HTTP needs (length, date, connection)."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class Refusal(Enum):
    """What the server itself refuses, before or instead of asking the application."""

    MALFORMED = 400
    REQUEST_TIMEOUT = 408
    LENGTH_REQUIRED = 411
    TOO_LARGE = 413
    HEADERS_TOO_LARGE = 431
    CRASHED = 500
    BUSY = 503
    APPLICATION_TIMEOUT = 504
    VERSION_UNSUPPORTED = 505


class RefusedError(Exception):
    """The request cannot be read any further: the server refuses it, or the application has."""

    def __init__(self, refusal: Refusal | Response) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class Application(Protocol):
    """What a server serves."""

    def admit(self, request: Request) -> Response | None:
        """A refusal that needs no more than the head of a request, or None: asked before a large body is read."""
        ...

    def answer(self, request: Request) -> Response:
        """Answer one request; called from many threads."""
        ...

    def refuse(self, refusal: Refusal) -> Response:
        """The answer to a request that could not be read, or was not answered in time."""
        ...

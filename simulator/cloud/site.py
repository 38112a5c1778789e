"""The leaderboard's page in front of the API: the page's files are answered here, everything else by the API."""

import gzip
import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath

from leaderboard import page
from simulator.cloud.messages import Application, Refusal, Request, Response, accepts_gzip

API_BOARD = "v1/leaderboard/{phase}"

FRONT = "index.html"
MADE: dict[str, Callable[[], bytes]] = {page.CHARTS: page.charts, page.LIBRARY: page.library}
NOT_SMALLER = 512  # bytes below which compression does not pay


@dataclass(frozen=True)
class File:
    """One file of the page, ready to be sent."""

    name: str
    content: bytes

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.content).hexdigest()[:32]}"'

    @cached_property
    def compressed(self) -> bytes:
        return gzip.compress(self.content, 9, mtime=0)

    @property
    def content_type(self) -> str:
        return page.CONTENT_TYPES[PurePosixPath(self.name).suffix]


class Site:
    """An application for the server: the page at ``/``, and an API behind it."""

    def __init__(self, api: Application, phases: Callable[[], Sequence[str]]) -> None:
        self._api = api
        self._phases = phases
        self._files = {name: File(name, content) for name, content in page.site_files().items()}
        self._security = _security(self._files[FRONT].content.decode())
        self._making = {name: threading.Lock() for name in MADE}

    def admit(self, request: Request) -> Response | None:
        """As the API does: nobody sends the page a large body."""
        return self._api.admit(request)

    def answer(self, request: Request) -> Response:
        """A file of the page, or what the API says."""
        file = self._file(request.path) if request.method in ("GET", "HEAD") else None
        return self._api.answer(request) if file is None else self._send(file, request)

    def refuse(self, refusal: Refusal) -> Response:
        """In the words of the API."""
        return self._api.refuse(refusal)

    def _file(self, path: str) -> File | None:
        name = path.removeprefix("/") or FRONT
        if name == page.SETTINGS:
            table = f"{API_BOARD}?format=csv"
            return File(name, page.settings(self._phases(), data=API_BOARD, table=table, live=True))
        return self._make(name) if name in MADE else self._files.get(name)

    def _make(self, name: str) -> File:
        """Once, when a first visitor wants it; whoever else does meanwhile waits."""
        with self._making[name]:
            if name not in self._files:
                self._files[name] = File(name, MADE[name]())
            return self._files[name]

    def _send(self, file: File, request: Request) -> Response:
        headers = [
            ("Content-Type", file.content_type),
            ("Cache-Control", "no-cache"),  # may be kept, but is asked about: a new version shows at once
            ("ETag", file.etag),
            ("Vary", "Accept-Encoding"),
            ("Content-Security-Policy", self._security),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
        ]
        if file.etag in request.last_headers.get("if-none-match", ""):
            return Response(304, headers[1:], b"")
        if len(file.content) >= NOT_SMALLER and accepts_gzip(request):
            return Response(200, [*headers, ("Content-Encoding", "gzip")], file.compressed)
        return Response(200, headers, file.content)


def _security(front: str) -> str:
    """The page's own policy, which it has in a meta element for other web servers, and what only a header can say."""
    found = re.search(r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', front)
    if found is None:
        raise ValueError("the page has no Content-Security-Policy")
    return f"{found[1]}; frame-ancestors 'none'"

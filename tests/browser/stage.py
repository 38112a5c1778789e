"""The page in a real server, over boards that a test sets and changes."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager

from leaderboard.exports import to_csv
from simulator.cloud.messages import Response, accepts_gzip
from simulator.cloud.server import Server, running
from simulator.cloud.site import Site


class BoardApi:
    """Answers ``/v1/leaderboard/{phase}`` as the service does, from ``boards``."""

    def __init__(self, boards):
        self.boards = dict(boards)
        self.requests = []
        self.refuses_key = False

    def answer(self, request):
        self.requests.append(request)
        if self.refuses_key and "x-api-key" in request.last_headers:
            return Response(403, [("Content-Type", "application/json")], b'{"error": {}}')
        board = self.boards.get(request.path.removeprefix("/v1/leaderboard/"))
        if board is None:
            return Response(404, [("Content-Type", "application/json")], b'{"error": {}}')
        if request.query == "format=csv":
            return Response(200, [("Content-Type", "text/csv; charset=utf-8")], to_csv(board).encode())
        body = json.dumps(board.as_dict(), ensure_ascii=False, separators=(",", ":")).encode()
        etag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
        headers = [("Content-Type", "application/json"), ("ETag", etag), ("Cache-Control", "private, no-cache")]
        if request.last_headers.get("if-none-match") == etag:
            return Response(304, headers, b"")
        if accepts_gzip(request):
            return Response(200, [*headers, ("Content-Encoding", "gzip")], gzip.compress(body, 6))
        return Response(200, headers, body)

    def refuse(self, refusal):
        return Response(refusal.value, [], b"")


@contextmanager
def serving(api, port=0) -> Iterator[str]:
    """The address of the page over an API."""
    with running(Server(("127.0.0.1", port), Site(api, lambda: list(api.boards)), drain=1.0)) as server:
        yield server.url

"""The page in a real server, over boards that a test sets and changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from lambdas import wiring
from lambdas.answers import PhaseInfo
from lambdas.errors import InvalidKeyError, PhaseNotFoundError
from lambdas.registry import Participant
from leaderboard import publication
from simulator.cloud.http_server import HttpServer, running
from simulator.cloud.local_cloud import local_gateway
from simulator.cloud.template import SamTemplate


class BoardApi:
    """Plays the service behind the real gateway and handlers, knowing only ``boards``; remembers what it was asked."""

    def __init__(self, boards):
        self.boards = dict(boards)
        self.requests = []
        self.refuses_key = False

    # as the handlers see it

    def authenticate(self, key):
        if self.refuses_key:
            raise InvalidKeyError
        return Participant("visitor", 1)

    def phases(self):
        return [PhaseInfo(name, board.state, board.total, True, 1) for name, board in self.boards.items()]

    def leaderboard(self, viewer, phase):
        if phase not in self.boards:
            raise PhaseNotFoundError
        return self.boards[phase]


class Watched:
    """A gateway whose questions for boards are kept in ``requests``."""

    def __init__(self, gateway, requests):
        self._gateway, self._requests = gateway, requests

    def respond(self, request):
        if request.path.startswith("/v1/"):
            self._requests.append(request)
        return self._gateway.respond(request)

    def reject_early(self, request):
        return self._gateway.reject_early(request)

    def reject(self, reason):
        return self._gateway.reject(reason)


@cache
def template() -> SamTemplate:
    return SamTemplate.load("local")


@cache
def make_files() -> None:
    """Make what a first visitor would else wait for."""
    for make in publication.GENERATED_FILES.values():
        make()


@contextmanager
def serving(api, port=0) -> Iterator[str]:
    """The address of the page over an API."""
    make_files()
    gateway = Watched(local_gateway(template(), api), api.requests)
    try:
        with running(HttpServer(("127.0.0.1", port), gateway, drain_seconds=1.0)) as server:
            yield server.url
    finally:
        wiring.use_service(None)

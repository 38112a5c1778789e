"""A real server of the page, over boards that a test sets and changes."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from lambdas import wiring
from lambdas.answers import PhaseInfo, TaskInfo, TextInfo
from lambdas.errors import InvalidKeyError, PhaseNotFoundError
from lambdas.registry import Participant
from leaderboard import publication
from simulator.cloud.http_server import HttpServer, running
from simulator.cloud.local_cloud import local_gateway
from simulator.cloud.template import SamTemplate


class BoardApi:
    """A stand-in for the service behind the real gateway and handlers; it holds ``boards`` and records requests."""

    def __init__(self, boards):
        self.boards = dict(boards)
        self.requests = []
        self.refuses_key = False

    # The interface that the handlers use

    def authenticate(self, key):
        if self.refuses_key:
            raise InvalidKeyError
        return Participant("visitor", 1)

    def phases(self):
        return [
            PhaseInfo(name, board.state, board.total, True, 1, "bandit", "sentence-bleu", "sentBLEU")
            for name, board in self.boards.items()
        ]

    def task(self, participant=None):
        text = TextInfo("lowercased", "lower case")
        return TaskInfo("Shop texts", "de", "en", text, False, "CC0-1.0", "task@example.org", None, self.phases())

    def leaderboard(self, viewer, phase):
        if phase not in self.boards:
            raise PhaseNotFoundError
        return self.boards[phase]


class RecordingGateway:
    """A gateway that records API requests."""

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
def generate_files() -> None:
    """Generate the files that the first visitor would otherwise wait for."""
    for generate in publication.GENERATED_FILES.values():
        generate()


@contextmanager
def serving(api, port=0) -> Iterator[str]:
    """Serve the page over an API; yield its address."""
    generate_files()
    gateway = RecordingGateway(local_gateway(template(), api), api.requests)
    try:
        with running(HttpServer(("127.0.0.1", port), gateway, drain_seconds=1.0)) as server:
            yield server.url
    finally:
        wiring.use_service(None)

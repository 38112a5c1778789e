"""The public function: says what the task is, and serves the leaderboard and its page. It needs no API key.

It can read neither the ledger nor the keys that sign sentence ids, and write nothing at all.
"""

from collections.abc import Callable
from typing import NamedTuple

from aws_lambda_powertools.event_handler import Response

from lambdas import errors, wiring
from lambdas.cache import SingleFlightCache
from lambdas.handlers.api import HEADERS, LambdaFunction, Resolver, json_response, revalidated_response, to_json
from leaderboard.exports import to_csv
from leaderboard.page import INDEX_FILE, SETTINGS_FILE, PageFile, settings
from leaderboard.rows import Board

BOARD = "v1/leaderboard/{phase}"  # relative to the page, because the stage is part of its address
TASK = "v1/task"
MAX_ENCODED_BOARDS = 20


class EncodedBoard(NamedTuple):
    """A leaderboard as it is sent. The service returns the same board to many requests, so it is encoded once."""

    board: Board  # kept, so that no other board can have its identity
    text: str


_encoded_boards: SingleFlightCache[tuple[int, str], EncodedBoard] = SingleFlightCache(MAX_ENCODED_BOARDS)


def _board_response(app: Resolver, board: Board, content_type: str, encode: Callable[[Board], str]) -> Response[str]:
    encoded = _encoded_boards.get((id(board), content_type), lambda _: EncodedBoard(board, encode(board)))
    assert encoded is not None, "every board can be encoded"
    return revalidated_response(app, encoded.text, content_type)


def _add_api_routes(app: Resolver) -> None:
    @app.get("/v1/task")
    def task() -> Response[str]:
        participant = app.participant() if app.header("x-api-key") else None
        info = wiring.service().task(participant)
        return revalidated_response(app, to_json(info.as_dict()), "application/json")

    @app.get("/v1/task/out-of-domain/<language>")
    def out_of_domain(language: str) -> Response[str]:
        return Response(302, headers={**HEADERS, "Location": wiring.service().out_of_domain_url(language)})

    @app.get("/v1/leaderboard/<phase>")
    def leaderboard(phase: str) -> Response[str]:
        viewer = app.participant() if app.header("x-api-key") else None
        board = wiring.service().leaderboard(viewer, phase)
        if app.wants("csv"):
            return _board_response(app, board, "text/csv; charset=utf-8", to_csv)
        return _board_response(app, board, "application/json", lambda board: to_json(board.as_dict()))

    @app.get("/health")
    def health() -> Response[str]:
        wiring.service().phases()
        return json_response({"status": "ok"})


def _add_page_routes(app: Resolver) -> None:
    @app.get("/")
    def front() -> Response[str]:
        return _page_file_response(app, wiring.page().file(INDEX_FILE))

    @app.get(f"/{SETTINGS_FILE}")
    def page_settings() -> Response[str]:
        phases = [phase.phase for phase in wiring.service().phases()]
        content = settings(phases, data=BOARD, table=f"{BOARD}?format=csv", task=TASK, live=True)
        return _page_file_response(app, PageFile(SETTINGS_FILE, content))

    @app.get("/<file>")
    def page_file(file: str) -> Response[str]:
        return _page_file_response(app, wiring.page().file(file))


def _page_file_response(app: Resolver, file: PageFile | None) -> Response[str]:
    if file is None:
        raise errors.NotFoundError()
    return revalidated_response(app, file.content, file.content_type, wiring.page().headers)


def _add_routes(app: Resolver) -> None:
    _add_api_routes(app)
    _add_page_routes(app)


handler = LambdaFunction(_add_routes)

"""The function that reads: opens runs, tells where all stand, hands out the pending sentence. No references here.

It also shows the leaderboard's page: the browser's door to the same data.
"""

from aws_lambda_powertools.event_handler import Response

from lambdas import errors, wiring
from lambdas.handlers.api import Function, Request, answer, revisited, to_json
from leaderboard.exports import to_csv
from leaderboard.page import FRONT, SETTINGS, File, settings

BOARD = "v1/leaderboard/{phase}"  # as the page asks for it: relative, because a stage is a folder of its address


def _api(request: Request) -> None:
    @request.post("/v1/runs")
    def open_run() -> Response[str]:
        participant = request.participant()
        phase, system = request.text_fields("phase", "system")
        return answer(wiring.service().open_run(participant, phase, system).as_dict())

    @request.get("/v1/runs/<run>")
    def run_state(run: str) -> Response[str]:
        return answer(wiring.service().run(request.participant(), run).as_dict())

    @request.get("/v1/runs/<run>/sentence")
    def sentence(run: str) -> Response[str]:
        return answer(wiring.service().sentence(request.participant(), run).as_dict())

    @request.get("/v1/phases")
    def phases() -> Response[str]:
        request.participant()
        return answer({"phases": [phase.as_dict() for phase in wiring.service().phases()]})

    @request.get("/v1/leaderboard/<phase>")
    def leaderboard(phase: str) -> Response[str]:
        viewer = request.participant() if request.header("x-api-key") else None
        board = wiring.service().leaderboard(viewer, phase)
        if request.wants("csv"):
            return revisited(request, to_csv(board), "text/csv; charset=utf-8")
        return revisited(request, to_json(board.as_dict()), "application/json")

    @request.get("/health")
    def health() -> Response[str]:
        wiring.service().phases()
        return answer({"status": "ok"})


def _page(request: Request) -> None:
    @request.get("/")
    def front() -> Response[str]:
        return _show(request, wiring.page().file(FRONT))

    @request.get(f"/{SETTINGS}")
    def page_settings() -> Response[str]:
        phases = [phase.phase for phase in wiring.service().phases()]
        return _show(request, File(SETTINGS, settings(phases, data=BOARD, table=f"{BOARD}?format=csv", live=True)))

    @request.get("/<file>")
    def page_file(file: str) -> Response[str]:
        return _show(request, wiring.page().file(file))


def _show(request: Request, file: File | None) -> Response[str]:
    if file is None:
        raise errors.NotFoundError()
    return revisited(request, file.content, file.content_type, wiring.page().headers)


def _routes(request: Request) -> None:
    _api(request)
    _page(request)


handler = Function(_routes)

"""The reading function: opens runs, returns their state, and serves the pending sentence. It cannot read references."""

from aws_lambda_powertools.event_handler import Response

from lambdas import wiring
from lambdas.handlers.api import LambdaFunction, Resolver, json_response


def _add_routes(app: Resolver) -> None:
    @app.post("/v1/runs")
    def open_run() -> Response[str]:
        participant = app.participant()
        body = app.body()
        phase, system = body.texts("phase", "system")
        again = body.flag("again", default=True)
        return json_response(wiring.service().open_run(participant, phase, system, again=again).as_dict())

    @app.get("/v1/runs/<run>")
    def run_state(run: str) -> Response[str]:
        return json_response(wiring.service().run(app.participant(), run).as_dict())

    @app.get("/v1/runs/<run>/sentence")
    def sentence(run: str) -> Response[str]:
        return json_response(wiring.service().sentence(app.participant(), run).as_dict())

    @app.get("/v1/phases")
    def phases() -> Response[str]:
        participant = app.participant()
        return json_response({"phases": [phase.as_dict() for phase in wiring.service().phases(participant)]})


handler = LambdaFunction(_add_routes)

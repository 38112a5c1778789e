"""The scoring function: commits a translation and returns its score. No other function may read references."""

from aws_lambda_powertools.event_handler import Response

from lambdas import wiring
from lambdas.handlers.api import LambdaFunction, Resolver, json_response


def _add_routes(app: Resolver) -> None:
    @app.post("/v1/runs/<run>/translations")
    def translate(run: str) -> Response[str]:
        participant = app.participant()
        body = app.body()
        sentence, translation = body.texts("id", "translation")
        log_probability = body.number("log_probability")
        answer = wiring.service().translate(participant, run, sentence, translation, log_probability)
        return json_response(answer.as_dict())


handler = LambdaFunction(_add_routes)

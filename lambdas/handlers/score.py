"""The function that scores: commits a translation and tells what it earned. The only one that may read references."""

from aws_lambda_powertools.event_handler import Response

from lambdas import wiring
from lambdas.handlers.api import Function, Request, answer


def _routes(request: Request) -> None:
    @request.post("/v1/runs/<run>/translations")
    def translate(run: str) -> Response[str]:
        participant = request.participant()
        sentence, translation = request.text_fields("id", "translation")
        return answer(wiring.service().translate(participant, run, sentence, translation).as_dict())


handler = Function(_routes)

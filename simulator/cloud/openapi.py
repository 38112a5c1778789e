"""The API written down as an OpenAPI document: ``make openapi``.

Nothing in it is written by hand for it: routes, keys and request models come from the template, response models from
the service's return types, summaries from its docstrings, errors from ``lambdas.errors``, and the examples, as well as
which statuses each call can answer with, from a rehearsal with the real handlers.
"""

import inspect
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from lambdas.errors import ServiceError
from lambdas.service import PhaseInfo, Service
from simulator.cloud.local import adopt_environment
from simulator.cloud.rehearsal import Exchange, rehearse
from simulator.cloud.template import Route, Template

SCHEMAS = "#/components/schemas/"


@dataclass(frozen=True, slots=True)
class Phases:
    """The phases of the task, shortest first."""

    phases: list[PhaseInfo]


@dataclass(frozen=True, slots=True)
class Health:
    """The service is up, and so is its store."""

    status: str


@dataclass(frozen=True, slots=True)
class Error:
    """Why a request was refused. Switch on the code; the message is for people and may change."""

    code: str
    message: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Operation:
    """What a route does."""

    name: str
    summary: str
    answer: type

    @classmethod
    def of(cls, call: Callable[..., Any], answer: type | None = None) -> "Operation":
        """Described by a call of the service, whose return type is the answer unless that is wrapped."""
        return cls(call.__name__, inspect.getdoc(call) or "", answer or get_type_hints(call)["return"])


FOR_BROWSERS = {("GET", "/"), ("GET", "/{file}")}  # the leaderboard's page: no part of the API
OPERATIONS = {
    ("GET", "/health"): Operation("health", "Is the service up? Needs no key.", Health),
    ("GET", "/v1/phases"): Operation.of(Service.phases, Phases),
    ("GET", "/v1/leaderboard/{phase}"): Operation.of(Service.leaderboard),
    ("POST", "/v1/runs"): Operation.of(Service.open_run),
    ("GET", "/v1/runs/{run}"): Operation.of(Service.run),
    ("GET", "/v1/runs/{run}/sentence"): Operation.of(Service.sentence),
    ("POST", "/v1/runs/{run}/translations"): Operation.of(Service.translate),
}


def document(template: Template) -> dict[str, Any]:
    """The whole OpenAPI document."""
    exchanges = rehearse(template)
    paths: dict[str, dict[str, Any]] = {}
    for route in template.routes:
        if (route.method, route.path) in FOR_BROWSERS:
            continue
        said = [each for each in exchanges if (each.method, each.path) == (route.method, route.path)]
        operation = OPERATIONS[route.method, route.path]
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(template, route, operation, said)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "banditmt",
            "version": "1",
            "description": "A bandit-learning shared task for machine translation: ask for a sentence, propose one "
            "translation, be told one number. docs/protocol.md tells the rules.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:8000", "description": "banditmt serve, as it starts without options"}],
        "paths": paths,
        "components": {
            "schemas": {**_answer_models(), **_request_models(template)},
            "securitySchemes": template.api["components"]["securitySchemes"],
        },
    }


def _operation(template: Template, route: Route, operation: Operation, said: Sequence[Exchange]) -> dict[str, Any]:
    names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
    written: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "security": [{"api_key": []}] if route.key_required else [],
    }
    if names:
        written["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if route.schema:
        accepted = {each.name: {"value": each.request} for each in said if each.status < 300}
        written["requestBody"] = {
            "required": route.body_required,
            "content": _json(_model_name(template, route), accepted),
        }
    written["responses"] = _responses(operation, said)
    return written


def _responses(operation: Operation, said: Sequence[Exchange]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status in sorted({each.status for each in said}):
        with_status = [each for each in said if each.status == status]
        examples = {each.name: {"value": each.response} for each in with_status}
        model = operation.answer.__name__ if status < 300 else Error.__name__
        responses[str(status)] = {"description": HTTPStatus(status).phrase, "content": _json(model, examples)}
        if all(each.retry_after for each in with_status):
            seconds = {
                "description": "Seconds to wait before the same request is sent again.",
                "schema": {"type": "integer"},
            }
            responses[str(status)]["headers"] = {"Retry-After": seconds}
    responses["default"] = {"description": "Any other refusal", "content": _json(Error.__name__, {})}
    return responses


def _json(model: str, examples: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": SCHEMAS + model}}
    return {"application/json": {**content, "examples": dict(examples)} if examples else content}


def _answer_models() -> dict[str, Any]:
    types = [*(operation.answer for operation in OPERATIONS.values()), Error]
    adapters: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (answer.__name__, "serialization", TypeAdapter(answer)) for answer in types
    ]
    _, definitions = TypeAdapter.json_schemas(adapters, ref_template=SCHEMAS + "{model}")
    models: dict[str, Any] = definitions["$defs"]
    codes = sorted({error.code for error in ServiceError.__subclasses__()})
    models[Error.__name__]["properties"]["code"]["enum"] = codes
    return models


def _request_models(template: Template) -> dict[str, Any]:
    return {_model_name(template, route): dict(route.schema) for route in template.routes if route.schema}


def _model_name(template: Template, route: Route) -> str:
    """As the template spells it; the translator takes away the capitals."""
    models = template.source["Resources"]["Api"]["Properties"]["Models"]
    [name] = [name for name, schema in models.items() if schema == route.schema]
    return str(name)


def render(template: Template) -> str:
    """The document as text."""
    return json.dumps(document(template), indent=2, ensure_ascii=False, sort_keys=False) + "\n"


if __name__ == "__main__":
    local = Template.load("local")
    adopt_environment(local)
    Path(sys.argv[1]).write_text(render(local), encoding="utf-8")

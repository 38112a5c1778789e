"""The OpenAPI document of the API, which ``make openapi`` writes.

No part of the document is written by hand. Routes, keys and request models come from the template, response models from
the service's return types, summaries from its docstrings, and errors from ``lambdas.errors``. The examples, and the
statuses that each call can return, are recorded from real calls (``example_exchanges``).
"""

import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from lambdas.answers import PhaseInfo
from lambdas.errors import ServiceError
from lambdas.service import OUT_OF_DOMAIN_PATH, Service
from simulator.cloud.example_exchanges import Exchange, record_exchanges
from simulator.cloud.local_cloud import set_environment
from simulator.cloud.template import Route, SamTemplate

SCHEMA_PREFIX = "#/components/schemas/"


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
    """Why a request failed. Programs should test the code; the message is for people and may change."""

    code: str
    message: str
    request_id: str


@dataclass(frozen=True, slots=True)
class Operation:
    """The documentation of a route."""

    name: str
    summary: str
    response: type | None  # None for a file

    @classmethod
    def from_method(cls, method: Callable[..., Any], response: type | None = None) -> "Operation":
        """Document a method by its first sentence and by its return type, unless another type wraps that."""
        summary = " ".join((inspect.getdoc(method) or "").split())
        return cls(method.__name__, re.sub(r"(?<=\.) .*", "", summary), response or get_type_hints(method)["return"])


PAGE_ROUTES = {("GET", "/"), ("GET", "/{file}")}  # of the leaderboard page, which is not part of the API
OPERATIONS = {
    ("GET", "/health"): Operation("health", "Return whether the service is up. Needs no key.", Health),
    ("GET", "/v1/phases"): Operation.from_method(Service.phases, Phases),
    ("GET", "/v1/task"): Operation.from_method(Service.task),
    ("GET", OUT_OF_DOMAIN_PATH): Operation(
        "out_of_domain",
        "Return the out-of-domain text in one language as a gzip file, or redirect to where the organiser has it.",
        None,
    ),
    ("GET", "/v1/leaderboard/{phase}"): Operation.from_method(Service.leaderboard),
    ("POST", "/v1/runs"): Operation.from_method(Service.open_run),
    ("GET", "/v1/runs/{run}"): Operation.from_method(Service.run),
    ("GET", "/v1/runs/{run}/sentence"): Operation.from_method(Service.sentence),
    ("POST", "/v1/runs/{run}/translations"): Operation.from_method(Service.translate),
}


def document(template: SamTemplate) -> dict[str, Any]:
    """Return the OpenAPI document."""
    exchanges = record_exchanges(template)
    paths: dict[str, dict[str, Any]] = {}
    for route in template.routes:
        if (route.method, route.path) in PAGE_ROUTES:
            continue
        examples = [each for each in exchanges if (each.method, each.path) == (route.method, route.path)]
        operation = OPERATIONS[route.method, route.path]
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(template, route, operation, examples)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "banditmt",
            "version": "1",
            "description": "A shared task in which machine translation learns from bandit feedback: get a source "
            "sentence, submit one translation, receive its score. docs/protocol.md has the rules.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "http://127.0.0.1:8000", "description": "banditmt serve without options"}],
        "paths": paths,
        "components": {
            "schemas": {**_response_models(), **_request_models(template)},
            "securitySchemes": template.api["components"]["securitySchemes"],
        },
    }


def _operation(
    template: SamTemplate, route: Route, operation: Operation, exchanges: Sequence[Exchange]
) -> dict[str, Any]:
    names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
    documented: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "security": [{"api_key": []}] if route.key_required else [],
    }
    if names:
        documented["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if route.schema:
        accepted = {each.name: {"value": each.request} for each in exchanges if each.status < 300}
        documented["requestBody"] = {
            "required": route.body_required,
            "content": _json(_model_name(template, route), accepted),
        }
    documented["responses"] = _responses(operation, exchanges)
    return documented


def _responses(operation: Operation, exchanges: Sequence[Exchange]) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status in sorted({each.status for each in exchanges}):
        with_status = [each for each in exchanges if each.status == status]
        examples = {each.name: {"value": each.response} for each in with_status if each.response is not None}
        responses[str(status)] = {"description": HTTPStatus(status).phrase}
        if examples:
            model = operation.response if status < 300 else Error
            assert model is not None, "a response with JSON has a model"
            responses[str(status)]["content"] = _json(model.__name__, examples)
        elif with_status[0].content_type:
            responses[str(status)]["content"] = {with_status[0].content_type: {}}
        if all(each.retry_after for each in with_status):
            seconds = {
                "description": "Seconds to wait before a retry.",
                "schema": {"type": "integer"},
            }
            responses[str(status)]["headers"] = {"Retry-After": seconds}
    responses["default"] = {"description": "Any other error", "content": _json(Error.__name__, {})}
    return responses


def _json(model: str, examples: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {"schema": {"$ref": SCHEMA_PREFIX + model}}
    return {"application/json": {**content, "examples": dict(examples)} if examples else content}


def _response_models() -> dict[str, Any]:
    types = [*(operation.response for operation in OPERATIONS.values() if operation.response), Error]
    adapters: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        (response.__name__, "serialization", TypeAdapter(response)) for response in types
    ]
    _, definitions = TypeAdapter.json_schemas(adapters, ref_template=SCHEMA_PREFIX + "{model}")
    models: dict[str, Any] = definitions["$defs"]
    codes = sorted({error.code for error in ServiceError.__subclasses__()})
    models[Error.__name__]["properties"]["code"]["enum"] = codes
    return models


def _request_models(template: SamTemplate) -> dict[str, Any]:
    return {_model_name(template, route): dict(route.schema) for route in template.routes if route.schema}


def _model_name(template: SamTemplate, route: Route) -> str:
    """Return the name of a request model as the template spells it; the translator changes it to lower case."""
    models = template.source["Resources"]["Api"]["Properties"]["Models"]
    [name] = [name for name, schema in models.items() if schema == route.schema]
    return str(name)


def render(template: SamTemplate) -> str:
    """Return the OpenAPI document as text."""
    return json.dumps(document(template), indent=2, ensure_ascii=False, sort_keys=False) + "\n"


if __name__ == "__main__":
    local = SamTemplate.load("local")
    set_environment(local)
    Path(sys.argv[1]).write_text(render(local), encoding="utf-8")

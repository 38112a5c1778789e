"""The OpenAPI document: current, complete, and kept by the running service."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from jsonschema import Draft202012Validator
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from lambdas.errors import ServiceError
from simulator.cloud.gateway import Gateway, load_handlers
from simulator.cloud.openapi import render
from simulator.cloud.server import Server, running
from simulator.cloud.template import Template
from simulator.cloud.throttle import Gate
from tests.simulator.cloud.conftest import Stage

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
api = schemathesis.openapi.from_path(DOCUMENT)


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return document


def test_the_document_is_current() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render(Template.load("local")), "run: make openapi"


def test_every_route_but_the_pages_is_documented(written: dict[str, Any], template: Template) -> None:
    documented = {(method.upper(), path) for path, methods in written["paths"].items() for method in methods}
    assert documented == {(route.method, route.path) for route in template.routes} - {("GET", "/"), ("GET", "/{file}")}


def contents(written: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in written["paths"].values():
        for operation in methods.values():
            yield from (answer["content"]["application/json"] for answer in operation["responses"].values())
            if "requestBody" in operation:
                yield operation["requestBody"]["content"]["application/json"]


def test_every_example_fits_its_schema(written: dict[str, Any]) -> None:
    checked = 0
    for content in contents(written):
        schema = {**content["schema"], "components": written["components"]}
        for example in content.get("examples", {}).values():
            Draft202012Validator(schema).validate(example["value"])
            checked += 1
    assert checked > 30


def test_every_refusal_of_the_protocol_has_an_example(written: dict[str, Any]) -> None:
    shown = {
        example["value"]["code"]
        for content in contents(written)
        for example in content.get("examples", {}).values()
        if "code" in example["value"]
    }
    elsewhere = {"internal", "unavailable", "not_found"}  # not of one call, or not on purpose
    assert shown == {error.code for error in ServiceError.__subclasses__()} - elsewhere


@pytest.fixture
def server(template: Template, stage: Stage) -> Iterator[Server]:
    gateway = Gateway(template, load_handlers(template), stage.knows_key, gate=Gate())
    with running(Server(("127.0.0.1", 0), gateway)) as live:
        yield live


CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@api.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_service_keeps_to_the_document_whatever_it_is_sent(
    case: schemathesis.Case, server: Server, stage: Stage
) -> None:
    case.call_and_validate(base_url=server.url, headers={"x-api-key": stage.api_key}, checks=CHECKS)

"""The OpenAPI document is current and complete, and the running service follows it."""

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
from simulator.cloud.http_server import HttpServer, running
from simulator.cloud.openapi import render
from simulator.cloud.rate_limiter import RateLimiter
from simulator.cloud.template import SamTemplate
from tests.simulator.cloud.conftest import LoadedService

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
api = schemathesis.openapi.from_path(DOCUMENT)


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    return content


def test_the_document_is_current() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == render(SamTemplate.load("local")), "run: make openapi"


def test_every_route_except_those_of_the_page_is_documented(document: dict[str, Any], template: SamTemplate) -> None:
    documented = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert documented == {(route.method, route.path) for route in template.routes} - {("GET", "/"), ("GET", "/{file}")}


def contents(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        for operation in methods.values():
            for response in operation["responses"].values():
                if "application/json" in response.get("content", {}):  # not a redirect, and not a file
                    yield response["content"]["application/json"]
            if "requestBody" in operation:
                yield operation["requestBody"]["content"]["application/json"]


def test_every_example_matches_its_schema(document: dict[str, Any]) -> None:
    checked = 0
    for content in contents(document):
        schema = {**content["schema"], "components": document["components"]}
        for example in content.get("examples", {}).values():
            Draft202012Validator(schema).validate(example["value"])
            checked += 1
    assert checked > 30


def test_a_download_is_a_file_a_part_of_it_or_somewhere_else(document: dict[str, Any]) -> None:
    responses = document["paths"]["/v1/task/out-of-domain/{language}"]["get"]["responses"]
    assert {status: list(response.get("content", {})) for status, response in responses.items()} == {
        "200": ["application/gzip"],
        "206": ["application/gzip"],
        "302": [],
        "404": ["application/json"],
        "416": [],
        "default": ["application/json"],
    }


def test_every_error_code_of_the_protocol_has_an_example(document: dict[str, Any]) -> None:
    shown = {
        example["value"]["code"]
        for content in contents(document)
        for example in content.get("examples", {}).values()
        if "code" in example["value"]
    }
    without_example = {"internal", "unavailable"}  # not specific to a call
    assert shown == {error.code for error in ServiceError.__subclasses__()} - without_example


@pytest.fixture
def server(template: SamTemplate, loaded: LoadedService) -> Iterator[HttpServer]:
    gateway = Gateway(template, load_handlers(template), loaded.is_known_key, rate_limiter=RateLimiter())
    with running(HttpServer(("127.0.0.1", 0), gateway)) as live:
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
def test_the_service_follows_the_document_whatever_it_is_sent(
    case: schemathesis.Case, server: HttpServer, loaded: LoadedService
) -> None:
    case.call_and_validate(base_url=server.url, headers={"x-api-key": loaded.api_key}, checks=CHECKS)

"""Each function's role grants exactly the DynamoDB calls that the function makes: no more, no less."""

import base64
import json
from collections.abc import Iterator
from fnmatch import fnmatch
from typing import Any, NamedTuple

import boto3
import pytest
from moto import mock_aws

from lambdas import wiring
from lambdas.handlers import board
from lambdas.registry import Registry
from lambdas.service import Service
from lambdas.store.dynamodb import DynamoDBStore
from lambdas.task_loader import load_phase
from simulator.cloud.gateway import Gateway, Handler, load_handlers
from simulator.cloud.messages import Request
from simulator.cloud.template import Template
from task.layout import Layout
from task.phases import Phase
from tests.simulator.cloud.conftest import PAIRS


class Call(NamedTuple):
    """One call of DynamoDB."""

    function: str
    action: str
    table: str
    partition: str | None


class Tape:
    """Records what a client is asked, and on whose behalf."""

    def __init__(self) -> None:
        self.function = ""
        self.calls: list[Call] = []

    def record(self, params: dict[str, Any], model: Any, **_: object) -> None:
        if self.function:
            named = params.get("Item", params.get("Key", {})).get("pk") or params["ExpressionAttributeValues"][":pk"]
            partition = named["S"]
            self.calls.append(Call(self.function, f"dynamodb:{model.name}", params["TableName"], partition))

    def attributed(self, name: str, handler: Handler) -> Handler:
        def handle(event: dict[str, Any], context: Any) -> object:
            self.function = name
            try:
                return handler(event, context)
            finally:
                self.function = ""

        return handle


@pytest.fixture(scope="module")
def calls(template: Template) -> Iterator[list[Call]]:
    """Everything the functions ask of DynamoDB in a run with every turn that it can take."""
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        store = DynamoDBStore(client, may_create=True)
        load_phase(store, Phase("mock", Layout.plain(len(PAIRS)), repeatable=True), PAIRS)
        api_key = Registry(store).add_participant("ada")
        tape = Tape()
        client.meta.events.register("provide-client-params.dynamodb", tape.record)
        handlers = {name: tape.attributed(name, handler) for name, handler in load_handlers(template).items()}
        play(Gateway(template, handlers, lambda key: key == api_key), store, api_key)
        stream = ledger_stream(client)
        tape.function = "BoardFunction"
        board.fold(store, stream[:2])
        board.fold(store, stream[3:])  # an entry was lost on the way
        yield tape.calls
    wiring.use_service(None)


def play(gateway: Gateway, store: DynamoDBStore, api_key: str) -> None:
    wiring.use_service(Service(store, streamed=True))

    def call(method: str, path: str, body: object = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        return json.loads(gateway.answer(Request(method, path, "", [("x-api-key", api_key)], data, "::1")).body)

    call("GET", "/health")
    call("GET", "/v1/phases")
    run = call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})["run"]
    call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})  # resumed
    sentence = call("GET", f"/v1/runs/{run}/sentence")
    while sentence:
        answer = {"id": sentence["id"], "translation": sentence["source"]}
        committed = call("POST", f"/v1/runs/{run}/translations", answer)
        assert call("POST", f"/v1/runs/{run}/translations", answer) == committed  # the answer was lost
        assert call("POST", f"/v1/runs/{run}/translations", {**answer, "translation": "other"})["code"]
        call("GET", f"/v1/runs/{run}")
        wiring.use_service(Service(store, streamed=True))  # a cold start
        sentence = committed["next"]
    call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})  # again
    assert call("GET", "/v1/leaderboard/mock")["rows"] == []  # nobody has followed the stream yet


def ledger_stream(client: Any) -> list[dict[str, Any]]:
    items = client.scan(TableName="banditmt-ledger")["Items"]
    for item in items:
        if "statistics" in item:
            item["statistics"]["B"] = base64.b64encode(item["statistics"]["B"]).decode()
    return [{"eventName": "INSERT", "dynamodb": {"NewImage": item}} for item in items]


def statements(template: Template, function: str) -> dict[tuple[str, str], dict[str, Any]]:
    """What a function's role grants on tables (not on streams), by action and name of the table."""
    tables = {f"{name}.Arn": table["TableName"] for name, table in template.resources("AWS::DynamoDB::Table").items()}
    role = template.resources("AWS::IAM::Role")[function.removesuffix("Function") + "Role"]
    return {
        (statement["Action"], tables[statement["Resource"]]): statement
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Resource"] in tables
    }


@pytest.mark.parametrize("function", ["ReadFunction", "ScoringFunction", "BoardFunction"])
def test_what_is_granted_is_what_is_used(template: Template, calls: list[Call], function: str) -> None:
    used = {(call.action, call.table) for call in calls if call.function == function}
    assert set(statements(template, function)) == used


def test_the_template_makes_the_tables_that_the_store_expects(template: Template) -> None:
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        DynamoDBStore(client, may_create=True).prepare()
        for table in template.resources("AWS::DynamoDB::Table").values():
            made = client.describe_table(TableName=table["TableName"])["Table"]
            assert made["KeySchema"] == table["KeySchema"]
            assert made["AttributeDefinitions"] == table["AttributeDefinitions"]


def test_every_call_stays_within_its_fence(template: Template, calls: list[Call]) -> None:
    fenced = 0
    for call in calls:
        condition = statements(template, call.function)[call.action, call.table].get("Condition")
        if condition:
            patterns = condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
            assert call.partition is not None
            assert any(fnmatch(call.partition, pattern) for pattern in patterns)
            fenced += 1
    assert fenced >= 4

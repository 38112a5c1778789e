"""The role of each function grants exactly the DynamoDB actions that the function uses."""

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
from simulator.cloud.http_messages import HttpRequest
from simulator.cloud.template import SamTemplate
from task.layout import Layout
from task.phases import Phase
from tests.simulator.cloud.conftest import PAIRS


class DynamoDbCall(NamedTuple):
    """One call of DynamoDB."""

    function: str
    action: str
    table: str
    partition: str | None


class CallRecorder:
    """Records the calls of a client, with the function that makes them."""

    def __init__(self) -> None:
        self.function = ""
        self.calls: list[DynamoDbCall] = []

    def record(self, params: dict[str, Any], model: Any, **_: object) -> None:
        if self.function:
            key = params.get("Item", params.get("Key", {})).get("pk") or params["ExpressionAttributeValues"][":pk"]
            partition = key["S"]
            self.calls.append(DynamoDbCall(self.function, f"dynamodb:{model.name}", params["TableName"], partition))

    def attribute(self, name: str, handler: Handler) -> Handler:
        def handle(event: dict[str, Any], context: Any) -> object:
            self.function = name
            try:
                return handler(event, context)
            finally:
                self.function = ""

        return handle


@pytest.fixture(scope="module")
def calls(template: SamTemplate) -> Iterator[list[DynamoDbCall]]:
    """All calls of DynamoDB in a run in which everything happens that can happen."""
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        store = DynamoDBStore(client, may_create=True)
        load_phase(store, Phase("mock", Layout.plain(len(PAIRS)), repeatable=True), PAIRS)
        api_key = Registry(store).add_participant("ada")
        recorder = CallRecorder()
        client.meta.events.register("provide-client-params.dynamodb", recorder.record)
        handlers = {name: recorder.attribute(name, handler) for name, handler in load_handlers(template).items()}
        play(Gateway(template, handlers, lambda key: key == api_key), store, api_key)
        stream = ledger_stream(client)
        recorder.function = "BoardFunction"
        board.update_summaries(store, stream[:2])
        board.update_summaries(store, stream[3:])  # an entry was lost
        yield recorder.calls
    wiring.use_service(None)


def play(gateway: Gateway, store: DynamoDBStore, api_key: str) -> None:
    wiring.use_service(Service(store, streamed=True))

    def call(method: str, path: str, body: object = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        return json.loads(gateway.respond(HttpRequest(method, path, "", [("x-api-key", api_key)], data, "::1")).body)

    call("GET", "/health")
    call("GET", "/v1/phases")
    call("GET", "/v1/task")
    call("GET", "/v1/task/out-of-domain/de")
    run = call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})["run"]
    call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})  # resumed
    sentence = call("GET", f"/v1/runs/{run}/sentence")
    while sentence:
        proposed = {"id": sentence["id"], "translation": sentence["source"]}
        committed = call("POST", f"/v1/runs/{run}/translations", proposed)
        assert call("POST", f"/v1/runs/{run}/translations", proposed) == committed  # resent, as after a lost response
        assert call("POST", f"/v1/runs/{run}/translations", {**proposed, "translation": "other"})["code"]
        call("GET", f"/v1/runs/{run}")
        wiring.use_service(Service(store, streamed=True))  # a cold start
        sentence = committed["next"]
    call("POST", "/v1/runs", {"phase": "mock", "system": "copy"})  # again
    assert call("GET", "/v1/leaderboard/mock")["rows"] == []  # the stream has not been read yet


def ledger_stream(client: Any) -> list[dict[str, Any]]:
    items = client.scan(TableName="banditmt-ledger")["Items"]
    for item in items:
        if "statistics" in item:
            for name in ("statistics", "link"):
                item[name]["B"] = base64.b64encode(item[name]["B"]).decode()
    return [{"eventName": "INSERT", "dynamodb": {"NewImage": item}} for item in items]


def statements(template: SamTemplate, function: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the statements of a function's role about tables (not streams), by action and table name."""
    tables = {f"{name}.Arn": table["TableName"] for name, table in template.resources("AWS::DynamoDB::Table").items()}
    role = template.resources("AWS::IAM::Role")[function.removesuffix("Function") + "Role"]
    return {
        (statement["Action"], tables[statement["Resource"]]): statement
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if statement["Resource"] in tables
    }


@pytest.mark.parametrize("function", ["PublicFunction", "ReadFunction", "ScoringFunction", "BoardFunction"])
def test_a_role_grants_exactly_what_its_function_uses(
    template: SamTemplate, calls: list[DynamoDbCall], function: str
) -> None:
    used = {(call.action, call.table) for call in calls if call.function == function}
    assert set(statements(template, function)) == used


def test_the_template_creates_the_tables_that_the_store_expects(template: SamTemplate) -> None:
    with mock_aws():
        client = boto3.client(
            "dynamodb", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )
        DynamoDBStore(client, may_create=True).prepare()
        for table in template.resources("AWS::DynamoDB::Table").values():
            created = client.describe_table(TableName=table["TableName"])["Table"]
            assert created["KeySchema"] == table["KeySchema"]
            assert created["AttributeDefinitions"] == table["AttributeDefinitions"]


def test_every_call_uses_only_partition_keys_that_its_role_allows(
    template: SamTemplate, calls: list[DynamoDbCall]
) -> None:
    checked = 0
    for call in calls:
        condition = statements(template, call.function)[call.action, call.table].get("Condition")
        if condition:
            patterns = condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
            assert call.partition is not None
            assert any(fnmatch(call.partition, pattern) for pattern in patterns)
            checked += 1
    assert checked >= 4

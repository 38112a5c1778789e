"""What the translated template promises: asserted on the CloudFormation that AWS would be given."""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lambdas import errors
from lambdas.handlers import read
from leaderboard.page import CHARTS, FRONT, LIBRARY, SETTINGS
from simulator.cloud.template import Template
from simulator.cloud.throttle import Quota, Rate
from simulator.errors import TemplateError


def statements(template: Template) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, role in template.resources("AWS::IAM::Role").items():
        for policy in role["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                yield name, statement


def granted(template: Template, role: str) -> set[tuple[str, str]]:
    return {(statement["Action"], statement["Resource"]) for name, statement in statements(template) if name == role}


# routes

ROUTES = {
    ("GET", "/", "ReadFunction", False),
    ("GET", "/{file}", "ReadFunction", False),
    ("GET", "/health", "ReadFunction", False),
    ("GET", "/v1/leaderboard/{phase}", "ReadFunction", False),
    ("GET", "/v1/phases", "ReadFunction", True),
    ("POST", "/v1/runs", "ReadFunction", True),
    ("GET", "/v1/runs/{run}", "ReadFunction", True),
    ("GET", "/v1/runs/{run}/sentence", "ReadFunction", True),
    ("POST", "/v1/runs/{run}/translations", "ScoringFunction", True),
}


def test_every_route_wants_a_key_but_what_is_public(template: Template) -> None:
    assert {(route.method, route.path, route.function, route.key_required) for route in template.routes} == ROUTES


def test_the_page_has_an_address_in_which_its_relative_links_work(template: Template) -> None:
    page = template.resolve(template.source["Outputs"]["Page"]["Value"])
    assert page == "https://Api.execute-api.us-east-1.amazonaws.com/prod/"
    assert all(not address.startswith("/") for address in (read.BOARD, FRONT, SETTINGS, CHARTS, LIBRARY))


def test_the_page_comes_compressed_and_rounds_do_not(template: Template) -> None:
    assert template.compressed_from == 2048


def test_every_body_is_checked_at_the_gateway(template: Template) -> None:
    for route in template.routes:
        if route.method == "POST":
            assert route.schema is not None
            assert route.body_required
            assert route.schema["required"] == list(route.schema["properties"])


def test_every_handler_can_be_imported(template: Template) -> None:
    for function in template.functions.values():
        module, _, attribute = function.handler.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute))


def test_the_gateways_refusals_are_worded_like_the_services(template: Template) -> None:
    known = {error.code: error for error in errors.ServiceError.__subclasses__()}
    of_its_own = {"BAD_REQUEST_BODY", "QUOTA_EXCEEDED"}  # where the gateway knows more of the reason
    for kind, wording in template.gateway_responses.items():
        body = json.loads(wording.body)
        assert list(body) == ["code", "message", "request_id"], kind
        assert body["request_id"] == "$context.requestId"
        error = known[body["code"]]
        if kind not in of_its_own:
            assert body["message"] == error.default_message, kind
        if wording.status is not None and kind != "INTEGRATION_TIMEOUT":  # no code of the service is a 504
            assert wording.status == error.status, kind
    assert {"DEFAULT_4XX", "DEFAULT_5XX", "THROTTLED", "QUOTA_EXCEEDED"} <= set(template.gateway_responses)


def test_whoever_may_come_back_is_told_when(template: Template) -> None:
    for kind in ("THROTTLED", "QUOTA_EXCEEDED", "INTEGRATION_TIMEOUT"):
        assert int(template.gateway_responses[kind].headers["Retry-After"]) >= 1


# limits


def test_each_key_and_all_together_are_throttled(template: Template) -> None:
    assert template.key_rate == Rate(100, 200)
    assert template.stage_rate == Rate(2000, 1000)
    assert template.own_rates == {  # what needs no key: a crowd of visitors takes nothing from the participants
        (route.method, route.path): Rate(50, 100) for route in template.routes if not route.key_required
    }
    assert template.key_quota == Quota(2_000_000, "DAY")


@pytest.mark.parametrize("stage", ["local", "dev", "prod"])
def test_every_stage_resolves_completely(stage: str) -> None:
    template = Template.load(stage)
    assert template.stage == stage
    for kind in {resource["Type"] for resource in template.cloudformation["Resources"].values()}:
        assert "Fn::" not in json.dumps(template.resources(kind))


def test_a_training_run_fits_into_the_quota_of_a_day(template: Template) -> None:
    assert template.key_quota.limit > 1_297_974


def test_the_usage_plan_covers_the_stage_and_no_key_is_made_by_the_template(template: Template) -> None:
    [plan] = template.resources("AWS::ApiGateway::UsagePlan").values()
    assert plan["ApiStages"] == [{"ApiId": "Api", "Stage": "ApiStage"}]
    assert not template.resources("AWS::ApiGateway::ApiKey")


# functions and what they may do


def test_functions_are_small_and_on_arm(template: Template) -> None:
    functions = template.resources("AWS::Lambda::Function")
    assert set(functions) == {"ReadFunction", "ScoringFunction", "BoardFunction"}
    for name, function in functions.items():
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
        assert function["MemorySize"] == 512
        assert function["Role"] == f"{name.removesuffix('Function')}Role.Arn"
        assert function["Environment"]["Variables"]["POWERTOOLS_TRACER_CAPTURE_RESPONSE"] == "false"
        assert function["Environment"]["Variables"]["BANDITMT_STORE"] == "dynamodb:us-east-1?prefix=banditmt"


def test_roles_may_do_exactly_this(template: Template) -> None:
    def watching(log: str) -> set[tuple[str, str]]:
        return {
            ("logs:CreateLogStream", f"{log}.Arn"),
            ("logs:PutLogEvents", f"{log}.Arn"),
            ("xray:PutTraceSegments", "*"),
            ("xray:PutTelemetryRecords", "*"),
        }

    assert set(template.resources("AWS::IAM::Role")) == {"ReadRole", "ScoringRole", "BoardRole"}
    assert granted(template, "ReadRole") == watching("ReadLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:Query", "TaskTable.Arn"),
        ("dynamodb:PutItem", "TaskTable.Arn"),
        ("dynamodb:Query", "LedgerTable.Arn"),
        ("dynamodb:PutItem", "LedgerTable.Arn"),
    }
    assert granted(template, "ScoringRole") == watching("ScoringLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:GetItem", "ReferencesTable.Arn"),
        ("dynamodb:GetItem", "LedgerTable.Arn"),
        ("dynamodb:PutItem", "LedgerTable.Arn"),
    }
    assert granted(template, "BoardRole") == watching("BoardLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:PutItem", "TaskTable.Arn"),
        ("dynamodb:Query", "LedgerTable.Arn"),
        ("dynamodb:DescribeStream", "LedgerTable.StreamArn"),
        ("dynamodb:GetRecords", "LedgerTable.StreamArn"),
        ("dynamodb:GetShardIterator", "LedgerTable.StreamArn"),
        ("dynamodb:ListStreams", "LedgerTable.StreamArn"),
        ("sqs:SendMessage", "BoardFailures.Arn"),
    }


def test_statements_name_one_action_and_no_wildcards_where_names_exist(template: Template) -> None:
    for role, statement in statements(template):
        assert isinstance(statement["Action"], str), role
        assert "*" not in statement["Action"], role
        if not statement["Action"].startswith("xray:"):  # which knows no resources
            assert "*" not in statement["Resource"], role


def test_only_the_scoring_function_reaches_references(template: Template) -> None:
    reachers = {name for name, statement in statements(template) if "References" in json.dumps(statement)}
    assert reachers == {"ScoringRole"}


def test_what_may_be_written_to_the_task_is_fenced_in(template: Template) -> None:
    fences = {
        name: statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for name, statement in statements(template)
        if (statement["Action"], statement["Resource"]) == ("dynamodb:PutItem", "TaskTable.Arn")
    }
    assert fences == {"ReadRole": ["run/*"], "BoardRole": ["board/*"]}


def test_nobody_can_list_keys_participants_or_blocks(template: Template) -> None:
    fences = {
        (name, statement["Action"]): statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for name, statement in statements(template)
        if statement["Resource"] == "TaskTable.Arn" and statement["Action"] != "dynamodb:PutItem"
    }
    looked_up = ["key", "participant", "phase", "ring", "block/*"]
    assert fences == {
        ("ReadRole", "dynamodb:GetItem"): looked_up,
        ("ReadRole", "dynamodb:Query"): ["phase", "role", "run/*", "board/*"],
        ("ScoringRole", "dynamodb:GetItem"): looked_up,
        ("BoardRole", "dynamodb:GetItem"): ["board/*", "phase"],
    }


def test_roles_are_for_lambda_alone_and_take_no_managed_policies(template: Template) -> None:
    for role in template.resources("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role
        [trust] = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust == {
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }


# tables and the stream


def test_tables_are_encrypted_recoverable_and_hard_to_lose(template: Template) -> None:
    tables = template.resources("AWS::DynamoDB::Table")
    assert set(tables) == {"TaskTable", "ReferencesTable", "LedgerTable"}
    for name, table in tables.items():
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
        assert table["DeletionProtectionEnabled"] is True
        resource = template.cloudformation["Resources"][name]
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_the_ledgers_stream_goes_to_the_leaderboard_with_a_place_for_failures(template: Template) -> None:
    [mapping] = template.resources("AWS::Lambda::EventSourceMapping").values()
    assert mapping["FunctionName"] == "BoardFunction"
    assert mapping["EventSourceArn"] == "LedgerTable.StreamArn"
    assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": "BoardFailures.Arn"}}
    assert mapping["MaximumRetryAttempts"] == 5
    assert mapping["MaximumBatchingWindowInSeconds"] == 60  # docs/cost.md counts with it
    assert mapping["BisectBatchOnFunctionError"] is True
    [queue] = template.resources("AWS::SQS::Queue").values()
    assert queue == {"MessageRetentionPeriod": 1_209_600, "SqsManagedSseEnabled": True}


# watching


def test_every_log_ends_some_day_and_every_function_has_its_own(template: Template) -> None:
    logs = template.resources("AWS::Logs::LogGroup")
    assert set(logs) == {"ReadLog", "ScoringLog", "BoardLog", "AccessLog"}
    assert {log["RetentionInDays"] for log in logs.values()} == {90}
    for name, function in template.resources("AWS::Lambda::Function").items():
        assert function["LoggingConfig"] == {"LogGroup": f"{name.removesuffix('Function')}Log"}


def test_alarms_watch_errors_latency_throttles_and_the_stream(template: Template) -> None:
    alarms = template.resources("AWS::CloudWatch::Alarm")
    watched = {(alarm["Namespace"], alarm["MetricName"]) for alarm in alarms.values()}
    assert watched == {
        ("AWS/ApiGateway", "5XXError"),
        ("AWS/ApiGateway", "Latency"),
        ("AWS/Lambda", "Throttles"),
        ("AWS/Lambda", "IteratorAge"),
        ("AWS/DynamoDB", "ReadThrottleEvents"),
        ("AWS/DynamoDB", "WriteThrottleEvents"),
        ("AWS/SQS", "ApproximateNumberOfMessagesVisible"),
    }
    throttled = {alarm["Dimensions"][0]["Value"] for alarm in alarms.values() if alarm["MetricName"] == "Throttles"}
    assert throttled == set(template.functions)
    tables = {(alarm["MetricName"], alarm["Dimensions"][0]["Value"]) for alarm in alarms.values()}
    assert {("ReadThrottleEvents", table) for table in ("TaskTable", "ReferencesTable", "LedgerTable")} <= tables
    assert {("WriteThrottleEvents", table) for table in ("TaskTable", "LedgerTable")} <= tables
    assert all(alarm["AlarmActions"] == ["Alarms"] for alarm in alarms.values())


def test_the_dashboard_is_json_and_shows_every_alarm(template: Template) -> None:
    [dashboard] = template.resources("AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["DashboardBody"])["widgets"]
    [alarms] = [widget["properties"]["alarms"] for widget in widgets if widget["type"] == "alarm"]
    assert set(alarms) == {f"{name}.Arn" for name in template.resources("AWS::CloudWatch::Alarm")}


def test_money_raises_an_alarm_before_it_is_spent(template: Template) -> None:
    [budget] = template.resources("AWS::Budgets::Budget").values()
    kinds = {entry["Notification"]["NotificationType"] for entry in budget["NotificationsWithSubscribers"]}
    assert kinds == {"ACTUAL", "FORECASTED"}


def test_alarms_can_be_published_by_this_account_only(template: Template) -> None:
    [policy] = template.resources("AWS::SNS::TopicPolicy").values()
    [statement] = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "sns:Publish"
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}


def test_nobody_is_mailed_without_an_address(template: Template) -> None:
    assert template.resources("AWS::SNS::Subscription") == {}


def test_traces_are_few(template: Template) -> None:
    [rule] = template.resources("AWS::XRay::SamplingRule").values()
    assert (rule["SamplingRule"]["ReservoirSize"], rule["SamplingRule"]["FixedRate"]) == (0, 0.001)
    assert rule["SamplingRule"]["ServiceName"] == "banditmt/prod"  # as API Gateway names itself: API, stage


# reading templates


def test_yaml_aliases_stay_out_because_cloudformation_does_not_read_them() -> None:
    text = (Path(__file__).parents[3] / "template.yaml").read_text(encoding="utf-8")
    assert not re.search(r"[:\-\[,]\s+[&*][A-Za-z]", text)


def test_every_library_of_the_bundle_is_pinned() -> None:
    root = Path(__file__).parents[3]

    def names(file: str) -> set[str]:
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        return {re.split(r"[=\s]", line)[0].lower().replace("_", "-") for line in lines if re.match(r"\w", line)}

    bundled = names("lambdas/requirements.txt")
    assert bundled == {"aws-lambda-powertools", "aws-xray-sdk", "jmespath", "typing-extensions", "wrapt"}
    assert bundled <= names("requirements.lock")


def test_an_unknown_stage_is_refused_by_name() -> None:
    with pytest.raises(TemplateError, match="no stage 'live'; it has local, dev, prod"):
        Template.load("live")


def test_a_missing_template_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="run banditmt from a checkout"):
        Template.load(path=tmp_path / "template.yaml")


def test_what_the_translator_refuses_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(
        "Transform: AWS::Serverless-2016-10-31\n"
        "Parameters: {Stage: {Type: String, AllowedValues: [local]}}\n"
        "Globals: {Function: {Runtime: python3.13}}\n"
        "Resources: {F: {Type: 'AWS::Serverless::Function', Properties: {Events: 1}}}\n"
    )
    with pytest.raises(TemplateError, match=r"^[^\n]*\[F\][^\n]*$"):
        Template.load(path=path)

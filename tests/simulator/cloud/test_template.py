"""The template, checked in the CloudFormation form that AWS would receive."""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lambdas import errors
from lambdas.handlers.public import BOARD
from leaderboard.page import CHARTS_FILE, INDEX_FILE, SETTINGS_FILE, VEGA_FILE
from simulator.cloud.rate_limiter import QuotaSettings, ThrottleSettings
from simulator.cloud.template import SamTemplate
from simulator.errors import TemplateError


def statements(template: SamTemplate) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, role in template.resources("AWS::IAM::Role").items():
        for policy in role["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                yield name, statement


def granted(template: SamTemplate, role: str) -> set[tuple[str, str]]:
    return {(statement["Action"], statement["Resource"]) for name, statement in statements(template) if name == role}


# routes

ROUTES = {
    ("GET", "/", "PublicFunction", False),
    ("GET", "/{file}", "PublicFunction", False),
    ("GET", "/health", "PublicFunction", False),
    ("GET", "/v1/leaderboard/{phase}", "PublicFunction", False),
    ("GET", "/v1/task", "PublicFunction", False),
    ("GET", "/v1/task/out-of-domain/{language}", "PublicFunction", False),
    ("GET", "/v1/phases", "ReadFunction", True),
    ("POST", "/v1/runs", "ReadFunction", True),
    ("GET", "/v1/runs/{run}", "ReadFunction", True),
    ("GET", "/v1/runs/{run}/sentence", "ReadFunction", True),
    ("POST", "/v1/runs/{run}/translations", "ScoringFunction", True),
}


def test_every_route_that_is_not_public_needs_a_key(template: SamTemplate) -> None:
    assert {(route.method, route.path, route.function, route.key_required) for route in template.routes} == ROUTES


def test_the_relative_links_of_the_page_work_under_its_address(template: SamTemplate) -> None:
    page = template.resolve(template.source["Outputs"]["Page"]["Value"])
    assert page == "https://Api.execute-api.us-east-1.amazonaws.com/prod/"
    assert all(not address.startswith("/") for address in (BOARD, INDEX_FILE, SETTINGS_FILE, CHARTS_FILE, VEGA_FILE))


def test_the_page_is_compressed_and_rounds_are_not(template: SamTemplate) -> None:
    assert template.minimum_compression_size == 2048


def test_the_gateway_checks_every_body(template: SamTemplate) -> None:
    for route in template.routes:
        if route.method == "POST":
            assert route.schema is not None
            assert route.body_required
            optional = [name for name in route.schema["properties"] if name not in route.schema["required"]]
            assert optional == (["log_probability"] if route.path.endswith("/translations") else ["again"])


def test_every_handler_can_be_imported(template: SamTemplate) -> None:
    for function in template.functions.values():
        module, _, attribute = function.handler.rpartition(".")
        assert callable(getattr(importlib.import_module(module), attribute))


def test_errors_of_the_gateway_are_worded_like_those_of_the_service(template: SamTemplate) -> None:
    known = {error.code: error for error in errors.ServiceError.__subclasses__()}
    own_wording = {"BAD_REQUEST_BODY", "QUOTA_EXCEEDED"}  # the gateway knows the reason better
    for kind, wording in template.gateway_responses.items():
        body = json.loads(wording.body)
        assert list(body) == ["code", "message", "request_id"], kind
        assert body["request_id"] == "$context.requestId"
        error = known[body["code"]]
        if kind not in own_wording:
            assert body["message"] == error.default_message, kind
        if wording.status is not None and kind != "INTEGRATION_TIMEOUT":  # no error of the service has status 504
            assert wording.status == error.status, kind
    assert {"DEFAULT_4XX", "DEFAULT_5XX", "THROTTLED", "QUOTA_EXCEEDED"} <= set(template.gateway_responses)


def test_temporary_errors_have_retry_after(template: SamTemplate) -> None:
    for kind in ("THROTTLED", "QUOTA_EXCEEDED", "INTEGRATION_TIMEOUT"):
        assert int(template.gateway_responses[kind].headers["Retry-After"]) >= 1


# limits


def test_each_key_and_all_requests_together_are_throttled(template: SamTemplate) -> None:
    assert template.key_throttle == ThrottleSettings(100, 200)
    assert template.stage_throttle == ThrottleSettings(2000, 1000)
    assert (
        template.method_throttles
        == {  # those without a key, so that visitors do not use up the limits of participants
            (route.method, route.path): ThrottleSettings(50, 100) for route in template.routes if not route.key_required
        }
    )
    assert template.key_quota == QuotaSettings(2_000_000, "DAY")


@pytest.mark.parametrize("stage", ["local", "dev", "prod"])
def test_every_stage_resolves_completely(stage: str) -> None:
    template = SamTemplate.load(stage)
    assert template.stage == stage
    for kind in {resource["Type"] for resource in template.cloudformation["Resources"].values()}:
        assert "Fn::" not in json.dumps(template.resources(kind))


def test_the_daily_quota_is_enough_for_a_training_run(template: SamTemplate) -> None:
    assert template.key_quota.limit > 1_297_974


def test_the_usage_plan_covers_the_stage_and_the_template_creates_no_key(template: SamTemplate) -> None:
    [plan] = template.resources("AWS::ApiGateway::UsagePlan").values()
    assert plan["ApiStages"] == [{"ApiId": "Api", "Stage": "ApiStage"}]
    assert not template.resources("AWS::ApiGateway::ApiKey")


# functions and their permissions


def test_functions_are_small_and_on_arm(template: SamTemplate) -> None:
    functions = template.resources("AWS::Lambda::Function")
    assert set(functions) == {"PublicFunction", "ReadFunction", "ScoringFunction", "BoardFunction"}
    for name, function in functions.items():
        assert function["Runtime"] == "python3.13"
        assert function["Architectures"] == ["arm64"]
        assert function["MemorySize"] == 512
        assert function["Role"] == f"{name.removesuffix('Function')}Role.Arn"
        assert function["TracingConfig"] == {"Mode": "Active"}
        assert function["Environment"]["Variables"]["BANDITMT_STORE"] == "dynamodb:us-east-1?prefix=banditmt"


def test_roles_have_exactly_these_permissions(template: SamTemplate) -> None:
    def logging_and_tracing(log: str) -> set[tuple[str, str]]:
        return {
            ("logs:CreateLogStream", f"{log}.Arn"),
            ("logs:PutLogEvents", f"{log}.Arn"),
            ("xray:PutTraceSegments", "*"),
            ("xray:PutTelemetryRecords", "*"),
        }

    assert set(template.resources("AWS::IAM::Role")) == {"PublicRole", "ReadRole", "ScoringRole", "BoardRole"}
    assert granted(template, "PublicRole") == logging_and_tracing("PublicLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:Query", "TaskTable.Arn"),
    }
    assert granted(template, "ReadRole") == logging_and_tracing("ReadLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:Query", "TaskTable.Arn"),
        ("dynamodb:PutItem", "TaskTable.Arn"),
        ("dynamodb:Query", "LedgerTable.Arn"),
        ("dynamodb:PutItem", "LedgerTable.Arn"),
    }
    assert granted(template, "ScoringRole") == logging_and_tracing("ScoringLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:GetItem", "ReferencesTable.Arn"),
        ("dynamodb:GetItem", "LedgerTable.Arn"),
        ("dynamodb:PutItem", "LedgerTable.Arn"),
    }
    assert granted(template, "BoardRole") == logging_and_tracing("BoardLog") | {
        ("dynamodb:GetItem", "TaskTable.Arn"),
        ("dynamodb:PutItem", "TaskTable.Arn"),
        ("dynamodb:Query", "LedgerTable.Arn"),
        ("dynamodb:DescribeStream", "LedgerTable.StreamArn"),
        ("dynamodb:GetRecords", "LedgerTable.StreamArn"),
        ("dynamodb:GetShardIterator", "LedgerTable.StreamArn"),
        ("dynamodb:ListStreams", "LedgerTable.StreamArn"),
        ("sqs:SendMessage", "BoardFailures.Arn"),
    }


def test_statements_have_one_action_and_no_wildcards(template: SamTemplate) -> None:
    for role, statement in statements(template):
        assert isinstance(statement["Action"], str), role
        assert "*" not in statement["Action"], role
        if not statement["Action"].startswith("xray:"):  # X-Ray has no resources
            assert "*" not in statement["Resource"], role


def test_only_the_scoring_function_can_read_references(template: SamTemplate) -> None:
    readers = {name for name, statement in statements(template) if "References" in json.dumps(statement)}
    assert readers == {"ScoringRole"}


def test_writes_to_the_task_table_are_limited_by_partition_key(template: SamTemplate) -> None:
    leading_keys = {
        name: statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for name, statement in statements(template)
        if (statement["Action"], statement["Resource"]) == ("dynamodb:PutItem", "TaskTable.Arn")
    }
    assert leading_keys == {"ReadRole": ["run/*"], "BoardRole": ["board/*"]}


def test_no_role_can_list_keys_participants_or_blocks(template: SamTemplate) -> None:
    leading_keys = {
        (name, statement["Action"]): statement["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
        for name, statement in statements(template)
        if statement["Resource"] == "TaskTable.Arn" and statement["Action"] != "dynamodb:PutItem"
    }
    readable = ["key", "participant", "phase", "ring", "block/*"]
    assert leading_keys == {
        ("PublicRole", "dynamodb:GetItem"): ["key", "participant", "phase", "task"],
        ("PublicRole", "dynamodb:Query"): ["phase", "role", "team", "system", "run/*", "board/*", "withdrawal/*"],
        ("ReadRole", "dynamodb:GetItem"): readable,
        ("ReadRole", "dynamodb:Query"): ["phase", "run/*"],
        ("ScoringRole", "dynamodb:GetItem"): readable,
        ("BoardRole", "dynamodb:GetItem"): ["board/*", "phase"],
    }


def test_conditions_on_keys_do_not_hold_of_requests_without_keys(template: SamTemplate) -> None:
    conditions = [statement["Condition"] for _, statement in statements(template) if "Condition" in statement]
    assert len(conditions) == 8
    for condition in conditions:
        assert condition["Null"] == {"dynamodb:LeadingKeys": "false"}


def test_the_function_of_anonymous_pages_writes_nothing_and_reads_no_token_keys(template: SamTemplate) -> None:
    public = [statement for role, statement in statements(template) if role == "PublicRole"]
    assert not [each for each in public if each["Action"] == "dynamodb:PutItem" or "Ledger" in each["Resource"]]
    assert '"ring"' not in json.dumps(public)
    functions = {route.function for route in template.routes if not route.key_required}
    assert functions == {"PublicFunction"}


def test_visitors_cannot_use_up_the_concurrency_of_scoring(template: SamTemplate) -> None:
    functions = template.resources("AWS::Lambda::Function")
    reserved = {name: function.get("ReservedConcurrentExecutions") for name, function in functions.items()}
    assert {name: number for name, number in reserved.items() if number} == {"ScoringFunction": 100}


def test_only_the_scoring_function_has_the_ledger_key(template: SamTemplate) -> None:
    functions = template.resources("AWS::Lambda::Function")
    holders = [name for name, each in functions.items() if "BANDITMT_LEDGER_KEY" in each["Environment"]["Variables"]]
    assert holders == ["ScoringFunction"]


def test_only_lambda_can_assume_the_roles_and_they_have_no_managed_policies(template: SamTemplate) -> None:
    for role in template.resources("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role
        [trust] = role["AssumeRolePolicyDocument"]["Statement"]
        assert trust == {
            "Effect": "Allow",
            "Principal": {"Service": "lambda.amazonaws.com"},
            "Action": "sts:AssumeRole",
        }


# tables and the stream


def test_tables_are_encrypted_recoverable_and_protected_from_deletion(template: SamTemplate) -> None:
    tables = template.resources("AWS::DynamoDB::Table")
    assert set(tables) == {"TaskTable", "ReferencesTable", "LedgerTable"}
    for name, table in tables.items():
        assert table["BillingMode"] == "PAY_PER_REQUEST"
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
        assert table["SSESpecification"] == {"SSEEnabled": True, "SSEType": "KMS"}
        assert table["DeletionProtectionEnabled"] is True
        resource = template.cloudformation["Resources"][name]
        assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_the_stream_of_the_ledger_feeds_the_leaderboard_and_failures_go_to_a_queue(template: SamTemplate) -> None:
    [mapping] = template.resources("AWS::Lambda::EventSourceMapping").values()
    assert mapping["FunctionName"] == "BoardFunction"
    assert mapping["EventSourceArn"] == "LedgerTable.StreamArn"
    assert mapping["DestinationConfig"] == {"OnFailure": {"Destination": "BoardFailures.Arn"}}
    assert mapping["MaximumRetryAttempts"] == 5
    assert mapping["MaximumBatchingWindowInSeconds"] == 60  # docs/cost.md assumes it
    assert mapping["BisectBatchOnFunctionError"] is True
    [queue] = template.resources("AWS::SQS::Queue").values()
    assert queue == {"MessageRetentionPeriod": 1_209_600, "SqsManagedSseEnabled": True}


# monitoring


def test_every_function_has_its_own_log_and_logs_expire(template: SamTemplate) -> None:
    logs = template.resources("AWS::Logs::LogGroup")
    assert set(logs) == {"PublicLog", "ReadLog", "ScoringLog", "BoardLog", "AccessLog"}
    assert {log["RetentionInDays"] for log in logs.values()} == {90}
    for name, function in template.resources("AWS::Lambda::Function").items():
        assert function["LoggingConfig"] == {"LogGroup": f"{name.removesuffix('Function')}Log"}


def test_alarms_monitor_errors_latency_throttling_and_the_stream(template: SamTemplate) -> None:
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


def test_the_dashboard_is_json_and_shows_every_alarm(template: SamTemplate) -> None:
    [dashboard] = template.resources("AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["DashboardBody"])["widgets"]
    [alarms] = [widget["properties"]["alarms"] for widget in widgets if widget["type"] == "alarm"]
    assert set(alarms) == {f"{name}.Arn" for name in template.resources("AWS::CloudWatch::Alarm")}


def test_the_budget_warns_about_actual_and_forecast_cost(template: SamTemplate) -> None:
    [budget] = template.resources("AWS::Budgets::Budget").values()
    kinds = {entry["Notification"]["NotificationType"] for entry in budget["NotificationsWithSubscribers"]}
    assert kinds == {"ACTUAL", "FORECASTED"}


def test_only_this_account_can_publish_alarms(template: SamTemplate) -> None:
    [policy] = template.resources("AWS::SNS::TopicPolicy").values()
    [statement] = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "sns:Publish"
    assert statement["Condition"] == {"StringEquals": {"aws:SourceAccount": "123456789012"}}


def test_without_an_address_there_is_no_subscription(template: SamTemplate) -> None:
    assert template.resources("AWS::SNS::Subscription") == {}


def test_one_request_in_a_thousand_is_traced(template: SamTemplate) -> None:
    [rule] = template.resources("AWS::XRay::SamplingRule").values()
    assert (rule["SamplingRule"]["ReservoirSize"], rule["SamplingRule"]["FixedRate"]) == (0, 0.001)
    assert rule["SamplingRule"]["ServiceName"] == "banditmt/prod"  # as API Gateway names itself: API, stage


# reading templates


def test_the_template_has_no_yaml_aliases_because_cloudformation_does_not_support_them() -> None:
    text = (Path(__file__).parents[3] / "template.yaml").read_text(encoding="utf-8")
    assert not re.search(r"[:\-\[,]\s+[&*][A-Za-z]", text)


def test_every_library_of_the_bundle_is_pinned() -> None:
    root = Path(__file__).parents[3]

    def names(file: str) -> set[str]:
        lines = (root / file).read_text(encoding="utf-8").splitlines()
        return {re.split(r"[=\s]", line)[0].lower().replace("_", "-") for line in lines if re.match(r"\w", line)}

    bundled = names("lambdas/requirements.txt")
    assert bundled == {
        "aws-lambda-powertools",
        "jmespath",
        "stopwordsiso",
        "typing-extensions",
    }
    assert bundled <= names("requirements.lock")


def test_an_unknown_stage_is_refused() -> None:
    with pytest.raises(TemplateError, match="no stage 'live'; it has local, dev, prod"):
        SamTemplate.load("live")


def test_a_missing_template_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match="run banditmt from a checkout"):
        SamTemplate.load(path=tmp_path / "template.yaml")


def test_an_error_of_the_translator_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(
        "Transform: AWS::Serverless-2016-10-31\n"
        "Parameters: {Stage: {Type: String, AllowedValues: [local]}}\n"
        "Globals: {Function: {Runtime: python3.13}}\n"
        "Resources: {F: {Type: 'AWS::Serverless::Function', Properties: {Events: 1}}}\n"
    )
    with pytest.raises(TemplateError, match=r"^[^\n]*\[F\][^\n]*$"):
        SamTemplate.load(path=path)

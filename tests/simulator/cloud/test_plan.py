"""Enrolling keys at API Gateway, with its answers played back."""

from collections.abc import Iterator

import boto3
import pytest
from botocore.stub import Stubber

from simulator.cloud.plan import UsagePlan
from simulator.errors import PlanError

KEY = "bmt_" + "k" * 43
SHORT = "423d340b"  # how its SHA-256 begins
NAME = f"plan1/ada/{SHORT}"
JOIN = {"usagePlanId": "plan1", "keyId": "key1", "keyType": "API_KEY"}


@pytest.fixture
def gateway() -> Iterator[Stubber]:
    client = boto3.client("apigateway", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def expect_search(gateway: Stubber, prefix: str, found: list[dict[str, str]]) -> None:
    gateway.add_response("get_api_keys", {"items": found}, {"nameQuery": prefix, "includeValues": False})


def test_a_new_key_is_made_and_joins_the_plan(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [])
    gateway.add_response("create_api_key", {"id": "key1"}, {"name": NAME, "value": KEY, "enabled": True})
    gateway.add_response("create_usage_plan_key", {}, JOIN)
    UsagePlan("plan1", gateway.client).enrol("ada", KEY)


def test_enrolling_again_changes_nothing(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [{"id": "key1", "name": NAME}])
    gateway.add_client_error("create_usage_plan_key", "ConflictException", http_status_code=409, expected_params=JOIN)
    UsagePlan("plan1", gateway.client).enrol("ada", KEY)


def test_a_key_that_cannot_join_is_not_left_behind(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [])
    gateway.add_response("create_api_key", {"id": "key1"})
    gateway.add_client_error("create_usage_plan_key", "NotFoundException", "no such plan", 404)
    gateway.add_response("delete_api_key", {}, {"apiKey": "key1"})
    with pytest.raises(PlanError, match=r"did not take the key of ada: .*no such plan") as refused:
        UsagePlan("plan1", gateway.client).enrol("ada", KEY)
    assert KEY not in str(refused.value)


def test_a_participants_keys_are_withdrawn_and_nobody_elses(gateway: Stubber) -> None:
    mine = [{"id": "key1", "name": NAME}, {"id": "key2", "name": "plan1/ada/00000000"}]
    expect_search(gateway, "plan1/ada/", [*mine, {"id": "key3", "name": "plan1/adam/11111111"}])
    gateway.add_response("delete_api_key", {}, {"apiKey": "key1"})
    gateway.add_response("delete_api_key", {}, {"apiKey": "key2"})
    assert UsagePlan("plan1", gateway.client).withdraw("ada") == 2


def test_one_key_can_be_withdrawn_alone(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [{"id": "key1", "name": NAME}])
    gateway.add_response("delete_api_key", {}, {"apiKey": "key1"})
    assert UsagePlan("plan1", gateway.client).withdraw("ada", SHORT) == 1


def test_what_cannot_be_withdrawn_is_said(gateway: Stubber) -> None:
    gateway.add_client_error("get_api_keys", "AccessDeniedException", "not allowed", 403)
    with pytest.raises(PlanError, match=r"did not give up the keys of ada: .*not allowed"):
        UsagePlan("plan1", gateway.client).withdraw("ada")


def test_only_keys_of_ours_are_enrolled(gateway: Stubber) -> None:
    with pytest.raises(PlanError, match="not an API key of banditmt"):
        UsagePlan("plan1", gateway.client).enrol("ada", "password")


def test_a_plan_is_opened_by_region() -> None:
    assert isinstance(UsagePlan.open("plan1", "eu-central-1"), UsagePlan)

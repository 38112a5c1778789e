"""Adding keys to a usage plan of API Gateway and removing them, with stubbed responses."""

from collections.abc import Iterator

import boto3
import pytest
from botocore.stub import Stubber

from simulator.aws.usage_plan import UsagePlan
from simulator.errors import UsagePlanError

KEY = "bmt_" + "k" * 43
PREFIX = "423d340b"  # of its SHA-256
NAME = f"plan1/ada/{PREFIX}"
PLAN_KEY = {"usagePlanId": "plan1", "keyId": "key1", "keyType": "API_KEY"}


@pytest.fixture
def gateway() -> Iterator[Stubber]:
    client = boto3.client("apigateway", region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test")
    with Stubber(client) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


def expect_search(gateway: Stubber, prefix: str, found: list[dict[str, str]]) -> None:
    gateway.add_response("get_api_keys", {"items": found}, {"nameQuery": prefix, "includeValues": False})


def test_a_new_key_is_created_and_added_to_the_plan(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [])
    gateway.add_response("create_api_key", {"id": "key1"}, {"name": NAME, "value": KEY, "enabled": True})
    gateway.add_response("create_usage_plan_key", {}, PLAN_KEY)
    UsagePlan("plan1", gateway.client).add_key("ada", KEY)


def test_adding_a_key_again_changes_nothing(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [{"id": "key1", "name": NAME}])
    gateway.add_client_error(
        "create_usage_plan_key", "ConflictException", http_status_code=409, expected_params=PLAN_KEY
    )
    UsagePlan("plan1", gateway.client).add_key("ada", KEY)


def test_a_key_that_cannot_be_added_to_the_plan_is_deleted(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [])
    gateway.add_response("create_api_key", {"id": "key1"})
    gateway.add_client_error("create_usage_plan_key", "NotFoundException", "no such plan", 404)
    gateway.add_response("delete_api_key", {}, {"apiKey": "key1"})
    with pytest.raises(UsagePlanError, match=r"did not accept the key of ada: .*no such plan") as raised:
        UsagePlan("plan1", gateway.client).add_key("ada", KEY)
    assert KEY not in str(raised.value)


def test_only_the_keys_of_the_participant_are_removed(gateway: Stubber) -> None:
    mine = [{"id": "key1", "name": NAME}, {"id": "key2", "name": "plan1/ada/00000000"}]
    expect_search(gateway, "plan1/ada/", [*mine, {"id": "key3", "name": "plan1/adam/11111111"}])
    gateway.add_response("delete_api_key", {}, {"apiKey": "key1"})
    gateway.add_response("delete_api_key", {}, {"apiKey": "key2"})
    assert UsagePlan("plan1", gateway.client).remove_keys("ada") == 2


def test_one_key_can_be_removed(gateway: Stubber) -> None:
    expect_search(gateway, NAME, [{"id": "key1", "name": NAME}])
    gateway.add_response("delete_api_key", {}, {"apiKey": "key1"})
    assert UsagePlan("plan1", gateway.client).remove_keys("ada", PREFIX) == 1


def test_a_failure_to_remove_keys_is_an_error(gateway: Stubber) -> None:
    gateway.add_client_error("get_api_keys", "AccessDeniedException", "not allowed", 403)
    with pytest.raises(UsagePlanError, match=r"did not remove the keys of ada: .*not allowed"):
        UsagePlan("plan1", gateway.client).remove_keys("ada")


def test_only_keys_of_banditmt_are_accepted(gateway: Stubber) -> None:
    with pytest.raises(UsagePlanError, match="not an API key of banditmt"):
        UsagePlan("plan1", gateway.client).add_key("ada", "password")


def test_a_plan_is_opened_in_a_region() -> None:
    assert isinstance(UsagePlan.open("plan1", "eu-central-1"), UsagePlan)

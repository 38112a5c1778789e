"""Participants' keys at API Gateway, where a key opens nothing before it belongs to the template's usage plan.

The service knows a key by its hash and decides whose it is; API Gateway has to be given the key itself, because it
meters every request by it. So a key that is handed out in the cloud is enrolled here as well, and one that is revoked
is withdrawn: the gateway then refuses it before any function is called.
"""

import contextlib
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from lambdas.registry import api_key_digest
from simulator.errors import PlanError


class UsagePlan:
    """The usage plan of a deployed stack: the output ``UsagePlan`` of the template."""

    def __init__(self, plan: str, client: Any) -> None:
        self._plan, self._client = plan, client

    @classmethod
    def open(cls, plan: str, region: str) -> "UsagePlan":
        return cls(plan, boto3.client("apigateway", region_name=region))

    def enrol(self, participant: str, api_key: str) -> None:
        """Let a key in, under the plan's limits. Enrolling it again changes nothing."""
        name = self._name(participant, _short(api_key))
        try:
            known = self._find(name)
            key = known or self._client.create_api_key(name=name, value=api_key, enabled=True)["id"]
            self._join(key, created=known is None)
        except (BotoCoreError, ClientError) as failure:
            raise PlanError(f"API Gateway did not take the key of {participant}: {failure}") from failure

    def withdraw(self, participant: str, short: str | None = None) -> int:
        """Keep out a participant's keys, or the one whose hash begins so; tell how many there were."""
        try:
            found = self._keys(self._name(participant, short or ""))
            for key in found:
                self._client.delete_api_key(apiKey=key["id"])
        except (BotoCoreError, ClientError) as failure:
            raise PlanError(f"API Gateway did not give up the keys of {participant}: {failure}") from failure
        return len(found)

    def _join(self, key: str, *, created: bool) -> None:
        try:
            self._client.create_usage_plan_key(usagePlanId=self._plan, keyId=key, keyType="API_KEY")
        except self._client.exceptions.ConflictException:
            pass  # it is in the plan
        except ClientError:
            if created:  # a key outside any plan would be forgotten there
                with contextlib.suppress(ClientError):
                    self._client.delete_api_key(apiKey=key)
            raise

    def _find(self, name: str) -> str | None:
        return next((key["id"] for key in self._keys(name) if key["name"] == name), None)

    def _keys(self, prefix: str) -> list[dict[str, Any]]:
        pages = self._client.get_paginator("get_api_keys").paginate(nameQuery=prefix, includeValues=False)
        return [key for page in pages for key in page["items"] if key["name"].startswith(prefix)]

    def _name(self, participant: str, short: str) -> str:
        return f"{self._plan}/{participant}/{short}"  # no participant's name has a slash in it


def _short(api_key: str) -> str:
    digest = api_key_digest(api_key)
    if digest is None:
        raise PlanError("this is not an API key of banditmt")
    return digest[:8]

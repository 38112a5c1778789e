"""Participants' API keys in the usage plan of a deployed stack.

The service knows a key by its hash and decides which participant it belongs to. API Gateway throttles every request by
its key, so it needs the key itself, and rejects a key that is not in the usage plan. So a key that is issued in the
cloud is added here too, and a revoked key is removed: API Gateway then rejects it before it calls any function.
"""

import contextlib
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from lambdas.registry import api_key_digest
from simulator.errors import UsagePlanError


class UsagePlan:
    """The usage plan of a deployed stack: the output ``UsagePlan`` of the template."""

    def __init__(self, plan_id: str, client: Any) -> None:
        self._plan_id, self._client = plan_id, client

    @classmethod
    def open(cls, plan_id: str, region: str) -> "UsagePlan":
        return cls(plan_id, boto3.client("apigateway", region_name=region))

    def add_key(self, participant: str, api_key: str) -> None:
        """Add a key to the plan, so that API Gateway accepts it under the plan's limits. Idempotent."""
        name = self._key_name(participant, _key_prefix(api_key))
        try:
            known = self._find(name)
            key_id = known or self._client.create_api_key(name=name, value=api_key, enabled=True)["id"]
            self._add_to_plan(key_id, created=known is None)
        except (BotoCoreError, ClientError) as failure:
            raise UsagePlanError(f"API Gateway did not accept the key of {participant}: {failure}") from failure

    def remove_keys(self, participant: str, prefix: str | None = None) -> int:
        """Remove a participant's keys, or only the key whose hash starts with ``prefix``; return their number."""
        try:
            keys = self._keys(self._key_name(participant, prefix or ""))
            for key in keys:
                self._client.delete_api_key(apiKey=key["id"])
        except (BotoCoreError, ClientError) as failure:
            raise UsagePlanError(f"API Gateway did not remove the keys of {participant}: {failure}") from failure
        return len(keys)

    def _add_to_plan(self, key_id: str, *, created: bool) -> None:
        try:
            self._client.create_usage_plan_key(usagePlanId=self._plan_id, keyId=key_id, keyType="API_KEY")
        except self._client.exceptions.ConflictException:
            pass  # it is in the plan already
        except ClientError:
            if created:  # do not leave behind a key without a plan, which would go unnoticed
                with contextlib.suppress(ClientError):
                    self._client.delete_api_key(apiKey=key_id)
            raise

    def _find(self, name: str) -> str | None:
        return next((key["id"] for key in self._keys(name) if key["name"] == name), None)

    def _keys(self, prefix: str) -> list[dict[str, Any]]:
        pages = self._client.get_paginator("get_api_keys").paginate(nameQuery=prefix, includeValues=False)
        return [key for page in pages for key in page["items"] if key["name"].startswith(prefix)]

    def _key_name(self, participant: str, prefix: str) -> str:
        return f"{self._plan_id}/{participant}/{prefix}"  # unambiguous: the name of a participant has no slash


def _key_prefix(api_key: str) -> str:
    """Return the first characters of the key's hash, by which the registry names it."""
    digest = api_key_digest(api_key)
    if digest is None:
        raise UsagePlanError("this is not an API key of banditmt")
    return digest[:8]

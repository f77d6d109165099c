"""Waiting for delegation tokens: a broker learns of them after the controller has answered."""

from typing import Any

from ...rig.client import Client
from .steps import Step
from .waiting import until


def settle(client: Client, step: Step, fields: dict[str, Any], answer: Any) -> bool:
    """Whether the broker of that client, who has logged in, knows what was changed."""
    if not step.api.endswith("_delegation_token") or not isinstance(answer, dict) or step.mutations:
        return True
    changes = step.api != "describe_delegation_token" and answer.get("error_code") == "NONE"
    return not changes or until(lambda: _is_known(client, fields, answer))


def _is_known(client: Client, fields: dict[str, Any], answer: dict[str, Any]) -> bool:
    tokens = client.call("describe_delegation_token", 1, {"owners": None})["tokens"]
    if "token_id" in answer:
        return any(each["token_id"] == answer["token_id"] for each in tokens)
    found = [each for each in tokens if each["hmac"] == fields["hmac"]]
    return all(each["expiry_timestamp"] == answer["expiry_timestamp"] for each in found)

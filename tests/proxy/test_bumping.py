"""`epoch-bump`, decided in the proxy; a mock is the cluster behind it."""

from typing import Any

import pytest

from mockbroker.protocol.answers import answer_codec
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from mockbroker.rig.client import Client

from .between import Between, behind, taken

FENCED = "PRODUCER_FENCED"


def initialized(client: Client, producer_id: int = -1, epoch: int = -1) -> dict[str, Any]:
    asked = {"transactional_id": "t", "transaction_timeout": 60_000}
    return client.call("init_producer_id", 4, {**asked, "producer_id": producer_id, "producer_epoch": epoch})


@pytest.mark.parametrize(
    ("policies", "error", "epoch"),
    [
        ({}, FENCED, -1),
        ({"epoch-bump": "on-request"}, FENCED, -1),
        ({"epoch-bump": "by-new-instance"}, "NONE", 2),
    ],
    ids=["none", "on-request", "by-new-instance"],
)
def test_a_producer_that_was_replaced_asks_for_another_epoch(
    policies: dict[str, Any], error: str, epoch: int
) -> None:
    with behind(policies) as (_, client):
        client.call("find_coordinator", 4, {"key_type": 1, "coordinator_keys": ["t"]})
        first, second = initialized(client), initialized(client)
        assert (first["producer_epoch"], second["producer_epoch"]) == (0, 1)
        found = initialized(client, first["producer_id"], first["producer_epoch"])
        assert (found["error_code"], found["producer_epoch"]) == (error, epoch)


@pytest.mark.parametrize(
    ("policies", "level"), [({}, 2), ({"epoch-bump": "on-request"}, 1)], ids=["none", "chosen"]
)
def test_clients_are_not_told_that_the_end_of_a_transaction_bumps(
    policies: dict[str, Any], level: int
) -> None:
    with behind(policies) as (_, client):
        software = {"client_software_name": "c", "client_software_version": "1"}
        features = client.call("api_versions", 3, software)["finalized_features"]
        assert [each["max_version_level"] for each in features if each["name"] == "transaction.version"] == [
            level
        ]


def test_versions_that_a_broker_does_not_know_are_told_in_its_words() -> None:
    between = Between(policies={"epoch-bump": "on-request"})
    between.ask("api_versions", 4, client_software_name="c", client_software_version="1")
    versions = [ApiVersion(ApiKey.API_VERSIONS, 0, 3)]
    answer = ApiVersionsResponse(ErrorCode.UNSUPPORTED_VERSION, versions)
    frame = answer_codec(ApiKey.API_VERSIONS, 0).encode(7, answer)
    between.session.from_broker(frame)
    assert taken(between.session.to_client) == frame

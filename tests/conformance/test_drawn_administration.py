"""Random sequences of what administrators and agents ask for: the cluster, metrics of clients, tokens."""

import pytest

from mockbroker.conformance.differential.connecting import mock
from mockbroker.conformance.differential.generating import sequence
from mockbroker.conformance.differential.generating.cluster import CLIENT_METRICS
from mockbroker.conformance.differential.generating.drawing import NEEDS
from mockbroker.conformance.differential.running import Pair
from mockbroker.conformance.differential.steps import NOTHING
from mockbroker.conformance.differential.token_binding import TokenBindings
from mockbroker.protocol.api_keys import CODEC_VERSIONS

VERSIONS = {key.name.lower(): list(range(low, high + 1)) for key, (low, high) in CODEC_VERSIONS.items()}


@pytest.mark.parametrize("family", ["cluster", "telemetry"])
def test_clusters_that_draw_other_ids_are_alike(family: str) -> None:
    needs = NEEDS.get(family, NOTHING)
    with mock("4.4.0", 1, needs) as other, Pair("4.4.0", other.bootstrap_servers, needs=needs) as pair:
        for number in range(3):
            assert pair.difference(sequence(3, number, pair.versions, family=family)) is None


def test_features_are_only_changed_on_trial() -> None:
    """Other sequences go on with the same brokers."""
    asked: list[bool] = []
    for number in range(200):
        for step in sequence(5, number, VERSIONS, family="cluster").steps:
            if step.api == "update_features" and not step.fields["validate_only"]:
                levels = {each["max_version_level"] for each in step.fields["feature_updates"]}
                asked.append(bool(levels))
                assert levels <= {99, 32_767, -1, -32_768}
            elif step.api == "unregister_broker":
                assert step.fields["broker_id"] != 1
    assert any(asked)


def test_each_subscription_is_for_the_clients_of_its_sequence() -> None:
    found = set()
    for number in range(200):
        drawn = sequence(5, number, VERSIONS, family="telemetry")
        assert drawn.client_id == "pushing~"
        for step in drawn.steps:
            if step.api in ("alter_configs", "incremental_alter_configs"):
                (resource,) = step.fields["resources"]
                values = {each["name"]: each["value"] for each in resource["configs"]}
                if resource["resource_type"] == CLIENT_METRICS:
                    found.add(values["match"])
    assert len(found) > 5
    assert all(each is None or "~" in each for each in found)


def test_tokens_and_their_times_are_shown_by_number_and_hour() -> None:
    bound = TokenBindings()
    times = {"issue_timestamp": 1_000, "expiry_timestamp": 7_201_500, "max_timestamp": 0}
    made = {"error_code": "NONE", "token_id": "a", "hmac": b"secret", **times}
    bound.learn(3, made)
    assert bound.hmac(3) == b"secret"
    shown: dict[str, object] = {"error_code": "NONE", "token_id": "<token 3>", "hmac": "<6 bytes>"}
    shown |= {"issue_timestamp": "<in 0 h>", "expiry_timestamp": "<in 2 h>", "max_timestamp": 0}
    assert bound.shown(made, 1_000) == shown
    assert bound.shown({"tokens": [{**made, "token_id": "b"}, made]}, 1_000) == {"tokens": [shown]}

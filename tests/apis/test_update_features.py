"""UpdateFeatures, as far as recorded answers don't say: what follows, and brokers that hear of it late."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.controller.features import SAFE_DOWNGRADE, UPGRADE
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from mockbroker.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

from ..driving.cluster import a_cluster, ask

ELIGIBLE = "eligible.leader.replicas.version"


def update(
    cluster: Cluster, feature: str, level: int, how: int = UPGRADE, broker: int = 1
) -> UpdateFeaturesResponse:
    asked = FeatureUpdateKey(feature, level, allow_downgrade=how != UPGRADE, upgrade_type=how)
    answer = ask(cluster, UpdateFeaturesRequest(feature_updates=[asked]), broker=broker).response
    assert isinstance(answer, UpdateFeaturesResponse)
    return answer


def versions(cluster: Cluster, broker: int) -> ApiVersionsResponse:
    answer = ask(cluster, ApiVersionsRequest("test", "1"), broker=broker).response
    assert isinstance(answer, ApiVersionsResponse)
    return answer


def level(answer: ApiVersionsResponse, feature: str) -> int:
    """0 if it is left out."""
    return next((each.max_version_level for each in answer.finalized_features if each.name == feature), 0)


def test_a_broker_whose_metadata_is_slow_tells_the_level_that_it_knows(cluster: Cluster) -> None:
    cluster.slow_metadata(3, 500)
    assert update(cluster, "group.version", 0, SAFE_DOWNGRADE).error_code == ErrorCode.NONE
    fast, slow = versions(cluster, 2), versions(cluster, 3)
    assert (level(fast, "group.version"), level(slow, "group.version")) == (0, 1)
    assert fast.finalized_features_epoch > slow.finalized_features_epoch
    cluster.advance(cluster.now_ms + 500)
    assert versions(cluster, 3) == fast


def kept(cluster: Cluster) -> tuple[list[int], list[int]]:
    """The ISR, and eligible replicas, of a partition all of whose brokers have stopped one by one."""
    topic = cluster.create_topic("t", [[1, 2]])
    cluster.processes.stop(1)
    cluster.processes.stop(2)
    registered = topic.partitions[0].registered
    return list(registered.isr), list(registered.eligible_leader_replicas)


@pytest.mark.parametrize(("release", "tracks"), [("4.0", False), ("4.4", True)])
def test_eligible_leader_replicas_come_and_go_with_their_feature(release: str, tracks: bool) -> None:
    assert kept(a_cluster(release)) == (([], [2]) if tracks else ([2], []))
    cluster = a_cluster(release)
    answer = update(cluster, ELIGIBLE, int(not tracks), SAFE_DOWNGRADE if tracks else UPGRADE)
    assert answer.error_code == ErrorCode.NONE
    assert kept(cluster) == (([2], []) if tracks else ([], [2]))


def test_min_insync_replicas_is_the_clusters_once_the_feature_is_on() -> None:
    name = "min.insync.replicas"
    cluster = a_cluster("4.0", min_insync_replicas=2)
    configs = cluster.configs
    configs.per_broker[1] = {name: "3"}
    assert update(cluster, ELIGIBLE, 1).error_code == ErrorCode.NONE
    assert (configs.per_broker[1], configs.cluster_wide) == ({}, {name: "2"})


def test_brokers_with_zookeeper_have_no_features() -> None:
    """By `KafkaController.validateFeatureUpdate`."""
    cluster = a_cluster("2.8")
    cases = {
        ("", 1): "Feature name can not be empty.",
        (
            "group.version",
            1,
        ): "Could not apply finalized feature update because the provided feature is not supported.",
        ("metadata.version", 0): "Can not provide maxVersionLevel: 0 less than 1 without setting the "
        "allowDowngrade flag to true in the request.",
    }
    for (feature, wanted), message in cases.items():
        (result,) = update(cluster, feature, wanted).results
        assert (result.error_code, result.error_message) == (ErrorCode.INVALID_REQUEST, message)
    (result,) = update(cluster, "group.version", 0, SAFE_DOWNGRADE).results
    assert result.error_message == "Can not delete non-existing finalized feature."
    assert update(cluster, "group.version", 1, broker=2).error_code == ErrorCode.NOT_CONTROLLER
    assert versions(cluster, 1).finalized_features_epoch == -1

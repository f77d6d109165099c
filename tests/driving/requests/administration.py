"""Requests about the cluster itself, and what administrators do to it."""

from collections.abc import Iterator
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import (
    alter_replica_log_dirs,
    common,
    describe_quorum,
    unregister_broker,
    update_features,
)

from ..many import BIG, Many
from .about import about


@about(ApiKey.DESCRIBE_QUORUM)
def _describe_quorum(many: Many) -> Iterator[Any]:
    asked = [common.PartitionIndex(index) for index in range(many.n)]
    yield describe_quorum.DescribeQuorumRequest([describe_quorum.AskedTopic("__cluster_metadata", asked)])


@about(ApiKey.UPDATE_FEATURES)
def _update_features(many: Many) -> Iterator[Any]:
    updates = [update_features.FeatureUpdateKey(f"{index}.version", 0) for index in range(many.n)]
    yield update_features.UpdateFeaturesRequest(feature_updates=updates)


@about(ApiKey.ALTER_REPLICA_LOG_DIRS)
def _alter_replica_log_dirs(many: Many) -> Iterator[Any]:
    topics = [common.NamePartitions(BIG, list(range(many.n)))]
    yield alter_replica_log_dirs.AlterReplicaLogDirsRequest(
        [alter_replica_log_dirs.AlterReplicaLogDir("/tmp/kafka-logs", topics)]
    )


@about(ApiKey.UNREGISTER_BROKER)
def _unregister_broker(many: Many) -> Iterator[Any]:
    yield unregister_broker.UnregisterBrokerRequest(99)

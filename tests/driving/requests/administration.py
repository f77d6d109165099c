"""Requests about the cluster itself, and what administrators do to it."""

from collections.abc import Iterator
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import describe_quorum, update_features

from ..many import Many
from .about import about


@about(ApiKey.DESCRIBE_QUORUM)
def _describe_quorum(many: Many) -> Iterator[Any]:
    asked = [describe_quorum.AskedPartition(index) for index in range(many.n)]
    yield describe_quorum.DescribeQuorumRequest([describe_quorum.AskedTopic("__cluster_metadata", asked)])


@about(ApiKey.UPDATE_FEATURES)
def _update_features(many: Many) -> Iterator[Any]:
    updates = [update_features.FeatureUpdateKey(f"{index}.version", 0) for index in range(many.n)]
    yield update_features.UpdateFeaturesRequest(feature_updates=updates)

"""Requests about the cluster itself, and what administrators do to it."""

from collections.abc import Iterator
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import describe_quorum

from ..many import Many
from .about import about


@about(ApiKey.DESCRIBE_QUORUM)
def _describe_quorum(many: Many) -> Iterator[Any]:
    asked = [describe_quorum.AskedPartition(index) for index in range(many.n)]
    yield describe_quorum.DescribeQuorumRequest([describe_quorum.AskedTopic("__cluster_metadata", asked)])

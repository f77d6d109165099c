"""What share groups have in flight, as leaders know it, and coordinators where no leader has read it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cluster.sharing import led_share
from ..protocol.share_state_log import UNKNOWN, SharePartitionKey
from ..share_partitions.share_partition import SharePartition
from ..share_partitions.states import RecordState
from .values import SharedRecords, SharePartitionDescription

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..coordinators.share.group import ShareGroup
    from ..share_partitions.kept import ShareState


def in_flight(cluster: "Cluster", group: "ShareGroup") -> dict[tuple[str, int], SharePartitionDescription]:
    """By topic and partition, in order. Changes nothing in the cluster."""
    found = {}
    kept = _Kept(cluster)
    for topic_id, partitions in group.initialized.items():
        topic = cluster.topic_ids.get(topic_id)
        if topic is None:
            continue
        for index in partitions:
            key = SharePartitionKey(group.id, topic_id, index)
            start, records = _led(cluster, key) or kept.find(key)
            leader = cluster.partition(topic.name, index)
            high_watermark = 0 if leader is None else leader.log.high_watermark
            description = SharePartitionDescription(start, high_watermark, tuple(records))
            found[topic.name, index] = description
    return dict(sorted(found.items()))


def _led(cluster: "Cluster", key: SharePartitionKey) -> tuple[int, list[SharedRecords]] | None:
    led = led_share(cluster.brokers.values(), key)
    if led is None or led.share is None:
        return None
    return led.share.start_offset, list(_records(led.share))


def _records(share: SharePartition) -> Iterator[SharedRecords]:
    for first, last, each in share.parts():
        acquired = each.state is RecordState.ACQUIRED
        member, until_ms = (each.member, each.locked_until) if acquired else (None, None)
        yield SharedRecords(first, last, each.state.name.lower(), each.count, member, until_ms)


class _Kept:
    """What the logs of `__share_group_state` have, each read once."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._states: dict[int, dict[SharePartitionKey, ShareState]] = {}

    def find(self, key: SharePartitionKey) -> tuple[int | None, list[SharedRecords]]:
        state = self._state(key)
        if state is None:
            return None, []
        start = None if state.now.start_offset == UNKNOWN else state.now.start_offset
        return start, [
            SharedRecords(each.first, each.last, RecordState(each.state).name.lower(), each.deliveries)
            for each in state.now.batches
        ]

    def _state(self, key: SharePartitionKey) -> "ShareState | None":
        from ..coordinators.share.states import written

        if "__share_group_state" not in self._cluster.topics:
            return None
        partition = self._cluster.internal_topics.share_state_partition(key.coordinator_key)
        if partition.index not in self._states:
            longest = max(partition.hosted, key=lambda each: each.log.end_offset, default=None)
            self._states[partition.index] = {} if longest is None else written(longest)
        return self._states[partition.index].get(key)

"""A member of a share group, in memory."""

import uuid
from typing import Any

from mockbroker.cluster.cluster import Cluster
from mockbroker.coordinators.share.states import written
from mockbroker.protocol.errors import error_name
from mockbroker.protocol.messages import produce, share_acknowledge, share_fetch
from mockbroker.protocol.messages.of_share_groups import (
    AcknowledgedPartition,
    AcknowledgedTopic,
    AcknowledgementBatch,
)
from mockbroker.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from mockbroker.protocol.share_state_log import SharePartitionKey
from mockbroker.rig.batches import Record, batch
from mockbroker.share_partitions.kept import ShareState

from .cluster import ask, create

MEMBER = "memberAAAAAAAAAAAAAAAA"
CONFIG: dict[str, object] = {
    "group.share.assignment.interval.ms": 0,
    "offsets.topic.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
}
QUICK: dict[str, str] = {
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "100",
    "group.share.assignment.interval.ms": "0",
}
"""For clients: the first assignment comes at once."""
TOPICS = ("__consumer_offsets", "__share_group_state", "t")


class Reader:
    """A member of a share group, at whichever brokers lead."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.epoch = self.session = 0
        create(cluster, "t", 1, 3)
        cluster.configs.groups["g"] = {"share.auto.offset.reset": "earliest"}
        self.topic_id: uuid.UUID = cluster.topics["t"].id
        cluster.internal_topics.offsets_partition("g")
        for names in (["t"], None, None):
            assert self.beat(names).error_code == 0

    def leader(self, topic: str) -> int:
        return self.cluster.topics[topic].partitions[0].leader

    def ask(self, topic: str, request: Any) -> Any:
        """What the leader of the topic's first partition answers."""
        asked = ask(self.cluster, request, broker=self.leader(topic), answered=lambda *_: None)
        self.cluster.advance(self.cluster.now_ms + 2)
        return asked.response

    def beat(self, names: list[str] | None = None) -> Any:
        request = ShareGroupHeartbeatRequest("g", MEMBER, self.epoch, None, names)
        answer = self.ask(TOPICS[0], request)
        self.epoch = answer.member_epoch
        return answer

    def leave(self) -> None:
        self.epoch = -1
        assert self.beat().error_code == 0

    def state(self) -> ShareState | None:
        """What `__share_group_state` has."""
        key = SharePartitionKey("g", self.topic_id, 0)
        return written(self.cluster.topics[TOPICS[1]].partitions[0].hosted[0]).get(key)

    def wait(self) -> None:
        """For records, without an answer."""
        assert self._fetched(max_wait_ms=10_000) is None

    def _fetched(self, max_wait_ms: int = 1) -> Any:
        request = share_fetch.ShareFetchRequest(
            "g", MEMBER, self.session, max_wait_ms, 1, 1_000_000, max_records=500, batch_size=500
        )
        request.topics = [AcknowledgedTopic(self.topic_id, [AcknowledgedPartition(0)])]
        return self.ask("t", request)

    def error(self) -> str:
        """With which a fetch fails."""
        return error_name(self._fetched().error_code)

    def fetch(self, epoch: int | None = None) -> list[tuple[int, int, int]]:
        self.session = self.session if epoch is None else epoch
        answer = self._fetched()
        assert answer.error_code == 0
        self.session += 1
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for topic in answer.responses
            for part in topic.partitions
            for each in part.acquired_records
        ]

    def acknowledge(self, first: int, last: int, kind: int) -> None:
        said = AcknowledgementBatch(first, last, [kind])
        request = share_acknowledge.ShareAcknowledgeRequest("g", MEMBER, self.session)
        part = AcknowledgedPartition(0, [said])
        request.topics = [AcknowledgedTopic(self.topic_id, [part])]
        assert self.ask("t", request).responses[0].partitions[0].error_code == 0
        self.session += 1

    def write(self, count: int) -> None:
        request = produce.ProduceRequest(acks=1)
        part = produce.PartitionProduceData(0, batch([Record(timestamp=self.cluster.now_ms)] * count))
        request.topic_data = [produce.TopicProduceData(self.topic_id, [part])]
        assert self.ask("t", request).responses[0].partition_responses[0].error_code == 0

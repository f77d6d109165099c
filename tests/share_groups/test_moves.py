"""What share groups know survives if a coordinator or a leader moves, and locks end in the cluster's time."""

import uuid
from typing import Any

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.coordinators.share.group import ShareGroup
from mockbroker.protocol.messages import produce, share_acknowledge, share_fetch
from mockbroker.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from mockbroker.rig.batches import Record, batch

from ..driving.cluster import ask, configured, create

MEMBER = "memberAAAAAAAAAAAAAAAA"
CONFIG: dict[str, object] = {
    "group.share.assignment.interval.ms": 0,
    "offsets.topic.num.partitions": 1,
    "share.coordinator.state.topic.num.partitions": 1,
}
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

    def _ask(self, topic: str, request: Any) -> Any:
        asked = ask(self.cluster, request, broker=self.leader(topic), answered=lambda *_: None)
        self.cluster.advance(self.cluster.now_ms + 2)
        return asked.response

    def beat(self, names: list[str] | None = None) -> Any:
        request = ShareGroupHeartbeatRequest("g", MEMBER, self.epoch, None, names)
        answer = self._ask(TOPICS[0], request)
        self.epoch = answer.member_epoch
        return answer

    def fetch(self, epoch: int | None = None) -> list[tuple[int, int, int]]:
        self.session = self.session if epoch is None else epoch
        request = share_fetch.ShareFetchRequest(
            "g", MEMBER, self.session, 1, 1, 1_000_000, max_records=500, batch_size=500
        )
        request.topics = [share_fetch.FetchTopic(self.topic_id, [share_fetch.FetchPartition(0)])]
        answer = self._ask("t", request)
        assert answer.error_code == 0
        self.session += 1
        return [
            (each.first_offset, each.last_offset, each.delivery_count)
            for topic in answer.responses
            for part in topic.partitions
            for each in part.acquired_records
        ]

    def acknowledge(self, first: int, last: int, kind: int) -> None:
        said = share_acknowledge.AcknowledgementBatch(first, last, [kind])
        request = share_acknowledge.ShareAcknowledgeRequest("g", MEMBER, self.session)
        part = share_acknowledge.AcknowledgePartition(0, [said])
        request.topics = [share_acknowledge.AcknowledgeTopic(self.topic_id, [part])]
        assert self._ask("t", request).responses[0].partitions[0].error_code == 0
        self.session += 1

    def write(self, count: int) -> None:
        request = produce.ProduceRequest(acks=1)
        part = produce.PartitionProduceData(0, batch([Record(timestamp=self.cluster.now_ms)] * count))
        request.topic_data = [produce.TopicProduceData(self.topic_id, [part])]
        assert self._ask("t", request).responses[0].partition_responses[0].error_code == 0


@pytest.fixture
def reader() -> Reader:
    return Reader(configured("4.4", 3, None, CONFIG))


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_what_is_known_survives(reader: Reader, topic: str, how: str) -> None:
    reader.write(10)
    assert reader.fetch(0) == [(0, 9, 1)]
    reader.acknowledge(0, 3, 1)
    reader.acknowledge(4, 5, 2)
    cluster, before = reader.cluster, reader.leader(topic)
    members = cluster.brokers[reader.leader(TOPICS[0])].groups.groups["g"].members
    told = reader.beat()
    getattr(cluster.processes, how)(before)
    cluster.advance(cluster.now_ms + 40_000)
    assert reader.leader(topic) != before
    group = cluster.brokers[reader.leader(TOPICS[0])].groups.groups
    if topic == TOPICS[0]:
        loaded = group["g"]
        assert isinstance(loaded, ShareGroup)
        assert (loaded.epoch, loaded.state, loaded.members) == (told.member_epoch, "Stable", members)
        assert reader.beat().error_code == 0
    # Locks have ended meanwhile; what was acquired but never released was never written.
    assert [each[:2] for each in reader.fetch(0) or reader.fetch()] == [(4, 5), (6, 9)]


def test_locks_end_in_the_time_of_the_cluster(reader: Reader) -> None:
    reader.write(2)
    assert reader.fetch(0) == [(0, 1, 1)]
    reader.cluster.advance(reader.cluster.now_ms + 29_000)
    assert reader.fetch() == []
    reader.cluster.advance(reader.cluster.now_ms + 1_000)
    assert reader.fetch() == [(0, 1, 2)]

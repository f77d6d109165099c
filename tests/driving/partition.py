"""One partition of a topic `t`: producers, consumers and followers, with all that their requests may say."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mockbroker.cluster.replicas import describe
from mockbroker.cluster.topic import TopicPartition
from mockbroker.log.log import Log
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from mockbroker.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from mockbroker.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from mockbroker.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.record_batch import header_of
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import Record, batch

from .cluster import Asked, ClusterDriver, configured, dotted

LAG_MS: Final = 30_000
"""`replica.lag.time.max.ms` where a test sets none."""


class PartitionDriver(ClusterDriver):
    """`config` is that of the brokers in Kafka's names, `overrides` that of the topic, `_` for dots."""

    def __init__(
        self,
        kafka: str = "4.4",
        policies: Mapping[str, str] | None = None,
        *,
        brokers: int = 3,
        replicas: list[int] | None = None,
        config: Mapping[str, object] | None = None,
        racks: Mapping[int, str] | None = None,
        topic: str = "t",
        **overrides: object,
    ) -> None:
        super().__init__(configured(kafka, brokers, policies, config or {}, racks))
        self.topic = self.cluster.create_topic(
            topic, [replicas or list(self.cluster.brokers)], dotted(overrides)
        )
        self.partition = self.topic.partitions[0]

    def responsible(self) -> int:
        return self.partition.leader

    # -- producers

    def produce(
        self,
        content: int | Sequence[Record] | bytes = 1,
        *,
        acks: int = -1,
        timeout_ms: int = 60_000,
        broker: int | None = None,
        version: int = 9,
        producer_id: int = -1,
        epoch: int = 0,
        sequence: int = 0,
    ) -> Asked:
        """So many records, these, or these bytes. A producer with an id sends its first batch unless told."""
        if not isinstance(content, bytes):
            known = producer_id >= 0
            content = batch(
                content,
                producer_id=producer_id,
                producer_epoch=epoch if known else -1,
                sequence=sequence if known else -1,
            )
        data = TopicProduceData(self.topic.id, [PartitionProduceData(0, content)], self.topic.name)
        return self.ask(ProduceRequest(None, acks, timeout_ms, [data]), version, broker=broker)

    def delete_records(
        self, offset: int, timeout_ms: int = 60_000, *, version: int = 2, broker: int | None = None
    ) -> Asked:
        topic = DeleteRecordsTopic(self.topic.name, [DeleteRecordsPartition(0, offset)])
        return self.ask(DeleteRecordsRequest([topic], timeout_ms), version, broker=broker)

    def delete(self, offset: int) -> None:
        """Deletes on the leader, and on its followers when they hear of it."""
        answer = self.delete_records(offset, 0)
        assert answer.topics[0].partitions[0].error_code in (0, ErrorCode.REQUEST_TIMED_OUT)

    # -- consumers and followers

    def fetch(
        self,
        offset: int,
        *,
        replica: int = -1,
        broker: int | None = None,
        version: int = 12,
        epoch: int = -1,
        last_epoch: int = -1,
        log_start: int = -1,
        max_bytes: int = 1 << 20,
        rack: str = "",
        session: tuple[int, int] = (0, -1),
        wait_ms: int = 0,
        min_bytes: int = 1,
        isolation_level: int = 0,
    ) -> Asked:
        wanted = FetchPartition(0, epoch, offset, last_epoch, log_start, max_bytes)
        session_id, session_epoch = session
        request = FetchRequest(
            replica_id=replica,
            max_wait_ms=wait_ms,
            min_bytes=min_bytes,
            isolation_level=isolation_level,
            session_id=session_id,
            session_epoch=session_epoch,
            topics=[FetchTopic(self.topic.id, [wanted], self.topic.name)],
            rack_id=rack,
        )
        return self.ask(request, version, broker=broker)

    def read(self, offset: int, **asked: Any) -> PartitionData:
        """What is answered for the partition, at once."""
        return fetched(self.fetch(offset, **asked))

    def list_offset(self, timestamp: int, *, version: int = 5, broker: int | None = None) -> Any:
        """The partition in the answer of ListOffsets."""
        topic = ListOffsetsTopic(self.topic.name, [ListOffsetsPartition(0, timestamp=timestamp)])
        answer = self.ask(ListOffsetsRequest(-1, 0, [topic]), version, broker=broker)
        return answer.topics[0].partitions[0]

    def epoch_end(self, epoch: int, *, version: int = 3, broker: int | None = None) -> tuple[int, int]:
        """(leader epoch, end offset) as OffsetForLeaderEpoch answers."""
        topic = OffsetForLeaderTopic(self.topic.name, [OffsetForLeaderPartition(0, -1, epoch)])
        answer = self.ask(OffsetForLeaderEpochRequest(-1, [topic]), version, broker=broker)
        only = answer.topics[0].partitions[0]
        return only.leader_epoch, only.end_offset

    # -- replicas

    def leader_told_by(self, broker: int) -> tuple[int, int]:
        """(leader, leader epoch) in the Metadata of `broker`."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=self.topic.name)])
        only = self.ask(request, 9, broker=broker).topics[0].partitions[0]
        return only.leader_id, only.leader_epoch

    def brokers_told_by(self, broker: int) -> list[int]:
        """Those that the Metadata of `broker` lists."""
        return [each.node_id for each in self.ask(MetadataRequest(topics=[]), 9, broker=broker).brokers]

    def state_of(self, broker: int, partition: TopicPartition | None = None) -> FollowerState:
        return (partition or self.partition).followers[broker].state

    def leave_behind(self, *followers: int, records: int = 2) -> None:
        """They fetch no more, miss so many records, and leave the ISR."""
        left = [each for each in self.partition.isr if each not in followers]
        for each in followers:
            self.partition.set_follower(each, FollowerState.PAUSED)
        self.produce(records, acks=1)
        self.advance(2 * LAG_MS)
        assert self.partition.isr == left

    def ends(self) -> dict[int, int]:
        """The log end offset of each replica."""
        return {replica.broker: replica.log_end_offset for replica in describe(self.partition)}


def epoch_cache(log: Log) -> list[tuple[int, int]]:
    """(leader epoch, start offset) of each epoch."""
    return list(zip(log.epochs.epochs, log.epochs.starts, strict=True))


def outcome(asked: Asked) -> tuple[int, int]:
    """(error code, base offset) of a Produce answer for one partition."""
    only = asked.responses[0].partition_responses[0]
    return only.error_code, only.base_offset


def deleted(asked: Asked) -> tuple[int, int]:
    """(error code, low watermark) of a DeleteRecords answer for one partition."""
    only = asked.topics[0].partitions[0]
    return only.error_code, only.low_watermark


def fetched(asked: Asked) -> PartitionData:
    """The partition in a Fetch answer for one."""
    only: PartitionData = asked.responses[0].partitions[0]
    return only


def offsets(found: PartitionData) -> list[int]:
    """Those of the records that were read, by batch."""
    return [
        offset
        for header in map(header_of, found.records or ())
        for offset in range(header.base_offset, header.base_offset + header.last_offset_delta + 1)
    ]

"""The partitions of a Produce request, before they are appended or refused."""

from uuid import UUID

from ..cluster.call import Call
from ..cluster.topic import Topic
from ..log.validation import BatchError
from ..policies.producers.message_sets import message_sets
from ..protocol import record_batch
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import LeaderIdAndEpoch
from ..protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    TopicProduceResponse,
)
from ..protocol.record_batch import BatchHeader
from ..replication.partition import Partition
from .produced_batches import MESSAGES


def topic_of(call: Call, name: str, topic_id: UUID | None) -> Topic | None:
    """The topic that a request names: by its id from v13 on."""
    if call.version < 13:
        return call.cluster.topics.get(name)
    return call.cluster.topic_ids.get(topic_id) if topic_id else None


class Asked:
    """One partition of a request: whether its batch is still to be appended, and the `answer`, if there is
    one already."""

    __slots__ = ("answer", "appends", "batch", "header", "index", "null", "partition", "topic")

    def __init__(self, index: int, topic: TopicProduceResponse) -> None:
        self.index = index
        self.topic = topic
        self.answer: PartitionProduceResponse | None = None
        self.appends = self.null = False
        self.partition: Partition
        self.batch: bytes | memoryview
        self.header: BatchHeader

    def refuse(self, answer: PartitionProduceResponse) -> None:
        """Does not append the batch; an answer that exists already remains."""
        self.appends = False
        self.answer = self.answer or answer

    @property
    def is_converted(self) -> bool:
        """Whether its records are appended in another format than they have."""
        return self.header is MESSAGES or self.partition.settings.magic != record_batch.MAGIC

    @property
    def in_transaction(self) -> bool:
        return bool(self.header.attributes & record_batch.TRANSACTIONAL) and self.header.producer_id >= 0

    @property
    def behind(self) -> bool:
        """Whether followers have not copied yet what was appended."""
        return self.appends and self.partition.log.high_watermark != self.partition.log.end_offset


def led_by_other(partition: Partition) -> PartitionProduceResponse:
    """NOT_LEADER_OR_FOLLOWER, with the leader (KIP-951)."""
    answer = refused(partition.index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
    answer.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
    return answer


def refused(
    index: int,
    code: ErrorCode,
    message: str | None = None,
    records: list[BatchIndexAndErrorMessage] | None = None,
    log_start_offset: int = -1,
) -> PartitionProduceResponse:
    return PartitionProduceResponse(index, code, -1, -1, log_start_offset, records or [], message)


def invalid(call: Call, partition: Partition, error: BatchError) -> PartitionProduceResponse:
    """The answer for a batch that the log does not take."""
    if error.code is ErrorCode.INVALID_RECORD and call.policies[message_sets] == "mixed":
        return refused(partition.index, ErrorCode.CORRUPT_MESSAGE)
    blamed = [BatchIndexAndErrorMessage(number, text) for number, text in error.records]
    start = partition.log.start_offset if error.in_log else -1
    return refused(partition.index, error.code, error.message, blamed, start)

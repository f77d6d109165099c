"""DeleteRecords (21): moves the log start offset (KIP-107)."""

from collections.abc import Iterator, Mapping
from typing import Final

from ..cluster.call import Call
from ..environment import Timer
from ..outcome import PARKED, Steps
from ..portions import FEW, MANY, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.delete_records import (
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ..replication.partition import Partition
from .registry import handles

_HIGH_WATERMARK: Final = -1
_NO_LOW_WATERMARK: Final = -1


@handles(
    ApiKey.DELETE_RECORDS,
    changes=True,
    source="""KafkaApis.handleDeleteRecordsRequest, ReplicaManager.deleteRecords,
        Partition.deleteRecordsOnLeader""",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, REQUEST_TIMED_OUT,
        KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE""",
    partition="OFFSET_OUT_OF_RANGE, POLICY_VIOLATION, INVALID_TOPIC_EXCEPTION, TOPIC_AUTHORIZATION_FAILED",
)
def delete_records(call: Call, request: DeleteRecordsRequest) -> Steps:
    """If a partition is named twice, the last offset counts."""
    asked: dict[str, dict[int, int]] = {}
    for some in portions(_asked(request), MANY):
        for name, index, offset in some:
            asked.setdefault(name, {})[index] = offset
        yield
    answer = DeleteRecordsResponse()
    waiting = _Waiting(call, answer)
    for portion in portions(_results(asked, answer), FEW):
        for topic, index, offset in portion:
            topic.partitions.append(_delete(call, topic.name, index, offset, waiting))
        yield
    return waiting.outcome(request.timeout_ms)


def _asked(request: DeleteRecordsRequest) -> Iterator[tuple[str, int, int]]:
    """Topic, partition and offset."""
    for topic in request.topics:
        for each in topic.partitions:
            yield topic.name, each.partition_index, each.offset


def _results(
    asked: Mapping[str, Mapping[int, int]], answer: DeleteRecordsResponse
) -> Iterator[tuple[DeleteRecordsTopicResult, int, int]]:
    """The topic of the answer, partition and offset."""
    for name, offsets in asked.items():
        topic = DeleteRecordsTopicResult(name)
        answer.topics.append(topic)
        for index, offset in offsets.items():
            yield topic, index, offset


class _Deleted:
    """A partition whose followers have not deleted yet."""

    __slots__ = ("_waiting", "leader_epoch", "partition", "result", "wanted")

    def __init__(
        self, waiting: "_Waiting", partition: Partition, wanted: int, result: DeleteRecordsPartitionResult
    ) -> None:
        self._waiting = waiting
        self.partition = partition
        self.wanted = wanted
        self.leader_epoch = partition.leader_epoch
        self.result = result

    def look(self) -> None:
        """A follower has reported its log start offset, or the leader changed."""
        try:
            if self.partition.leader_epoch != self.leader_epoch:
                self._waiting.done(self, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            elif self.partition.low_watermark >= self.wanted:
                self._waiting.done(self, ErrorCode.NONE)
        except Exception as error:  # it is told by another's request, which goes on
            self._waiting.fail(error)


class _Waiting:
    """Waits until every replica on a live broker has deleted (`DelayedDeleteRecords`)."""

    def __init__(self, call: Call, answer: DeleteRecordsResponse) -> None:
        self.call = call
        self.answer = answer
        self.left: dict[_Deleted, None] = {}
        self.timer: Timer | None = None
        """None until all partitions have been looked at."""
        self.failed = False

    def add(self, partition: Partition, wanted: int, result: DeleteRecordsPartitionResult) -> None:
        deleted = _Deleted(self, partition, wanted, result)
        self.left[deleted] = None
        partition.deleting.add(deleted.look)

    def outcome(self, timeout_ms: int) -> object:
        """The answer if nothing is left, or there is no time to wait."""
        if timeout_ms <= 0:
            self.expire()
        if self.left and not self.failed:
            self.timer = self.call.environment.wait(timeout_ms, self.expire)
        return PARKED if self.left or self.failed else self.answer

    def expire(self) -> None:
        for each in list(self.left):
            self.done(each, ErrorCode.REQUEST_TIMED_OUT)

    def done(self, each: _Deleted, error: ErrorCode) -> None:
        each.partition.deleting.discard(each.look)
        each.result.error_code = error
        low = _NO_LOW_WATERMARK if error == ErrorCode.NOT_LEADER_OR_FOLLOWER else each.partition.low_watermark
        each.result.low_watermark = low
        del self.left[each]
        if not self.left and self.timer is not None:
            self.timer.cancel()
            self.call.answer(self.answer)

    def fail(self, error: Exception) -> None:
        if self.timer is not None:
            self.timer.cancel()
        for each in self.left:
            each.partition.deleting.discard(each.look)
        self.left, self.failed = {}, True
        self.call.environment.fail(error, self.call)


def _delete(
    call: Call, topic: str, index: int, offset: int, waiting: _Waiting
) -> DeleteRecordsPartitionResult:
    """`Partition.deleteRecordsOnLeader`; refuses compacted topics without the cleanup policy `delete`."""

    def refuse(code: ErrorCode) -> DeleteRecordsPartitionResult:
        return DeleteRecordsPartitionResult(index, _NO_LOW_WATERMARK, code)

    partition = call.partition(topic, index)
    if partition is None:
        return refuse(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    if partition.topic.internal:
        return refuse(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if partition.leader != call.broker.id:
        return refuse(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if not partition.settings.deletable:
        return refuse(ErrorCode.POLICY_VIOLATION)
    log = partition.log
    wanted = log.high_watermark if offset == _HIGH_WATERMARK else offset
    if not 0 <= wanted <= log.high_watermark:
        return refuse(ErrorCode.OFFSET_OUT_OF_RANGE)
    if wanted > log.start_offset:
        partition.advance_log_start(wanted)
    result = DeleteRecordsPartitionResult(index, partition.low_watermark)
    if partition.low_watermark < wanted:
        waiting.add(partition, wanted, result)
    return result

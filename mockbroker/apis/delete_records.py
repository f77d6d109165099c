"""DeleteRecords (21): moves the log start offset (KIP-107)."""

from typing import Final, NamedTuple

from ..cluster.call import Call
from ..outcome import PARKED
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


@handles(ApiKey.DELETE_RECORDS)
def delete_records(call: Call, request: DeleteRecordsRequest) -> object:
    """If a partition is named twice, the last offset counts."""
    waiting: list[_Deleted] = []
    asked: dict[str, dict[int, int]] = {}
    for topic in request.topics:
        asked.setdefault(topic.name, {}).update(
            (each.partition_index, each.offset) for each in topic.partitions
        )
    answer = DeleteRecordsResponse(
        topics=[
            DeleteRecordsTopicResult(name, [_delete(call, name, *each, waiting) for each in offsets.items()])
            for name, offsets in asked.items()
            if offsets
        ]
    )
    if request.timeout_ms <= 0:
        for each in waiting:
            each.result.error_code = ErrorCode.REQUEST_TIMED_OUT
    if request.timeout_ms <= 0 or not waiting:
        return answer
    _Waiting(call, answer, waiting, request.timeout_ms)
    return PARKED


class _Deleted(NamedTuple):
    """A partition whose followers have not deleted yet."""

    partition: Partition
    wanted: int
    leader_epoch: int
    result: DeleteRecordsPartitionResult


class _Waiting:
    """Waits until every replica on a live broker has deleted (`DelayedDeleteRecords`)."""

    def __init__(
        self, call: Call, answer: DeleteRecordsResponse, left: list[_Deleted], timeout_ms: int
    ) -> None:
        self.call = call
        self.answer = answer
        self.left = left
        self.timer = call.environment.wait(timeout_ms, self.expire)
        for each in left:
            each.partition.deleting.add(self.look)

    def look(self) -> None:
        """A follower has reported its log start offset, or the leader changed."""
        try:
            self._look()
        except Exception as error:  # it is told by another's request, which goes on
            self.timer.cancel()
            for each in self.left:
                each.partition.deleting.discard(self.look)
            self.call.environment.fail(error, self.call)

    def _look(self) -> None:
        for each in list(self.left):
            reached = each.partition.low_watermark >= each.wanted
            if each.partition.leader_epoch != each.leader_epoch:
                self.done(each, ErrorCode.NOT_LEADER_OR_FOLLOWER)
            elif reached:
                self.done(each, ErrorCode.NONE)

    def expire(self) -> None:
        for each in list(self.left):
            self.done(each, ErrorCode.REQUEST_TIMED_OUT)

    def done(self, each: _Deleted, error: ErrorCode) -> None:
        each.partition.deleting.discard(self.look)
        each.result.error_code = error
        low = _NO_LOW_WATERMARK if error == ErrorCode.NOT_LEADER_OR_FOLLOWER else each.partition.low_watermark
        each.result.low_watermark = low
        self.left.remove(each)
        if not self.left:
            self.timer.cancel()
            self.call.answer(self.answer)


def _delete(
    call: Call, topic: str, index: int, offset: int, waiting: list[_Deleted]
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
        waiting.append(_Deleted(partition, wanted, partition.leader_epoch, result))
    return result

"""ListOffsets (2): offsets by timestamp, and the ends of the log (KIP-79, KIP-734)."""

from collections import Counter

from ..cluster.call import Call
from ..log.log import Log
from ..policies.fetching.listed_partitions import listed_partitions
from ..policies.fetching.new_leader_end import new_leader_end
from ..policies.fetching.unknown_isolation_level import unknown_isolation_level
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ..replication.partition import Partition
from .registry import handles

LATEST = -1
EARLIEST = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL = -4
LATEST_TIERED = -5
EARLIEST_PENDING_UPLOAD = -6

_SINCE_VERSION = {MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
_FIXED = (EARLIEST, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD)
_OFFSET_NOT_AVAILABLE_SINCE = 5
_ISOLATION_LEVELS = (0, 1)
_CONSUMER = -1
_DEBUGGER = -2


@handles(ApiKey.LIST_OFFSETS)
def list_offsets(call: Call, request: ListOffsetsRequest) -> ListOffsetsResponse:
    times = Counter((topic.name, p.partition_index) for topic in request.topics for p in topic.partitions)
    answer = ListOffsetsResponse()
    whole = call.policies[unknown_isolation_level] == "fails-request"
    fails = whole and request.isolation_level not in _ISOLATION_LEVELS
    for topic in request.topics:
        result = ListOffsetsTopicResponse(topic.name)
        for p in topic.partitions:
            if fails:
                found = ListOffsetsPartitionResponse(p.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR)
            elif times[topic.name, p.partition_index] > 1:
                found = ListOffsetsPartitionResponse(p.partition_index, ErrorCode.INVALID_REQUEST)
            else:
                found = _partition(call, request, topic.name, p)
            result.partitions.append(found)
        answer.topics.append(result)
    if fails:
        return answer
    return _merged(answer) if call.policies[listed_partitions] == "each-once" else answer


def _merged(answer: ListOffsetsResponse) -> ListOffsetsResponse:
    """Each topic once, each partition once, and no topic without partitions."""
    topics: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}
    for topic in answer.topics:
        for p in topic.partitions:
            topics.setdefault(topic.name, {})[p.partition_index] = p
    return ListOffsetsResponse(
        topics=[ListOffsetsTopicResponse(name, list(found.values())) for name, found in topics.items()]
    )


def _partition(
    call: Call, request: ListOffsetsRequest, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(asked.partition_index)
    if asked.timestamp < 0 and call.version < _SINCE_VERSION.get(
        asked.timestamp, 0 if asked.timestamp >= -2 else 99
    ):
        answer.error_code = ErrorCode.UNSUPPORTED_VERSION
        return answer
    if request.replica_id == _CONSUMER and request.isolation_level not in _ISOLATION_LEVELS:
        answer.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
        return answer
    partition = call.partition(topic, asked.partition_index)
    if partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return answer
    answer.error_code = partition.check_leader(
        asked.current_leader_epoch, any_replica=request.replica_id == _DEBUGGER
    )
    if answer.error_code:
        return answer
    log = partition.log
    end = _end(log, request)
    found = _lookup(log, asked.timestamp, end, partition.leader_epoch)
    beyond = asked.timestamp == LATEST or (asked.timestamp not in _FIXED and found is None)
    if beyond and request.replica_id == _CONSUMER and _end_unknown(partition, call):
        known = call.version >= _OFFSET_NOT_AVAILABLE_SINCE
        answer.error_code = ErrorCode.OFFSET_NOT_AVAILABLE if known else ErrorCode.LEADER_NOT_AVAILABLE
    elif found is not None:
        answer.timestamp, answer.offset, answer.leader_epoch = found
    if request.replica_id == _CONSUMER:
        told = found[1] if found is not None and asked.timestamp == LATEST else None
        call.cluster.notes.looked_up(call.client_id, topic, partition.index, told)
    return answer


def _end_unknown(partition: Partition, call: Call) -> bool:
    """Whether a new leader's high watermark may still be behind what clients were told before (KIP-207)."""
    return (
        call.policies[new_leader_end] == "not-available"
        and partition.epoch_start_offset > partition.log.high_watermark
    )


def _end(log: Log, request: ListOffsetsRequest) -> int:
    """The offset up to which the client may look."""
    if request.replica_id != _CONSUMER:
        return log.end_offset
    return log.last_stable_offset if request.isolation_level else log.high_watermark


def _lookup(log: Log, timestamp: int, end: int, leader_epoch: int) -> tuple[int, int, int] | None:
    """(timestamp, offset, leader epoch) of what is found below `end`."""
    if timestamp == LATEST:
        return -1, end, leader_epoch
    if timestamp in (EARLIEST, EARLIEST_LOCAL):
        epoch = log.epochs.epoch_at(log.start_offset)
        return -1, log.start_offset, epoch
    if timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        return None
    found = log.latest_timestamp() if timestamp == MAX_TIMESTAMP else log.first_at_or_after(timestamp)
    if found is None or found[1] >= end:
        return None
    # The record with the largest timestamp may have been deleted: its batch still has the epoch.
    return found[0], found[1], log.epochs.epoch_at(max(found[1], log.start_offset))

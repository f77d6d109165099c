"""ListOffsets (2): offsets by timestamp, and the ends of the log (KIP-79, KIP-734)."""

from collections import Counter
from collections.abc import Iterator

from ..cluster.call import Call
from ..log.log import Log
from ..outcome import Steps
from ..policies.fetching.listed_partitions import listed_partitions
from ..policies.fetching.new_leader_end import new_leader_end
from ..policies.fetching.unknown_isolation_level import unknown_isolation_level
from ..portions import FEW, MANY, portions
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
from .answered_topics import each_partition
from .listed_segments import listed_segments
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

Asked = tuple[ListOffsetsTopicResponse, ListOffsetsPartition]
"""A partition, with the topic of the answer that it belongs to."""


@handles(
    ApiKey.LIST_OFFSETS,
    changes=False,
    source="""KafkaApis.handleListOffsetRequest, ReplicaManager.fetchOffset (LEADER_NOT_AVAILABLE stands for
        OFFSET_NOT_AVAILABLE before v5, and where an election is not over),
        Partition.fetchOffsetForTimestamp; REPLICA_NOT_AVAILABLE before 2.6""",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, OFFSET_NOT_AVAILABLE v5+, LEADER_NOT_AVAILABLE v1-4,
        FENCED_LEADER_EPOCH v4+, UNKNOWN_LEADER_EPOCH v4+, UNKNOWN_TOPIC_OR_PARTITION,
        KAFKA_STORAGE_ERROR, REPLICA_NOT_AVAILABLE, REQUEST_TIMED_OUT v10+""",
    partition="""INVALID_REQUEST, UNSUPPORTED_VERSION, UNSUPPORTED_FOR_MESSAGE_FORMAT, OFFSET_OUT_OF_RANGE,
        TOPIC_AUTHORIZATION_FAILED""",
)
def list_offsets(call: Call, request: ListOffsetsRequest) -> object:
    """A partition that is named twice is refused, each time."""
    if not call.version:
        return call.in_parts(listed_segments(call, request))
    if len(request.topics) == 1 and len(request.topics[0].partitions) == 1 and not _fails(call, request):
        (topic,) = request.topics
        found = _partition(call, request, topic.name, topic.partitions[0])
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(topic.name, [found])])
    return call.in_parts(_answer(call, request))


def _fails(call: Call, request: ListOffsetsRequest) -> bool:
    """Whether all partitions are refused."""
    whole = request.isolation_level not in _ISOLATION_LEVELS
    return whole and call.policies[unknown_isolation_level] == "fails-request"


def _answer(call: Call, request: ListOffsetsRequest) -> Steps:
    times: Counter[tuple[str, int]] = Counter()
    named = ((topic.name, each.partition_index) for topic in request.topics for each in topic.partitions)
    for some in portions(named, MANY):
        times.update(some)
        if len(some) == MANY:
            yield
    answer = ListOffsetsResponse()
    fails = _fails(call, request)
    once = not fails and call.policies[listed_partitions] == "each-once"
    for portion in portions(_once(request, answer) if once else _each(request, answer), FEW):
        for result, asked in portion:
            if fails:
                found = ListOffsetsPartitionResponse(asked.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR)
            elif times[result.name, asked.partition_index] > 1:
                found = ListOffsetsPartitionResponse(asked.partition_index, ErrorCode.INVALID_REQUEST)
            else:
                found = _partition(call, request, result.name, asked)
            result.partitions.append(found)
        yield
    return answer


def _each(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> Iterator[Asked]:
    topics = ((ListOffsetsTopicResponse(topic.name), topic.partitions) for topic in request.topics)
    return each_partition(answer.topics, topics)


def _once(request: ListOffsetsRequest, answer: ListOffsetsResponse) -> Iterator[Asked]:
    """Each topic once, each partition once, and no topic without partitions."""
    results: dict[str, ListOffsetsTopicResponse] = {}
    seen: set[tuple[str, int]] = set()
    for topic in request.topics:
        for each in topic.partitions:
            result = results.get(topic.name)
            if result is None:
                result = results[topic.name] = ListOffsetsTopicResponse(topic.name)
                answer.topics.append(result)
            if (place := (topic.name, each.partition_index)) not in seen:
                seen.add(place)
                yield result, each


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
    if asked.timestamp >= 0 and not log.segments.settings.magic:
        answer.error_code = ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT
        return answer
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

"""ListOffsets v0: where segments begin, by the time at which they were last written
(`UnifiedLog.legacyFetchOffsetsBefore`)."""

from ..cluster.call import Call
from ..log.log import Log
from ..outcome import Steps
from ..policies.fetching.reserved_timestamps import reserved_timestamps
from ..portions import FEW, portions
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from .answered_topics import each_partition

_LATEST, _EARLIEST = -1, -2
_CONSUMER, _DEBUGGER = -1, -2


def listed_segments(call: Call, request: ListOffsetsRequest) -> Steps:
    """A partition that is named twice is answered twice."""
    answer = ListOffsetsResponse()
    topics = ((ListOffsetsTopicResponse(topic.name), topic.partitions) for topic in request.topics)
    for portion in portions(each_partition(answer.topics, topics), FEW):
        for result, asked in portion:
            result.partitions.append(_partition(call, request.replica_id, result.name, asked))
        yield
    return answer


def _partition(
    call: Call, replica_id: int, topic: str, asked: ListOffsetsPartition
) -> ListOffsetsPartitionResponse:
    answer = ListOffsetsPartitionResponse(asked.partition_index)
    partition = call.partition(topic, asked.partition_index)
    if asked.timestamp < _EARLIEST and call.policies[reserved_timestamps] == "refused":
        answer.error_code = ErrorCode.UNSUPPORTED_VERSION
    elif partition is None:
        answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        answer.error_code = partition.check_leader(-1, any_replica=replica_id == _DEBUGGER)
        if not answer.error_code and asked.max_num_offsets < 0:
            # Kafka makes an array of that size.
            answer.error_code = ErrorCode.UNKNOWN_SERVER_ERROR
        elif not answer.error_code:
            found = _offsets(partition.log, asked.timestamp, call.now_ms)[: asked.max_num_offsets]
            answer.old_style_offsets = found if replica_id != _CONSUMER else _readable(partition.log, found)
    return answer


def _offsets(log: Log, timestamp: int, now_ms: int) -> list[int]:
    """The newest first."""
    places = [(max(each.base_offset, log.start_offset), each.modified_ms) for each in log.segments.all]
    if log.segments.active.size:
        places.append((log.end_offset, now_ms))
    count = len(places)
    if timestamp == _EARLIEST:
        count = 1
    elif timestamp != _LATEST:
        while count and places[count - 1][1] > timestamp:
            count -= 1
    return [offset for offset, _ in reversed(places[:count])]


def _readable(log: Log, offsets: list[int]) -> list[int]:
    """A consumer gets the high watermark in place of what is beyond it."""
    end = log.high_watermark
    below = [each for each in offsets if each <= end]
    return offsets if len(below) == len(offsets) else [end, *below]

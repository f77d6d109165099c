"""Fetch up to version 3, whose readers know messages of magic 0 and 1 only
(`KafkaApis.maybeConvertFetchedData`)."""

from collections.abc import Generator, Mapping
from itertools import repeat
from typing import Final

from ..cluster.call import Call
from ..cluster.fetch_session import Key
from ..cluster.fetch_sessions import FetchContext
from ..log.down_conversion import NotConvertibleError, converted, has_headers, is_newer, padded
from ..policies.fetching.down_conversion import down_conversion
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import FetchPartition, PartitionData
from .fetched_partitions import Results

BATCHES_SINCE: Final = 4
_TIMESTAMPS_SINCE: Final = 2


def in_old_format(call: Call, context: FetchContext, results: Results) -> Generator[None, None, Results]:
    """The results as messages that the client knows, in parts. Brokers go by the format in which the topic's
    records are written now, whatever was written before."""
    knows = 1 if call.version >= _TIMESTAMPS_SINCE else 0
    asked: Mapping[Key, FetchPartition] = {}
    found: Results = []
    for key, result in results:
        topic = call.cluster.topics.get(key[0])
        if topic is None or result.records is None or topic.settings.magic <= knows:
            found.append((key, result))
            continue
        asked = asked or context.partitions()
        read, conversion = result.records, call.policies[down_conversion]
        if conversion.always or any(map(is_newer, read, repeat(knows))):
            follows = context.request.replica_state.replica_id >= 0
            refuses = not follows and not topic.settings.message_downconversion
            if refuses:
                result = not_sent(call, result, ErrorCode.UNSUPPORTED_VERSION)
            else:
                result = yield from _converted(call, result, asked[key].fetch_offset, knows)
        found.append((key, result))
    return found


def _converted(
    call: Call, result: PartitionData, offset: int, knows: int
) -> Generator[None, None, PartitionData]:
    """As messages of the highest magic that the client `knows`."""
    read = result.records or ()
    if not call.policies[down_conversion].headers and (yield from has_headers(read)):
        return PartitionData(result.partition_index, ErrorCode.UNKNOWN_SERVER_ERROR, -1, records=())
    try:
        if call.policies[down_conversion].padded:
            data = yield from padded(read, knows, offset)
        else:
            data = yield from converted(read, knows, offset)
    except NotConvertibleError:
        return not_sent(call, result, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return PartitionData(
        result.partition_index,
        result.error_code,
        result.high_watermark,
        result.last_stable_offset,
        result.log_start_offset,
        aborted_transactions=result.aborted_transactions,
        records=[data] if data else (),
    )


def not_sent(call: Call, result: PartitionData, error: ErrorCode) -> PartitionData:
    """The answer for a partition whose records a client would not understand."""
    records = None if call.policies[down_conversion].always else ()
    return PartitionData(result.partition_index, error, -1, records=records)

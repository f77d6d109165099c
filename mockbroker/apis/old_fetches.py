"""Fetch up to version 3, whose readers know messages of magic 0 and 1 only
(`KafkaApis.maybeConvertFetchedData`)."""

from collections.abc import Generator
from typing import Final

from ..cluster.call import Call
from ..cluster.fetch_sessions import FetchContext
from ..log.down_conversion import NotConvertibleError, converted, padded
from ..policies.fetching.down_conversion import down_conversion
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import PartitionData
from .fetched_partitions import Results

BATCHES_SINCE: Final = 4
_TIMESTAMPS_SINCE: Final = 2


def in_old_format(call: Call, context: FetchContext, results: Results) -> Generator[None, None, Results]:
    """The results with messages in place of batches, in parts."""
    asked = context.partitions()
    follows = context.request.replica_state.replica_id >= 0
    found: Results = []
    for key, result in results:
        made = yield from _converted(call, key[0], result, asked[key].fetch_offset, follows=follows)
        found.append((key, made))
    return found


def _converted(
    call: Call, name: str, result: PartitionData, offset: int, *, follows: bool
) -> Generator[None, None, PartitionData]:
    topic = call.cluster.topics.get(name)
    if topic is None or result.records is None:
        return result
    if not follows and not topic.settings.message_downconversion:
        return PartitionData(result.partition_index, ErrorCode.UNSUPPORTED_VERSION, -1)
    magic = 1 if call.version >= _TIMESTAMPS_SINCE else 0
    read, empty = result.records, call.policies[down_conversion]
    try:
        if empty is None:
            data = yield from converted(read, magic, offset)
        else:
            data = yield from padded(read, magic, offset, empty)
    except NotConvertibleError:
        return PartitionData(result.partition_index, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, -1)
    return PartitionData(
        result.partition_index,
        result.error_code,
        result.high_watermark,
        result.last_stable_offset,
        result.log_start_offset,
        records=[data] if data else (),
    )

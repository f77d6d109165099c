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
from ..protocol.record_batch import is_whole
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
    read, conversion = result.records, call.policies[down_conversion]
    if topic is None or read is None or not (conversion.always or any(map(is_whole, read))):
        return result
    if not follows and not topic.settings.message_downconversion:
        return not_sent(call, result, ErrorCode.UNSUPPORTED_VERSION)
    magic = 1 if call.version >= _TIMESTAMPS_SINCE else 0
    try:
        data = yield from (padded if conversion.padded else converted)(read, magic, offset)
    except NotConvertibleError:
        return not_sent(call, result, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE)
    return PartitionData(
        result.partition_index,
        result.error_code,
        result.high_watermark,
        result.last_stable_offset,
        result.log_start_offset,
        records=[data] if data else (),
    )


def not_sent(call: Call, result: PartitionData, error: ErrorCode) -> PartitionData:
    """The answer for a partition whose records a client would not understand."""
    records = None if call.policies[down_conversion].always else ()
    return PartitionData(result.partition_index, error, -1, records=records)

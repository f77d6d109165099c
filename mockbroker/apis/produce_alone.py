"""The most common Produce: one batch outside of transactions for one partition on this broker.

Others may have other errors, and are left to `produce`; nothing has changed then.
"""

from ..cluster.call import Call
from ..protocol import record_batch
from ..protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ..protocol.own_codecs import ProduceCodec
from ..protocol.produce import Data, Place
from .appending import ACKS, append, conclude
from .produced_batches import ZSTD_SINCE
from .produced_partitions import topic_of


def append_alone(call: Call, request: ProduceRequest) -> object | None:
    """The answer, None for all other requests."""
    topics, acks = request.topic_data, request.acks
    if len(topics) != 1 or len(topics[0].partition_data) != 1:
        return None
    (data,) = topics
    (each,) = data.partition_data
    if each.records is None:
        return None
    done = _appended(call, (data.name, data.topic_id, each.index), each.records, acks)
    if done is None:
        return None
    one, behind = done
    answer = ProduceResponse([TopicProduceResponse(data.topic_id, [one], data.name)])
    return conclude(call, request, answer, one.error_code != 0, behind)


def append_at_once(
    call: Call, codec: ProduceCodec, correlation_id: int, frame: Data, offset: int
) -> object | None:
    """The same without request and answer, for a client that sent such a request before: the answer's frame,
    or an answer that is another one than usual."""
    found = codec.like_the_last(frame, offset)
    if found is None:
        return None
    (_, acks, _, place), records = found
    done = _appended(call, place, records, acks)
    if done is None:
        return None
    one, behind = done
    if acks and not behind and not one.error_code:
        answered = codec.like_an_earlier(correlation_id, place, one)
        if answered is not None:
            return answered
    name, topic_id, _ = place
    answer = ProduceResponse([TopicProduceResponse(topic_id, [one], name)])
    return conclude(call, codec.decode(frame, offset), answer, one.error_code != 0, behind)


def _appended(
    call: Call, place: Place, records: bytes | memoryview, acks: int
) -> tuple[PartitionProduceResponse, bool] | None:
    """The result, and whether followers are behind; None if there may be other errors than those of
    `append`."""
    header = record_batch.common(records)
    if header is None or header[5] & record_batch.TRANSACTIONAL or acks not in ACKS:
        return None
    if call.version < ZSTD_SINCE:
        return None
    name, topic_id, index = place
    partition = call.partition(topic_of(call, name, topic_id), index)
    if partition is None or partition.topic.internal:
        return None
    log = partition.log
    if log.segments.settings.magic != record_batch.MAGIC:
        return None
    one = append(call, partition, records, header, acks)
    return one, log.high_watermark != log.end_offset

"""`unknown-producer` and `stale-duplicate`, decided on Produce by the producers that partitions know."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from ...policies.producers.stale_duplicate import stale_duplicate
from ...policies.producers.unknown_producer import unknown_producer
from ...protocol.errors import ErrorCode
from ...protocol.messages.describe_producers import ProducerState
from ...protocol.messages.list_offsets import ListOffsetsPartitionResponse
from ...protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from ...protocol.record_batch import HEADER_BYTES, MAGIC, BatchHeader, parse_header
from .steps import EARLIEST, Asked, Inner, Place, Steps, offsets, producers

_SEQUENCES: Final = 1 << 31
_REPLACED: Final = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.DUPLICATE_SEQUENCE_NUMBER)


def decide_unknown_producer(asked: Asked, inner: Inner) -> Steps:
    """Refuses batches whose producer the partition does not know and whose sequence is not 0; the others are
    passed on without them."""
    batches = {
        place: batch
        for place, batch in _batches(asked)
        if batch.base_sequence > 0 and asked.decides(unknown_producer, place[0])
    }
    if not batches:
        return (yield from inner(asked.request))
    known = yield from producers(asked, batches)
    refused = [
        place for place, batch in batches.items() if place in known and batch.producer_id not in known[place]
    ]
    if not refused:
        return (yield from inner(asked.request))
    starts = yield from offsets(dict.fromkeys(refused, -1), EARLIEST)
    rest = _without(asked, set(refused))
    answer = ProduceResponse() if not rest.topic_data else (yield from inner(rest))
    return _with_refused(asked, answer, starts)


def decide_unknown_producer_refused(asked: Asked, inner: Inner) -> Steps:
    """The same with brokers that refuse such batches themselves: replaces UNKNOWN_PRODUCER_ID."""
    answer = yield from inner(asked.request)
    for topic in answer.responses:
        name = asked.topic(topic)
        for each in topic.partition_responses if name is not None else ():
            if each.error_code == ErrorCode.UNKNOWN_PRODUCER_ID and asked.decides(unknown_producer, name):
                each.error_code = asked.answer(unknown_producer, name)
    return answer


def _without(asked: Asked, refused: set[Place]) -> ProduceRequest:
    topics = []
    for topic in asked.request.topic_data:
        name = asked.topic(topic)
        left = [each for each in topic.partition_data if (name, each.index) not in refused]
        if left:
            topics.append(replace(topic, partition_data=left))
    request: ProduceRequest = asked.request
    return replace(request, topic_data=topics)


def _with_refused(
    asked: Asked, answer: ProduceResponse, starts: Mapping[Place, ListOffsetsPartitionResponse]
) -> ProduceResponse:
    """`starts` are where the logs of the refused begin: without that, Java's producer sends the batch again
    (`TransactionManager.canRetry`)."""
    for topic in asked.request.topic_data:
        name = asked.topic(topic)
        entries = [
            PartitionProduceResponse(index, _code(asked, where, start), -1, log_start_offset=start.offset)
            for (where, index), start in starts.items()
            if where == name
        ]
        if entries:
            answer.responses.append(TopicProduceResponse(topic.topic_id, entries, topic.name))
    return answer


def _code(asked: Asked, topic: str, start: ListOffsetsPartitionResponse) -> int:
    return start.error_code or asked.answer(unknown_producer, topic)


def decide_stale_duplicate(asked: Asked, inner: Inner) -> Steps:
    """Replaces the error of a batch whose sequence is behind the last one that the partition knows."""
    answer = yield from inner(asked.request)
    batches = dict(_batches(asked))
    wrong = {
        place: each
        for topic in answer.responses
        if (name := asked.topic(topic)) is not None
        for each in topic.partition_responses
        if each.error_code in _REPLACED
        and (place := (name, each.index)) in batches
        and asked.decides(stale_duplicate, name)
    }
    if not wrong:
        return answer
    for place, known in (yield from producers(asked, wrong)).items():
        producer = known.get(batches[place].producer_id)
        if producer is not None and _is_behind(batches[place], producer):
            wrong[place].error_code = asked.answer(stale_duplicate, place[0])
    return answer


def _is_behind(batch: BatchHeader, known: ProducerState) -> bool:
    if batch.producer_epoch != known.producer_epoch or known.last_sequence < 0:
        return False
    last = (batch.base_sequence + batch.last_offset_delta) % _SEQUENCES
    return (known.last_sequence - last) % _SEQUENCES < _SEQUENCES // 2


def _batches(asked: Asked) -> Iterator[tuple[Place, BatchHeader]]:
    """The batches of idempotent producers, by partition."""
    for topic in asked.request.topic_data:
        name = asked.topic(topic)
        if name is None:
            asked.tell("nothing is decided on a Produce whose topic no answer to Metadata has named yet")
            continue
        for each in topic.partition_data:
            if each.records is None or len(each.records) < HEADER_BYTES:
                continue
            header = parse_header(each.records)
            if header.magic == MAGIC and header.producer_id >= 0:
                yield (name, each.index), header

"""What a trace notes of most Produce requests and of their answers: the values that their bodies are made of
once somebody reads them."""

from typing import Any, Final
from uuid import UUID

from ..protocol.messages.common import NO_LEADER
from ..protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ..protocol.record_batch import HEADER_BYTES, common

Noted = tuple[Any, ...]
_LONG: Final = 256
"""Longer texts count by their size."""


def of_request(request: ProduceRequest) -> Noted | None:
    """None unless it has one batch for one partition."""
    topics, transactional_id = request.topic_data, request.transactional_id
    if len(topics) != 1 or len(topics[0].partition_data) != 1:
        return None
    (topic,) = topics
    (one,) = topic.partition_data
    name, records = topic.name, one.records
    if records is None or common(records) is None or len(name) >= _LONG:
        return None
    if transactional_id is not None and len(transactional_id) >= _LONG:
        return None
    id_ = topic.topic_id
    number = None if id_ is None else id_.int
    header = bytes(records[:HEADER_BYTES])
    return transactional_id, request.acks, request.timeout_ms, number, name, one.index, header


def of_answer(answer: ProduceResponse) -> Noted | None:
    """None unless a batch was appended to one partition."""
    topics = answer.responses
    if len(topics) != 1 or len(topics[0].partition_responses) != 1 or answer.node_endpoints:
        return None
    (topic,) = topics
    (one,) = topic.partition_responses
    if one.error_code or one.record_errors or one.error_message is not None:
        return None
    name = topic.name
    if one.current_leader is not NO_LEADER or len(name) >= _LONG:
        return None
    id_ = topic.topic_id
    number = None if id_ is None else id_.int
    of_log = one.base_offset, one.log_append_time_ms, one.log_start_offset
    return answer.throttle_time_ms, number, name, one.index, *of_log


def request_of(noted: Noted) -> ProduceRequest:
    """The request, with the header of its batch in place of records."""
    transactional_id, acks, timeout_ms, number, name, index, header = noted
    topic = TopicProduceData(_uuid(number), [PartitionProduceData(index, header)], name)
    return ProduceRequest(transactional_id, acks, timeout_ms, [topic])


def answer_of(noted: Noted) -> ProduceResponse:
    throttle_time_ms, number, name, index, base_offset, append_time_ms, start_offset = noted
    one = PartitionProduceResponse(index, 0, base_offset, append_time_ms, start_offset)
    return ProduceResponse([TopicProduceResponse(_uuid(number), [one], name)], throttle_time_ms)


def _uuid(number: int | None) -> UUID | None:
    return None if number is None else UUID(int=number)

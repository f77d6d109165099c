"""Produce (0): appends a batch per partition (KIP-98, KIP-467, KIP-951)."""

from collections.abc import Mapping
from uuid import UUID

from ..cluster.call import CLOSE, NO_ANSWER, PARKED, Call
from ..cluster.follower import FollowerState
from ..cluster.partition import Partition
from ..cluster.topic import Topic
from ..log.producer_state import AppendedBatch, SequenceError, last_sequence
from ..log.validation import BatchError, validate
from ..protocol import record_batch
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ..protocol.record_batch import BatchHeader
from .leaders import produce_endpoints
from .registry import handles
from .unreplicated import Unreplicated

_ACKS = (-1, 0, 1)
_ADMIN_CLIENT_ID = "__admin_client"
"""The only client id that may write to internal topics (`AdminUtils.java`)."""


@handles(ApiKey.PRODUCE)
def produce(
    call: Call,
    request: ProduceRequest,
    unverified: Mapping[Partition, PartitionProduceResponse] | None = None,
) -> object:
    """Batches of a transaction are verified first (KIP-890); the `unverified` have their answers then.

    With acks=0 there is no answer, and an error closes the connection, as in Kafka.
    """
    if request.transactional_id is not None and unverified is None and _verifies(call, request):
        from .verification import Verification

        return Verification(call, request, produce).start()
    answer = ProduceResponse()
    refusal = None
    failed = behind = False
    if request.acks not in _ACKS:
        refusal = ErrorCode.INVALID_REQUIRED_ACKS
    elif request.transactional_id is None and any(map(_transactional, request.topic_data)):
        refusal = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    for data in merged(request):
        topic, error = topic_of(call, data)
        result = TopicProduceResponse(data.topic_id, [], data.name)
        answer.responses.append(result)
        for asked in data.partition_data:
            partition = call.partition(topic, asked.index)
            if refusal is not None:
                one = refused(asked.index, refusal)
            elif partition is None:
                one = refused(asked.index, error or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            elif partition.topic.internal and call.client_id != _ADMIN_CLIENT_ID:
                one = refused(asked.index, ErrorCode.INVALID_TOPIC_EXCEPTION)
            elif asked.records is None:
                # A real broker fails on null records and never answers.
                return NO_ANSWER
            elif unverified and partition in unverified:
                one = unverified[partition]
            else:
                one = append(call, partition, asked.records, request.acks)
                log = partition.log
                behind = behind or log.high_watermark != log.end_offset
            failed = failed or one.error_code != 0
            result.partition_responses.append(one)
    if request.acks == 0:
        return CLOSE if failed else NO_ANSWER
    if failed and call.version >= 10:
        answer.node_endpoints = produce_endpoints(call, answer)
    if behind and request.acks == -1 and Unreplicated(call, request, answer).left:
        return PARKED
    return answer


def append(
    call: Call, partition: Partition, records: bytes | memoryview, acks: int
) -> PartitionProduceResponse:
    """Appends one partition's batch and says how it went."""
    index = partition.index
    if partition.leader != call.broker.id:
        answer = refused(index, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        answer.current_leader = LeaderIdAndEpoch(partition.leader, partition.leader_epoch)
        return answer
    if acks == -1 and len(partition.isr) < partition.min_insync_replicas:
        return refused(index, ErrorCode.NOT_ENOUGH_REPLICAS)
    log = partition.log
    now_ms = call.cluster.now_ms
    try:
        batch, header, max_timestamp = validate(records, call.version, partition, now_ms)
        producer_id, epoch, sequence, count = header[9:]
        if producer_id >= 0:
            producers = log.producers
            earlier = producers.check(producer_id, epoch, sequence, count)
            if earlier is not None:
                return PartitionProduceResponse(
                    index, 0, earlier.base_offset, earlier.timestamp, log.start_offset
                )
            transactional = header[5] & record_batch.TRANSACTIONAL
            if producers.transactions.open and not transactional:
                producers.check_outside(producer_id)
    except BatchError as error:
        blamed = [BatchIndexAndErrorMessage(number, text) for number, text in error.records]
        start = log.start_offset if error.in_log else -1
        return refused(index, error.code, error.message, blamed, start)
    except SequenceError as error:
        return refused(index, error.code, None, [], log.start_offset)
    base_offset = log.end_offset
    record_batch.place(batch, base_offset, partition.leader_epoch)
    append_time = partition.topic.settings.log_append_time
    if append_time or max_timestamp != header[8]:
        record_batch.stamp(batch, max_timestamp, append_time)
    if producer_id >= 0:
        # Before the append, so that whom it wakes sees the transaction.
        last = base_offset + count - 1
        done = AppendedBatch(sequence, last_sequence(sequence, count), base_offset, last, max_timestamp)
        producers.appended(producer_id, epoch, done, transactional)
        for follower in partition.followers.values():
            if follower.state is FollowerState.IN_STEP:
                follower.log.producers.appended(producer_id, epoch, done, transactional)
    partition.append(batch, base_offset, count)
    return PartitionProduceResponse(index, 0, base_offset, now_ms if append_time else -1, log.start_offset)


def merged(request: ProduceRequest) -> list[TopicProduceData]:
    """Each topic once, each partition once with its last records, and no topic without partitions."""
    topics = request.topic_data
    if len(topics) == 1 and len(topics[0].partition_data) == 1:
        return topics
    merged: dict[UUID | str, dict[int, PartitionProduceData]] = {}
    heads: dict[UUID | str, TopicProduceData] = {}
    for topic in topics:
        key = topic.topic_id or topic.name
        heads[key] = topic
        merged.setdefault(key, {}).update((p.index, p) for p in topic.partition_data)
    return [
        TopicProduceData(heads[key].topic_id, list(partitions.values()), heads[key].name)
        for key, partitions in merged.items()
        if partitions
    ]


def transactional_batches(call: Call, request: ProduceRequest) -> dict[Partition, BatchHeader]:
    """The headers of those batches of a transaction that this broker may append."""
    found = {}
    for data in merged(request):
        topic, _ = topic_of(call, data)
        for asked in data.partition_data:
            partition = (
                call.partition(topic, asked.index) if topic is not None and not topic.internal else None
            )
            if partition is None or partition.leader != call.broker.id or asked.records is None:
                continue
            header = record_batch.common(asked.records)
            if header is not None and header.attributes & record_batch.TRANSACTIONAL:
                found[partition] = header
    return found


def _transactional(topic: TopicProduceData) -> bool:
    """Whether any batch says that it belongs to a transaction."""
    for asked in topic.partition_data:
        records = asked.records
        if (
            records
            and len(records) > record_batch.ATTRIBUTES_AT
            and records[record_batch.ATTRIBUTES_AT] & record_batch.TRANSACTIONAL
            and records[16] == 2
        ):
            return True
    return False


def _verifies(call: Call, request: ProduceRequest) -> bool:
    return request.acks in _ACKS and call.policies.transaction_verification is not None


def topic_of(call: Call, data: TopicProduceData) -> tuple[Topic | None, ErrorCode | None]:
    if call.version < 13:
        return call.cluster.topics.get(data.name), None
    topic = call.cluster.topic_ids.get(data.topic_id) if data.topic_id else None
    return topic, None if topic else ErrorCode.UNKNOWN_TOPIC_ID


def refused(
    index: int,
    code: ErrorCode,
    message: str | None = None,
    records: list[BatchIndexAndErrorMessage] | None = None,
    log_start_offset: int = -1,
) -> PartitionProduceResponse:
    return PartitionProduceResponse(index, code, -1, -1, log_start_offset, records or [], message)

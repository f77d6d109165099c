"""Produce (0): appends a batch per partition (KIP-98, KIP-467, KIP-951).

Errors are found in the same order as in Kafka (`KafkaApis.handleProduceRequest`,
`ReplicaManager.handleProduceAppend`, `UnifiedLog.append`): in the request as a whole, in the bytes of each
partition, in the transaction, then in the log, partition by partition.
"""

from collections.abc import Generator
from uuid import UUID

from ..cluster.call import Call
from ..cluster.topic import Topic
from ..log.old_messages import Made, converting
from ..log.validation import BatchError, validate
from ..outcome import CLOSE, NEVER, Steps
from ..policies.producers.marked_append_time import marked_append_time
from ..policies.producers.message_sets import message_sets
from ..policies.transactions.transaction_verification import transaction_verification
from ..policies.transactions.unnamed_transactions import unnamed_transactions
from ..portions import PORTION, at_once
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ..protocol.record_batch import MAGIC
from ..replication.partition import Partition
from .appending import ACKS, append, conclude
from .produce_alone import append_alone, append_at_once
from .produced_batches import (
    BATCHES_SINCE,
    MESSAGES,
    RequestError,
    any_batch,
    first_is_transactional,
    only_batch,
)
from .produced_messages import append_as_messages
from .produced_partitions import Asked, refused, topic_of
from .registry import handles
from .verification import Verification

ADMIN_CLIENT_ID = "__admin_client"
"""The only client id that may write to internal topics (`AdminUtils.java`)."""

_TWO_PRODUCERS = RequestError(
    ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID"
)


@handles(
    ApiKey.PRODUCE,
    changes=True,
    source="""KafkaApis.handleProduceRequest, ProduceRequest.validateRecords, ReplicaManager.appendRecords and
        handleProduceAppend (which maps errors of verification), AddPartitionsToTxnManager,
        Partition.appendRecordsToLeader, LogValidator, ProducerAppendInfo; UNKNOWN_PRODUCER_ID before 2.5,
        DUPLICATE_SEQUENCE_NUMBER in 0.11 and 1.x (ProducerStateManager)""",
    partition_retry="""NOT_LEADER_OR_FOLLOWER, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v13+,
        NOT_ENOUGH_REPLICAS, NOT_ENOUGH_REPLICAS_AFTER_APPEND, REQUEST_TIMED_OUT, KAFKA_STORAGE_ERROR,
        CORRUPT_MESSAGE, CONCURRENT_TRANSACTIONS v12+""",
    partition="""MESSAGE_TOO_LARGE, RECORD_LIST_TOO_LARGE, INVALID_RECORD, INVALID_TIMESTAMP,
        INVALID_REQUIRED_ACKS, INVALID_TOPIC_EXCEPTION, UNSUPPORTED_FOR_MESSAGE_FORMAT,
        UNSUPPORTED_COMPRESSION_TYPE v3-6, OUT_OF_ORDER_SEQUENCE_NUMBER, DUPLICATE_SEQUENCE_NUMBER,
        UNKNOWN_PRODUCER_ID, INVALID_PRODUCER_EPOCH, INVALID_PRODUCER_ID_MAPPING, INVALID_TXN_STATE,
        TRANSACTION_ABORTABLE v11+, TOPIC_AUTHORIZATION_FAILED, CLUSTER_AUTHORIZATION_FAILED,
        TRANSACTIONAL_ID_AUTHORIZATION_FAILED""",
    at_once=append_at_once,
)
def produce(call: Call, request: ProduceRequest) -> object:
    """Batches of a transaction are verified first (KIP-890).

    With acks=0 there is no answer, and an error closes the connection, as in Kafka.
    """
    if (answered := append_alone(call, request)) is not None:
        return answered
    steps = _steps(call, request)
    if all(_is_owned(each.records) for data in request.topic_data[:1] for each in data.partition_data[:1]):
        return call.in_parts(steps)
    return at_once(steps)


def _is_owned(records: bytes | memoryview | None) -> bool:
    """Whether the bytes don't belong to the connection, which reads on."""
    return type(records) is not memoryview or not records.readonly


def _steps(call: Call, request: ProduceRequest) -> Steps:
    answer = ProduceResponse()
    try:
        unnamed = first_is_transactional(request) and request.transactional_id is None
        if unnamed and call.policies[unnamed_transactions] == "refused":
            raise RequestError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
        asked = yield from _looked_at(call, request, answer)
    except RequestError as error:
        return _refuse_all(request, error)
    if asked is None:
        # A real broker fails on null records, and neither answers nor reads on.
        return NEVER
    if request.transactional_id is not None and call.policies[transaction_verification] is not None:
        producers = {each.header[9:11] for each in asked if each.appends and each.in_transaction}
        if len(producers) > 1:
            return _refuse_all(request, _TWO_PRODUCERS)
        return Verification(call, request, answer, asked, append_all).start()
    return append_all(call, request, answer, asked)


def _looked_at(
    call: Call, request: ProduceRequest, answer: ProduceResponse
) -> Generator[None, None, list[Asked] | None]:
    """Checks each partition as far as possible without its log; None if records are null.

    If a partition is named twice, its last valid batch is appended, but an error takes precedence in the
    answer.
    """
    topics = request.topic_data
    alone = len(topics) == 1 and len(topics[0].partition_data) == 1
    found: dict[object, Asked] = {}
    results: dict[object, TopicProduceResponse] = {}
    version, verified = call.version, call.policies[transaction_verification] is not None
    mixed = call.policies[message_sets] == "mixed"
    for data in topics:
        yield
        topic, error = _topic_of(call, data)
        key = data.topic_id or data.name
        result = results.get(key)
        if result is None:
            result = results[key] = TopicProduceResponse(data.topic_id, [], data.name)
        for number, each in enumerate(data.partition_data):
            if number % PORTION == PORTION - 1:
                yield
            index = each.index
            one = None if alone else found.get((key, index))
            if one is None:
                one = found[key, index] = Asked(index, result)
            partition = call.partition(topic, index)
            if partition is None:
                one.answer = refused(index, error or ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
                continue
            one.partition = partition
            if each.records is None:
                one.null, one.appends = True, False
                continue
            try:
                if version < BATCHES_SINCE:
                    one.batch, one.header = any_batch(each.records, verified, mixed)
                else:
                    one.batch, one.header = only_batch(each.records, version, verified)
            except BatchError as refusal:
                one.answer = refused(index, refusal.code)
            else:
                one.null, one.appends = False, True
    asked = list(found.values())
    if any(one.null for one in asked):
        return None
    named = {id(one.topic) for one in asked}
    answer.responses = [each for each in results.values() if id(each) in named]
    return asked


def _refuse_all(request: ProduceRequest, error: RequestError) -> object:
    """The same error for every partition; none if records are null (`ProduceRequest.getErrorResponse`)."""
    if any(each.records is None for data in request.topic_data for each in data.partition_data):
        return NEVER
    if request.acks == 0:
        return CLOSE
    topics = [
        TopicProduceResponse(
            data.topic_id,
            [refused(each.index, error.code, error.message) for each in data.partition_data],
            data.name,
        )
        for data in merged(request)
    ]
    return ProduceResponse(topics)


def append_all(call: Call, request: ProduceRequest, answer: ProduceResponse, asked: list[Asked]) -> object:
    """Appends what was not refused, and answers."""
    if len(asked) != 1:
        return call.in_parts(_one_by_one(call, request, answer, asked))
    (each,) = asked
    if each.appends and each.is_converted and _is_owned(each.batch):
        return call.in_parts(_one_by_one(call, request, answer, asked))
    failed = at_once(_append_one(call, each, request.acks))
    return conclude(call, request, answer, failed, each.behind)


def _one_by_one(call: Call, request: ProduceRequest, answer: ProduceResponse, asked: list[Asked]) -> Steps:
    """One part for each partition, or more for messages of magic 0 and 1."""
    failed = behind = False
    for each in asked:
        steps = _append_one(call, each, request.acks)
        # All that belongs to the connection is appended at once.
        if not each.appends or _is_owned(each.batch):
            failed = (yield from steps) or failed
            yield
        else:
            failed = at_once(steps) or failed
        behind = behind or each.behind
    return conclude(call, request, answer, failed, behind)


def _append_one(call: Call, asked: Asked, acks: int) -> Generator[None, None, bool]:
    """Adds a partition's answer, and returns whether it is an error."""
    one = None
    if asked.appends:
        if acks not in ACKS:
            one = refused(asked.index, ErrorCode.INVALID_REQUIRED_ACKS)
        elif asked.partition.topic.internal and call.client_id != ADMIN_CLIENT_ID:
            one = refused(asked.index, ErrorCode.INVALID_TOPIC_EXCEPTION)
        elif asked.header is MESSAGES:
            one = yield from _append_messages(call, asked.partition, asked.batch, acks)
        elif asked.is_converted:
            one = yield from append_as_messages(call, asked.partition, asked.batch, asked.header, acks)
        else:
            one = append(call, asked.partition, asked.batch, asked.header, acks)
    one = asked.answer or one
    assert one is not None
    asked.topic.partition_responses.append(one)
    return one.error_code != 0


def _append_messages(
    call: Call, partition: Partition, records: bytes | memoryview, acks: int
) -> Generator[None, None, PartitionProduceResponse]:
    """As `append`, in parts, for messages of magic 0 and 1, which become a batch, and batches among them."""
    log, mixed = partition.log, call.policies[message_sets] == "mixed"
    if partition.leader != call.broker.id or (acks == -1 and partition.is_under_min_isr):
        return append(call, partition, records, MESSAGES, acks)
    tolerated = call.policies[marked_append_time] == "tolerated"
    settings, place = log.segments.settings, (partition.topic.name, partition.index)
    try:
        made = yield from converting(memoryview(records), settings, mixed=mixed, marks_tolerated=tolerated)
        if len(made) > 1:
            now_ms = call.environment.now_ms
            made = [
                Made(*validate(memoryview(each.batch), each.header, settings, place, now_ms)[:2])
                for each in made
            ]
    except BatchError as error:
        answers = [refused(partition.index, error.code, error.message)]
    else:
        if settings.magic != MAGIC:
            answers = []
            for batch, header, sent in made:
                header = header._replace(magic=settings.magic)
                batch = memoryview(batch)
                answers.append((yield from append_as_messages(call, partition, batch, header, acks, sent)))
        else:
            answers = [append(call, partition, memoryview(batch), header, acks) for batch, header, _ in made]
    if not answers:
        return PartitionProduceResponse(partition.index, 0, -1, -1, log.start_offset)
    answer = answers[0]
    if mixed and answer.error_code == ErrorCode.INVALID_RECORD:
        answer.error_code = ErrorCode.CORRUPT_MESSAGE
    return answer


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


def _topic_of(call: Call, data: TopicProduceData) -> tuple[Topic | None, ErrorCode | None]:
    topic = topic_of(call, data.name, data.topic_id)
    return topic, ErrorCode.UNKNOWN_TOPIC_ID if topic is None and call.version >= 13 else None

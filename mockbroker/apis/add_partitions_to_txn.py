"""AddPartitionsToTxn (24): partitions become part of a transaction (KIP-98).

Since v4 brokers ask about many transactions at once, and whether partitions are part of one (KIP-890).
"""

from collections.abc import Callable, Generator, Mapping, Sequence

from ..cluster.call import Call
from ..coordinators.reply import Reply
from ..coordinators.transaction import EPOCH_BUMP_VERSION, TopicPartition
from ..coordinators.transaction_rules import ProducerIdAndEpoch
from ..outcome import Steps
from ..policies.transactions.transaction_verification import transaction_verification
from ..portions import portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ..protocol.messages.common import NamePartitions
from .fencing import shown
from .registry import handles

E = ErrorCode
_BETWEEN_BROKERS = 4
Errors = Mapping[TopicPartition, ErrorCode]
Done = Callable[[AddPartitionsToTxnResult], None]
Topics = Sequence[NamePartitions]


@handles(
    ApiKey.ADD_PARTITIONS_TO_TXN,
    changes=True,
    source="""KafkaApis.handleAddPartitionsToTxnRequest (PRODUCER_FENCED is INVALID_PRODUCER_EPOCH before v2),
        TransactionCoordinator.handleAddPartitionsToTransaction and handleVerifyPartitionsInTransaction
        (v4+, brokers only), TransactionStateManager.appendTransactionToLog""",
    top="CLUSTER_AUTHORIZATION_FAILED v4+",
    partition_retry="""NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS,
        CONCURRENT_TRANSACTIONS, UNKNOWN_TOPIC_OR_PARTITION""",
    partition="""INVALID_PRODUCER_EPOCH v0-1, PRODUCER_FENCED v2+, INVALID_PRODUCER_ID_MAPPING,
        INVALID_TXN_STATE, INVALID_REQUEST, OPERATION_NOT_ATTEMPTED, TRANSACTION_ABORTABLE v4+,
        TOPIC_AUTHORIZATION_FAILED, TRANSACTIONAL_ID_AUTHORIZATION_FAILED""",
)
def add_partitions_to_txn(call: Call, request: AddPartitionsToTxnRequest) -> Steps:
    reply: Reply[AddPartitionsToTxnResponse] = Reply(call)
    answer = AddPartitionsToTxnResponse()

    def done(result: AddPartitionsToTxnResult) -> None:
        answer.results_by_transaction.append(result)
        if len(answer.results_by_transaction) == len(request.transactions):
            reply.complete(answer)

    # What is named of an id that occurs twice is looked up by its id (`AddPartitionsToTxnRequest.java`).
    last = {each.transactional_id: each.topics for each in request.transactions}
    first = {each.transactional_id: each.topics for each in reversed(request.transactions)}
    for asked in request.transactions:
        name = asked.transactional_id
        yield from _one(call, asked, last[name], first[name], done)
        yield
    if not request.transactions:
        reply.complete(answer)
    return reply.outcome()


def _one(
    call: Call, asked: AddPartitionsToTxnTransaction, topics: Topics, shown_topics: Topics, done: Done
) -> Generator[None, None, None]:
    """Adds the partitions of one transaction; if one does not exist, none is added. The answer then names
    those of `shown_topics`."""
    known: set[TopicPartition] = set()
    named: set[TopicPartition] = set()
    for topic in topics:
        # An id that occurs twice may be answered twice with many more partitions than it has there.
        call.count(len(topic.partitions))
        for few in portions(topic.partitions):
            some = [(topic.name, index) for index in few]
            named.update(some)
            known.update(key for key in some if call.cluster.partition(*key) is not None)
            yield
    keys = frozenset(named)
    if known != keys:
        errors = {
            key: E.OPERATION_NOT_ATTEMPTED if key in known else E.UNKNOWN_TOPIC_OR_PARTITION for key in keys
        }
        done(_result(asked.transactional_id, errors))
        return
    producer = ProducerIdAndEpoch(asked.producer_id, asked.producer_epoch)
    if asked.verify_only:
        done(_result(asked.transactional_id, _verified(call, asked, producer, keys)))
        return

    def added(error: ErrorCode) -> None:
        code = shown(call, ApiKey.ADD_PARTITIONS_TO_TXN, error)
        done(_all(asked.transactional_id, shown_topics, code))

    version = EPOCH_BUMP_VERSION if call.version >= _BETWEEN_BROKERS else 0
    call.broker.transactions.add(asked.transactional_id, producer, keys, version, added)


def _verified(
    call: Call,
    asked: AddPartitionsToTxnTransaction,
    producer: ProducerIdAndEpoch,
    keys: frozenset[TopicPartition],
) -> Errors:
    try:
        missing = call.broker.transactions.missing(asked.transactional_id, producer, keys)
    except ApiError as error:
        return dict.fromkeys(keys, error.code)
    unknown = not_added(call)
    return {key: unknown if key in missing else E.NONE for key in keys}


def not_added(call: Call) -> ErrorCode:
    """What a coordinator answers to brokers for a partition that is not part of the transaction: since 3.8 an
    error that means "abort" (KIP-890)."""
    verification = call.policies[transaction_verification]
    abortable = verification is not None and verification.produce_abortable < 1 << 15
    return E.TRANSACTION_ABORTABLE if abortable else E.INVALID_TXN_STATE


def _all(transactional_id: str, named: Topics, error: ErrorCode) -> AddPartitionsToTxnResult:
    """The same error for each partition, as often as it was named."""
    topics = [
        AddPartitionsToTxnTopicResult(
            topic.name, [AddPartitionsToTxnPartitionResult(index, error) for index in topic.partitions]
        )
        for topic in named
    ]
    return AddPartitionsToTxnResult(transactional_id, topics)


def _result(transactional_id: str, errors: Errors) -> AddPartitionsToTxnResult:
    topics: dict[str, AddPartitionsToTxnTopicResult] = {}
    for (name, index), error in sorted(errors.items()):
        topic = topics.setdefault(name, AddPartitionsToTxnTopicResult(name))
        topic.results_by_partition.append(AddPartitionsToTxnPartitionResult(index, error))
    return AddPartitionsToTxnResult(transactional_id, list(topics.values()))

"""Requests of producers for transactions, and what describes them."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..cluster.topic import INTERNAL
from ..policies.security.idempotent_write import idempotent_write
from ..portions import portions
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
from ..protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from ..protocol.messages.init_producer_id import InitProducerIdRequest
from ..protocol.messages.list_transactions import ListTransactionsResponse
from .groups import committing
from .refusing import CODES, REQUEST, cluster, merged, parted, refused
from .verdict import Judging, Rule, Verdict

ID: Final = ResourceType.TRANSACTIONAL_ID
_TOPIC: Final = ResourceType.TOPIC
_BETWEEN_BROKERS: Final = 4
"""AddPartitionsToTxn comes from brokers since."""


def init_producer_id(asker: Asker, call: Call, request: InitProducerIdRequest) -> Verdict | Judging:
    """Needs WRITE on the transactional id; without one, to write idempotently
    (`KafkaApis.handleInitProducerIdRequest`)."""
    api, name = ApiKey.INIT_PRODUCER_ID, request.transactional_id
    if name is not None:
        needed = [Operation.WRITE] + [Operation.TWO_PHASE_COMMIT] * request.enable2_pc
        if all(asker.may(each, ID, name) for each in needed):
            return Verdict(request)
        return refused(call, api, request, ID)
    if call.policies[idempotent_write] == "some-topic" and asker.may_some(Operation.WRITE, _TOPIC):
        return Verdict(request)
    if asker.may(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER):
        return Verdict(request)
    return refused(call, api, request, ResourceType.CLUSTER)


def add_offsets(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
    """AddOffsetsToTxn."""
    if not asker.may(Operation.WRITE, ID, request.transactional_id):
        return refused(call, ApiKey.ADD_OFFSETS_TO_TXN, request, ID)
    if not asker.may(Operation.READ, ResourceType.GROUP, request.group_id):
        return refused(call, ApiKey.ADD_OFFSETS_TO_TXN, request, ResourceType.GROUP)
    return Verdict(request)


_COMMITTING: Final[Rule] = committing(ApiKey.TXN_OFFSET_COMMIT, Operation.READ)


def commit_offsets(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
    """TxnOffsetCommit."""
    if not asker.may(Operation.WRITE, ID, request.transactional_id):
        return refused(call, ApiKey.TXN_OFFSET_COMMIT, request, ID)
    return _COMMITTING(asker, call, request)


# -- AddPartitionsToTxn

_OF_BROKERS: Final = cluster(ApiKey.ADD_PARTITIONS_TO_TXN, Operation.CLUSTER_ACTION, told=REQUEST)


def add_partitions(asker: Asker, call: Call, request: AddPartitionsToTxnRequest) -> Verdict | Judging:
    """Needs WRITE on the transactional id and on every topic, internal ones aside: if one is refused, none is
    added (`KafkaApis.handleAddPartitionsToTxnRequest`)."""
    if call.version >= _BETWEEN_BROKERS:
        return _OF_BROKERS(asker, call, request)
    return _added(asker, call, request)


def _added(asker: Asker, call: Call, request: AddPartitionsToTxnRequest) -> Judging:
    (asked,) = request.transactions
    if not asker.may(Operation.WRITE, ID, asked.transactional_id):
        errors = yield from _with(asked, lambda *_: CODES[ID])
        return Verdict(request, AddPartitionsToTxnResponse(results_by_transaction=[errors]))
    _, others = yield from parted(
        call,
        asked.topics,
        lambda _, topic: topic.name,
        lambda name: name not in INTERNAL and asker.may(Operation.WRITE, _TOPIC, name),
    )
    if not others:
        return Verdict(request)
    hidden = {topic.name for topic in others}

    def code(name: str, index: int) -> ErrorCode:
        if name in hidden:
            return CODES[_TOPIC]
        known = call.cluster.partition(name, index) is not None
        return ErrorCode.OPERATION_NOT_ATTEMPTED if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    errors = yield from _with(asked, code)
    return Verdict(request, AddPartitionsToTxnResponse(results_by_transaction=[errors]))


def _with(asked: AddPartitionsToTxnTransaction, code: Any) -> Generator[None, None, AddPartitionsToTxnResult]:
    results = []
    for topic in asked.topics:
        partitions = []
        for portion in portions(topic.partitions):
            partitions += [
                AddPartitionsToTxnPartitionResult(each, code(topic.name, each)) for each in portion
            ]
            yield
        results.append(AddPartitionsToTxnTopicResult(topic.name, partitions))
    return AddPartitionsToTxnResult(asked.transactional_id, results)


# -- what describes transactions


def describe(asker: Asker, call: Call, request: DescribeTransactionsRequest) -> Judging:
    """Needs DESCRIBE on each id; of a transaction's topics the client sees those that it may describe."""
    allowed, others = yield from parted(
        call,
        request.transactional_ids,
        lambda _, name: name,
        lambda name: asker.may(Operation.DESCRIBE, ID, name),
    )
    states = [TransactionState(error_code=CODES[ID], transactional_id=name) for name in others]
    refusal = DescribeTransactionsResponse(transaction_states=states)
    if not allowed and others:
        return Verdict(request, refusal)

    def then(answer: DescribeTransactionsResponse) -> Generator[None, None, Any]:
        found = []
        for portion in portions(answer.transaction_states):
            found += [_seen(asker, state) for state in portion]
            yield
        return merged(replace(answer, transaction_states=found), refusal)

    return Verdict(replace(request, transactional_ids=allowed), then=then)


def _seen(asker: Asker, state: TransactionState) -> TransactionState:
    topics = [each for each in state.topics if asker.sees(_TOPIC, each.topic)]
    return replace(state, topics=topics)


def list_transactions(asker: Asker, call: Call, request: Any) -> Verdict:
    """The transactions whose ids the client may describe."""

    def then(answer: ListTransactionsResponse) -> Generator[None, None, ListTransactionsResponse]:
        found = []
        for portion in portions(answer.transaction_states):
            found += [each for each in portion if asker.sees(ID, each.transactional_id)]
            yield
        return replace(answer, transaction_states=found)

    return Verdict(request, then=then)

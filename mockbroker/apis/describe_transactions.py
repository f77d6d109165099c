"""DescribeTransactions (65): the state of transactional ids (KIP-664)."""

from collections.abc import Collection

from ..cluster.call import Call
from ..coordinators.transaction import NONE
from ..coordinators.transaction_states import TransactionState as State
from ..outcome import Steps
from ..policies.transactions.ended_start_time import ended_start_time
from ..portions import Pace, portions
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.common import TopicPartitions
from ..protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TransactionState,
)
from .registry import handles


@handles(
    ApiKey.DESCRIBE_TRANSACTIONS,
    changes=False,
    source="KafkaApis.handleDescribeTransactionsRequest, TransactionCoordinator.handleDescribeTransactions",
    transaction_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    transaction="TRANSACTIONAL_ID_NOT_FOUND, INVALID_REQUEST, TRANSACTIONAL_ID_AUTHORIZATION_FAILED",
)
def describe_transactions(call: Call, request: DescribeTransactionsRequest) -> Steps:
    """An id that is named twice is described twice."""
    answer, pace = DescribeTransactionsResponse(), Pace()
    for transactional_id in request.transactional_ids:
        described, partitions = _one(call, transactional_id)
        answer.transaction_states.append(described)
        call.count(len(partitions))
        if pace.enough():
            yield
        topics: dict[str, TopicPartitions] = {}
        for portion in portions(partitions):
            for topic, index in portion:
                topics.setdefault(topic, TopicPartitions(topic)).partitions.append(index)
            if pace.enough(len(portion)):
                yield
        described.topics = list(topics.values())
    return answer


def _one(call: Call, transactional_id: str) -> tuple[TransactionState, Collection[tuple[str, int]]]:
    """The state without partitions, and these."""
    try:
        found = call.broker.transactions.find(transactional_id)
    except ApiError as error:
        return TransactionState(error.code, transactional_id), ()
    if found is None:
        return TransactionState(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id), ()
    start_ms = found.start_ms
    if found.state is State.EMPTY and call.policies[ended_start_time] == "cleared":
        start_ms = NONE
    described = TransactionState(
        ErrorCode.NONE,
        transactional_id,
        found.state.value,
        found.timeout_ms,
        start_ms,
        found.producer_id,
        found.epoch,
    )
    return described, sorted(found.partitions)

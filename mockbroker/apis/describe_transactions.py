"""DescribeTransactions (65): the state of transactional ids (KIP-664)."""

from ..cluster.call import Call
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from .registry import handles


@handles(ApiKey.DESCRIBE_TRANSACTIONS)
def describe_transactions(call: Call, request: DescribeTransactionsRequest) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_one(call, each) for each in request.transactional_ids]
    )


def _one(call: Call, transactional_id: str) -> TransactionState:
    try:
        found = call.broker.transactions.find(transactional_id)
    except ApiError as error:
        return TransactionState(error.code, transactional_id)
    if found is None:
        return TransactionState(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, transactional_id)
    topics: dict[str, TopicData] = {}
    for topic, index in sorted(found.partitions):
        topics.setdefault(topic, TopicData(topic)).partitions.append(index)
    return TransactionState(
        ErrorCode.NONE,
        transactional_id,
        found.state.value,
        found.timeout_ms,
        found.start_ms,
        found.producer_id,
        found.epoch,
        list(topics.values()),
    )

"""ListTransactions (66): the transactional ids of one coordinator (KIP-664, KIP-994, KIP-1152)."""

import re

from ..cluster.call import Call
from ..coordinators.transaction import Transaction
from ..coordinators.transaction_states import TransactionState as State
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from .registry import handles


@handles(ApiKey.LIST_TRANSACTIONS)
def list_transactions(call: Call, request: ListTransactionsRequest) -> ListTransactionsResponse:
    """An empty filter matches everything, a filter with only unknown states nothing."""
    try:
        pattern = re.compile(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except re.error:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    return ListTransactionsResponse(
        unknown_state_filters=[
            name for name in dict.fromkeys(request.state_filters) if name not in set(State)
        ],
        transaction_states=[
            TransactionState(name, found.producer_id, found.state.value)
            for name, found in call.broker.transactions
            if _listed(request, found, call.now_ms) and (pattern is None or pattern.fullmatch(name))
        ],
    )


def _listed(request: ListTransactionsRequest, found: Transaction, now_ms: int) -> bool:
    if request.producer_id_filters and found.producer_id not in request.producer_id_filters:
        return False
    if request.state_filters and found.state.value not in request.state_filters:
        return False
    return request.duration_filter < 0 or now_ms - found.start_ms > request.duration_filter

"""ListTransactions (66): the transactional ids of one coordinator (KIP-664, KIP-994, KIP-1152)."""

import re

from ..cluster.call import Call
from ..coordinators.transaction_states import TransactionState as State
from ..outcome import Steps, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from .registry import handles


@handles(ApiKey.LIST_TRANSACTIONS)
def list_transactions(call: Call, request: ListTransactionsRequest) -> Steps:
    """An empty filter matches everything, a filter with only unknown states nothing."""
    try:
        pattern = re.compile(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except re.error:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    states, producers = dict.fromkeys(request.state_filters), frozenset(request.producer_id_filters)
    known = set(State)
    answer = ListTransactionsResponse(unknown_state_filters=[name for name in states if name not in known])
    for portion in portions(call.broker.transactions):
        answer.transaction_states += [
            TransactionState(name, found.producer_id, found.state.value)
            for name, found in portion
            if (not producers or found.producer_id in producers)
            and (not states or found.state.value in states)
            and (request.duration_filter < 0 or call.now_ms - found.start_ms > request.duration_filter)
            and (pattern is None or pattern.fullmatch(name))
        ]
        yield
    return answer

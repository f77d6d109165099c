"""ListTransactions (66): the transactional ids of one coordinator (KIP-664, KIP-994, KIP-1152)."""

from collections.abc import Iterator
from typing import Final

from ..cluster.call import Call
from ..coordinators.transaction import Transaction
from ..coordinators.transaction_states import TransactionState as State
from ..outcome import Steps
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)
from ..regular_expressions import Expression, ExpressionError, MissingRE2Error, TooDeepError, expression
from .registry import handles

_IN_A_PART: Final = 250
_WORK_IN_A_PART: Final = 200_000
_STATES: Final = frozenset(State)


@handles(
    ApiKey.LIST_TRANSACTIONS,
    changes=False,
    source="""TransactionCoordinator.handleListTransactions, TransactionStateManager.listTransactionStates
        (KIP-1152: v2)""",
    top_retry="COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="INVALID_REGULAR_EXPRESSION v2+",
)
def list_transactions(call: Call, request: ListTransactionsRequest) -> Steps:
    """An empty filter matches everything, a filter with only unknown states nothing."""
    try:
        pattern = _pattern(call, request.transactional_id_pattern)
        listed = []
        work = 0
        for number, (name, found) in enumerate(list(_filtered(call, request)), 1):
            if pattern is None or pattern.matches(name):
                listed.append(TransactionState(name, found.producer_id, found.state.value))
            work += pattern.work(name) if pattern else 0
            if number % _IN_A_PART == 0 or work >= _WORK_IN_A_PART:
                work = 0
                yield
    except TooDeepError:
        return ListTransactionsResponse(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
    except ExpressionError:
        return ListTransactionsResponse(error_code=ErrorCode.INVALID_REGULAR_EXPRESSION)
    return ListTransactionsResponse(
        unknown_state_filters=[name for name in dict.fromkeys(request.state_filters) if name not in _STATES],
        transaction_states=listed,
    )


def _pattern(call: Call, pattern: str | None) -> Expression | None:
    try:
        return expression(pattern) if pattern else None
    except MissingRE2Error as error:
        call.cluster.notes.unread_pattern(call.client_id, pattern or "", str(error))
        raise


def _filtered(call: Call, request: ListTransactionsRequest) -> Iterator[tuple[str, Transaction]]:
    """Those that the filters leave, of which the pattern is none."""
    producers, states = frozenset(request.producer_id_filters), frozenset(request.state_filters)
    for name, found in call.broker.transactions:
        if producers and found.producer_id not in producers:
            continue
        if states and found.state.value not in states:
            continue
        if request.duration_filter < 0 or call.now_ms - found.start_ms > request.duration_filter:
            yield name, found

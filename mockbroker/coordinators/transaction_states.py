"""The states of a transaction, and the events that lead from one to the next (`TransactionState.java`).

A transaction touches partitions of many brokers, none of which knows the others. The coordinator of the
transactional id alone knows all partitions, and alone decides how the transaction ends; its decision is the
record in `__transaction_state`. After that it only carries it out: each partition gets a marker, as often
as it takes. So there are two steps: before Prepare anybody may fail and the transaction is aborted; after
it no failure changes the outcome, and the next coordinator goes on where this one stopped.

Producer id and epoch say who may act. InitProducerId gives an application the next epoch and aborts
what an earlier instance left open: with its older epoch that one is fenced everywhere, by the coordinator
and by the leaders of partitions (PRODUCER_FENCED, INVALID_PRODUCER_EPOCH). While markers are being written
nothing else is done for the id (CONCURRENT_TRANSACTIONS).

A transactional id begins Empty. The first partition that is added makes its transaction Ongoing. Once the
client, or the transaction's timeout, decides how it ends, PrepareCommit or PrepareAbort is in the log and
can't be taken back. When all partitions have their markers, it is CompleteCommit or CompleteAbort, until
partitions are added again or InitProducerId makes it Empty. An id that has been idle for long is Dead, and
forgotten.
"""

import enum
from typing import Final


class TransactionState(enum.StrEnum):
    """The values are those in DescribeTransactions and ListTransactions; their order is that of the ids in
    the log."""

    EMPTY = "Empty"
    ONGOING = "Ongoing"
    PREPARE_COMMIT = "PrepareCommit"
    PREPARE_ABORT = "PrepareAbort"
    COMPLETE_COMMIT = "CompleteCommit"
    COMPLETE_ABORT = "CompleteAbort"
    DEAD = "Dead"
    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    """Only filters know it: no transaction is ever seen in this state."""


class TransactionEvent(enum.Enum):
    INITIALIZED = "InitProducerId gave the producer an epoch"
    ADDED = "partitions were added"
    COMMIT = "EndTxn committed"
    ABORT = "EndTxn, a new instance or the timeout aborted"
    COMPLETED = "all partitions have their markers"
    EXPIRED = "nothing happened for `transactional.id.expiration.ms`"


_S, _E = TransactionState, TransactionEvent

_AT_REST: Final = {
    _E.INITIALIZED: _S.EMPTY,
    _E.ADDED: _S.ONGOING,
    # A client of KIP-890 need not know whether it has written anything.
    _E.ABORT: _S.PREPARE_ABORT,
    _E.EXPIRED: _S.DEAD,
}

TRANSITIONS: Final[dict[TransactionState, dict[TransactionEvent, TransactionState]]] = {
    _S.EMPTY: _AT_REST,
    _S.ONGOING: {_E.ADDED: _S.ONGOING, _E.COMMIT: _S.PREPARE_COMMIT, _E.ABORT: _S.PREPARE_ABORT},
    _S.PREPARE_COMMIT: {_E.COMPLETED: _S.COMPLETE_COMMIT},
    _S.PREPARE_ABORT: {_E.COMPLETED: _S.COMPLETE_ABORT},
    _S.COMPLETE_COMMIT: _AT_REST,
    _S.COMPLETE_ABORT: _AT_REST,
    _S.DEAD: {},
    _S.PREPARE_EPOCH_FENCE: {},
}

PREPARED: Final = frozenset({_S.PREPARE_COMMIT, _S.PREPARE_ABORT})
COMPLETE: Final = frozenset({_S.COMPLETE_COMMIT, _S.COMPLETE_ABORT})
IDS: Final = {state: number for number, state in enumerate(TransactionState)}
BY_ID: Final = dict(enumerate(TransactionState))

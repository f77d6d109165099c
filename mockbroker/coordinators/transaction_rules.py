"""What InitProducerId, AddPartitionsToTxn and EndTxn do to a transaction (`TransactionCoordinator.scala`).

Each rule takes the state of a transaction and returns the next one, or raises. Everything else - log,
markers, answers - is up to the coordinator.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from ..policies.transactions.end_txn_epoch import end_txn_epoch
from ..policies.transactions.exhausted_epochs import exhausted_epochs
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from .transaction import EPOCH_BUMP_VERSION, MAX_EPOCH, NONE, TopicPartition, Transaction
from .transaction_states import COMPLETE, PREPARED, TransactionEvent, TransactionState

if TYPE_CHECKING:
    from ..policies import Policies
    from ..policies.transactions.transaction_timeout_fencing import Fencing

E = ErrorCode
_S = TransactionState


class ProducerIdAndEpoch(NamedTuple):
    """ProducerIdAndEpoch id and epoch, as a client sends them."""

    id: int
    epoch: int


class AlreadyDoneError(Exception):
    """There is nothing left to do: the answer is the same as the first time."""


def check_expected(now: Transaction, expected: ProducerIdAndEpoch | None) -> None:
    """Checks the producer id of an InitProducerId. PRODUCER_FENCED unless it is the current one, the previous
    one if its epochs were used up, or there was none."""
    if expected is None or now.epoch == NONE or expected.id == now.producer_id:
        return
    if expected.id == now.previous_producer_id and expected.epoch >= MAX_EPOCH - 1:
        return
    raise ApiError(E.PRODUCER_FENCED)


def initialize(
    now: Transaction,
    expected: ProducerIdAndEpoch | None,
    timeout_ms: int,
    new_producer_id: Callable[[], int],
    now_ms: int,
) -> Transaction:
    """The next epoch for a transaction at rest, or the current one again (KIP-360). PRODUCER_FENCED.

    If the epochs of the producer id are used up, another producer id takes its place.
    """
    if now.exhausted and (expected is None or expected.epoch == now.epoch):
        last = NONE if expected is None else now.epoch
        return now.initialized(new_producer_id(), 0, last, timeout_ms, now_ms)
    if expected is None:
        epoch, last = now.epoch + 1, NONE
    elif now.epoch in (NONE, expected.epoch):
        epoch, last = now.epoch + 1, now.epoch
    elif expected.epoch == now.last_epoch:
        epoch, last = now.epoch, now.last_epoch
    else:
        raise ApiError(E.PRODUCER_FENCED)
    return now.initialized(now.producer_id, epoch, last, timeout_ms, now_ms)


def add(
    now: Transaction,
    producer: ProducerIdAndEpoch,
    partitions: frozenset[TopicPartition],
    version: int,
    now_ms: int,
) -> Transaction:
    """INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS; AlreadyDoneError."""
    check_current(now, producer)
    if now.state is _S.ONGOING and partitions <= now.partitions:
        raise AlreadyDoneError
    return now.with_partitions(partitions, version, now_ms)


def check_current(now: Transaction, producer: ProducerIdAndEpoch) -> None:
    """INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, CONCURRENT_TRANSACTIONS while markers are written."""
    if now.producer_id != producer.id:
        raise ApiError(E.INVALID_PRODUCER_ID_MAPPING)
    if now.epoch != producer.epoch:
        raise ApiError(E.PRODUCER_FENCED)
    check_not_prepared(now)


def check_not_prepared(now: Transaction) -> None:
    """CONCURRENT_TRANSACTIONS while markers are being written."""
    if now.state in PREPARED:
        raise ApiError(E.CONCURRENT_TRANSACTIONS)


def end(
    now: Transaction,
    producer: ProducerIdAndEpoch,
    committed: bool,
    policies: "Policies",
    now_ms: int,
    *,
    unsent: bool = False,
) -> Transaction:
    """EndTxn of clients without KIP-890; `unsent` is whether nobody sends the markers of what was decided.
    INVALID_PRODUCER_ID_MAPPING, PRODUCER_FENCED, INVALID_TXN_STATE, CONCURRENT_TRANSACTIONS; AlreadyDoneError
    if it has already ended in this way."""
    if now.producer_id != producer.id:
        raise ApiError(E.INVALID_PRODUCER_ID_MAPPING)
    if producer.epoch < now.epoch or (policies[end_txn_epoch] == "exact" and producer.epoch != now.epoch):
        raise ApiError(E.PRODUCER_FENCED)
    if now.state is _S.ONGOING:
        return now.prepared(_event(committed), 0, now_ms)
    if unsent and committed != (now.state is _S.PREPARE_COMMIT):
        raise ApiError(E.INVALID_TXN_STATE)
    _check_decided(now, committed)
    if now.state in COMPLETE:
        raise AlreadyDoneError
    raise ApiError(E.INVALID_TXN_STATE)


def end_and_bump(
    now: Transaction,
    producer: ProducerIdAndEpoch,
    committed: bool,
    policies: "Policies",
    new_producer_id: Callable[[], int],
    now_ms: int,
) -> Transaction:
    """EndTxn since version 5 (KIP-890), with the same errors, and UNKNOWN_SERVER_ERROR after the last epoch.

    The epoch before the current one means a retry; the current one asks to end the next transaction, which
    may be aborted even if it has not begun.
    """
    check_not_prepared(now)
    wrapped = now.previous_producer_id == producer.id and producer.epoch == MAX_EPOCH - 1 and now.epoch == 0
    retry = wrapped or now.epoch == producer.epoch + 1
    if now.producer_id != producer.id and not wrapped:
        raise ApiError(E.INVALID_PRODUCER_ID_MAPPING)
    if producer.epoch != now.epoch and not (retry and now.state in COMPLETE):
        raise ApiError(E.PRODUCER_FENCED)
    if now.state is _S.ONGOING or (now.at_rest and not committed and not retry):
        if now.epoch == MAX_EPOCH and (committed or policies[exhausted_epochs] == "stuck"):
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        next_id = new_producer_id() if now.exhausted else NONE
        return now.prepared(_event(committed), EPOCH_BUMP_VERSION, now_ms, next_id)
    if now.state in COMPLETE and not retry:
        raise ApiError(E.INVALID_TXN_STATE)
    _check_decided(now, committed)
    if now.state in COMPLETE:
        raise AlreadyDoneError
    raise ApiError(E.INVALID_TXN_STATE)


def abort_and_fence(
    now: Transaction,
    fencing: "Fencing",
    policies: "Policies",
    version: int,
    new_producer_id: Callable[[], int],
    now_ms: int,
) -> Transaction:
    """Aborts an open transaction without a client's EndTxn: for a new instance, or because of its timeout.
    ApiError UNKNOWN_SERVER_ERROR after the last epoch.

    From transaction `version` 2 on, its end bumps the epoch in any case.
    """
    recovers = policies[exhausted_epochs] == "recovers"
    if fencing.bumps_epoch and now.epoch == MAX_EPOCH and not recovers:
        raise ApiError(E.UNKNOWN_SERVER_ERROR)
    if version >= EPOCH_BUMP_VERSION and fencing.bumps_epoch:
        if fencing.twice:
            now = now.fenced(min(now.epoch + 1, MAX_EPOCH), NONE)
        next_id = new_producer_id() if now.exhausted and recovers and not fencing.twice else NONE
        after = now.prepared(TransactionEvent.ABORT, version, now_ms, next_id)
        return after if fencing.keeps_last_epoch else after.fenced(after.epoch, NONE)
    if fencing.bumps_epoch:
        last = now.epoch if fencing.keeps_last_epoch else NONE
        now = now.fenced(min(now.epoch + 1, MAX_EPOCH), last)
    return now.prepared(TransactionEvent.ABORT, 0, now_ms)


def _check_decided(now: Transaction, committed: bool) -> None:
    """CONCURRENT_TRANSACTIONS if this is being done already, INVALID_TXN_STATE if the opposite was
    decided."""
    if now.state in PREPARED:
        raise ApiError(E.CONCURRENT_TRANSACTIONS)
    if now.state is _S.EMPTY or committed != (now.state is _S.COMPLETE_COMMIT):
        raise ApiError(E.INVALID_TXN_STATE)


def _event(committed: bool) -> TransactionEvent:
    return TransactionEvent.COMMIT if committed else TransactionEvent.ABORT

"""Transactions as records of `__transaction_state` (`TransactionLog.java`)."""

from collections import defaultdict
from typing import TYPE_CHECKING

from ..protocol.batch_writing import key_values
from ..protocol.record_batch import records
from ..protocol.transaction_log import (
    Layout,
    TransactionValue,
    read_key,
    read_value,
    write_key,
    write_value,
)
from .transaction import NONE, Transaction
from .transaction_states import BY_ID, IDS, TransactionState

if TYPE_CHECKING:
    from ..log.log import Log


def record_batch(transactional_id: str, state: Transaction | None, layout: Layout, now_ms: int) -> bytearray:
    """The batch to append for a state; None is a tombstone."""
    value = None if state is None else write_value(_value(state), layout)
    return key_values([(write_key(transactional_id), value)], now_ms)


def load(log: "Log", layout: Layout) -> dict[str, Transaction]:
    """The last state of each transactional id in the log."""
    found: dict[bytes, bytes] = {}
    for batch in log:
        for record in records(batch):
            if record.key is None or record.offset < log.start_offset:
                continue
            found.pop(record.key, None)
            if record.value is not None:
                found[record.key] = record.value
    return {read_key(key): _transaction(read_value(value, layout)) for key, value in found.items()}


def _value(state: Transaction) -> TransactionValue:
    topics: dict[str, list[int]] | None = None
    if state.state is not TransactionState.EMPTY:
        topics = defaultdict(list)
        for topic, index in sorted(state.partitions):
            topics[topic].append(index)
    return TransactionValue(
        state.producer_id,
        state.epoch,
        state.timeout_ms,
        IDS[state.state],
        topics,
        state.last_update_ms,
        NONE if state.state is TransactionState.EMPTY else state.start_ms,
        previous_producer_id=state.previous_producer_id,
        next_producer_id=state.next_producer_id,
        client_version=state.client_version,
        last_epoch=state.last_epoch,
    )


def _transaction(value: TransactionValue) -> Transaction:
    partitions = value.partitions or {}
    return Transaction(
        value.producer_id,
        value.timeout_ms,
        value.last_update_ms,
        epoch=value.producer_epoch,
        last_epoch=value.last_epoch,
        previous_producer_id=value.previous_producer_id,
        next_producer_id=value.next_producer_id,
        state=BY_ID[value.status],
        partitions=frozenset((topic, index) for topic, ids in partitions.items() for index in ids),
        start_ms=value.start_ms,
        client_version=value.client_version,
    )

"""The records of `__consumer_offsets` and `__transaction_state` as rows."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from construct import ConstructError

from ...coordinators.transaction_states import BY_ID
from ...protocol.offsets_log import (
    CommitKey,
    GroupKey,
    MemberKey,
    OtherKey,
    read_commit,
    read_group,
)
from ...protocol.offsets_log import read_key as read_offsets_key
from ...protocol.record_batch import Record
from ...protocol.transaction_log import Layout, TransactionValue, read_value
from ...protocol.transaction_log import read_key as read_transaction_key
from ..observations import Observation

OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
TOPICS: Final = (OFFSETS, TRANSACTIONS)


def observations(topic: str, records: Iterable[Record], batch: Observation) -> Iterator[Observation]:
    """The rows of a batch's records. A record that can't be read becomes an `unreadable` row with its offset.

    Rows of commits in a transaction have its `producer_id`: such an offset becomes valid when the transaction
    commits.
    """
    of = _offsets if topic == OFFSETS else _transactions
    for record in records:
        blank = Observation("", batch.source, batch.file, batch.position, time_ms=max(record.timestamp, 0))
        if record.timestamp < 0:
            blank.time_ms = None
        try:
            yield from of(record, blank, batch)
        except (ValueError, IndexError, ConstructError, KeyError) as error:
            reason = f"{topic} record at offset {record.offset}: {error}"
            yield replace(blank, kind="unreadable", detail=reason, topic=topic, partition=batch.partition)


def _offsets(record: Record, blank: Observation, batch: Observation) -> Iterator[Observation]:
    key = read_offsets_key(record.key or b"")
    match key:
        case CommitKey():
            row = replace(blank, group=key.group, topic=key.topic, partition=key.partition)
            row.producer_id, row.producer_epoch = batch.producer_id, batch.producer_epoch
            if record.value is None:
                yield replace(row, kind="tombstone", detail="committed offset")
                return
            commit = read_commit(record.value)
            row.kind, row.time_ms, row.offset = "commit", commit.commit_ms, commit.offset
            row.leader_epoch = None if commit.leader_epoch < 0 else commit.leader_epoch
            row.detail = "in a transaction" if batch.producer_id is not None else None
            yield row
        case GroupKey():
            if record.value is None:
                yield replace(blank, kind="tombstone", group=key.group, detail=f"{key.type} group")
                return
            state = read_group(record.value, key)
            row = replace(blank, kind="group", group=key.group, generation=state.generation)
            if state.state_ms >= 0:
                row.time_ms = state.state_ms
            row.detail = group_state(key.type, state.members)
            yield row
        case MemberKey():
            yield member(blank, key.group, key.type, key.member, record.value is None)
        case OtherKey():
            return


def member(blank: Observation, group: str, kind: str, name: str, left: bool) -> Observation:
    """A member of a group of the newer types: its record is there from when it joins until it leaves."""
    detail = f"{kind} member {name}"
    return replace(blank, kind="tombstone" if left else "group", group=group, detail=detail)


def group_state(kind: str, members: int) -> str:
    """A classic group is written when it becomes Empty or Stable; whether it has members says which."""
    if kind != "classic":
        return f"{kind} group"
    return "Stable" if members else "Empty"


def _transactions(record: Record, blank: Observation, batch: Observation) -> Iterator[Observation]:
    transactional_id = read_transaction_key(record.key or b"")
    row = replace(blank, transactional_id=transactional_id)
    if record.value is None:
        yield replace(row, kind="tombstone", detail="transactional id")
        return
    yield of_transaction(row, _transaction(record.value))


def _transaction(data: bytes) -> TransactionValue:
    """Version 1 is that of Kafka 4.0, with tagged fields, or the one proposed in KIP-360."""
    try:
        return read_value(data, Layout.V1)
    except ConstructError:
        return read_value(data, Layout.KIP_360)


def of_transaction(row: Observation, value: TransactionValue) -> Observation:
    state = BY_ID[value.status].value if value.status in BY_ID else f"state {value.status}"
    partitions = [f"{topic}-{index}" for topic, ids in (value.partitions or {}).items() for index in ids]
    return replace(
        row,
        kind="transaction",
        time_ms=value.last_update_ms,
        producer_id=value.producer_id,
        producer_epoch=value.producer_epoch,
        detail=" ".join([state, *partitions]),
    )

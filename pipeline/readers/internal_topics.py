"""The records of `__consumer_offsets`, `__transaction_state` and `__share_group_state` as rows."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from construct import ConstructError

from ...coordinators.transaction_states import BY_ID
from ...dumps.decoded import Entry, Value
from ...protocol.group_metadata import GroupMetadata
from ...protocol.offsets_log import (
    Commit,
    CommitKey,
    GroupKey,
    GroupState,
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
from . import share_states

OFFSETS: Final = "__consumer_offsets"
TRANSACTIONS: Final = "__transaction_state"
IN_TRANSACTION: Final = "in a transaction"
TOPICS: Final = (OFFSETS, TRANSACTIONS, share_states.TOPIC)
_key = lru_cache(maxsize=1 << 12)(read_offsets_key)
"""Groups commit for the same partitions again and again."""


def observations(topic: str, records: Iterable[Record], batch: Observation) -> Iterator[Observation]:
    """The rows of a batch's records. A record that can't be read becomes an `unreadable` row with its offset.

    Rows of commits in a transaction have its `producer_id`: such an offset becomes valid when the transaction
    commits.
    """
    of = _RECORDS[topic]
    for record in records:
        blank = Observation("", batch.source, batch.file, batch.position)
        if record.timestamp >= 0:
            blank.time_ms = record.timestamp
        try:
            yield from of(record, blank, batch)
        except (ValueError, IndexError, ConstructError, KeyError) as error:
            reason = f"{topic} record at offset {record.offset}: {error}"
            yield replace(blank, kind="unreadable", detail=reason, topic=topic, partition=batch.partition)


def _offsets(record: Record, blank: Observation, batch: Observation) -> Iterator[Observation]:
    key, data = _key(record.key or b""), record.value
    if isinstance(key, OtherKey):
        yield from share_states.names(record, blank)
        return
    if not isinstance(key, CommitKey):
        value = read_group(data, key) if isinstance(key, GroupKey) and data is not None else None
        group = of_entry(Entry(key, value, deleted=data is None), blank)
        if group is not None:
            yield group
        return
    row = _of_commit(key, None if data is None else read_commit(data), blank)
    row.producer_id, row.producer_epoch = batch.producer_id, batch.producer_epoch
    if row.kind == "commit" and batch.producer_id is not None:
        row.detail = IN_TRANSACTION
    yield row


def of_entry(entry: Entry, blank: Observation) -> Observation | None:
    """The row of a record of `__consumer_offsets`, for which `blank` is used up; None for records that are
    not in the table."""
    key, value = entry.key, entry.value
    match key:
        case CommitKey():
            return _of_commit(key, value, blank)
        case GroupKey():
            row = replace(blank, group=key.group)
            if value is None or isinstance(value, Commit):
                return replace(row, kind="tombstone", detail=f"{key.type} group")
            members, since_ms = _of_group(value)
            row.kind, row.generation = "group", value.generation
            if since_ms >= 0:
                row.time_ms = since_ms
            row.detail = group_state(key.type, members)
            return row
        case MemberKey():
            return _member(key, entry.deleted, blank)
        case OtherKey():
            return None


def _of_commit(key: CommitKey, value: Value | None, row: Observation) -> Observation:
    row.group, row.topic, row.partition = key
    if not isinstance(value, Commit):
        row.kind, row.detail = "tombstone", "committed offset"
        return row
    row.kind, row.offset = "commit", value.offset
    row.leader_epoch = None if value.leader_epoch < 0 else value.leader_epoch
    if value.commit_ms >= 0:
        row.time_ms = value.commit_ms
    return row


def _of_group(value: GroupMetadata | GroupState) -> tuple[int, int]:
    """How many members it has, and since when."""
    if isinstance(value, GroupState):
        return value.members, value.state_ms
    return len(value.members), value.since_ms


def _member(key: MemberKey, left: bool, blank: Observation) -> Observation:
    """A member of a group of the newer types: its record is there from when it joins until it leaves."""
    detail = f"{key.type} member {key.member}"
    return replace(blank, kind="tombstone" if left else "group", group=key.group, detail=detail)


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
    else:
        yield of_transaction(row, _transaction(record.value))


def _shares(record: Record, blank: Observation, batch: Observation) -> Iterator[Observation]:
    yield share_states.of_record(record, blank)


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


_Reads = Callable[[Record, Observation, Observation], Iterator[Observation]]
_RECORDS: Final[Mapping[str, _Reads]] = {
    OFFSETS: _offsets,
    TRANSACTIONS: _transactions,
    share_states.TOPIC: _shares,
}
"""How a topic's records are read: a record, a row to be filled in, and that of its batch."""

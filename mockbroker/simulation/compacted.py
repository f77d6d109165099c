"""What a log cleaner must leave in a log: the newest record of each key."""

from collections.abc import Mapping

from ..log.log import Log
from . import batches
from .batches import KEYS, is_tombstone, key_of


def newest(log: Log, start: int = 0, end: int | None = None) -> dict[int, tuple[int, int]]:
    """Offset and number of the last record of each key that was committed or is outside of transactions."""
    found: dict[int, tuple[int, int]] = {}
    for offset, number, committed in batches.outcomes(log):
        if committed is not False and start <= offset and (end is None or offset < end):
            key = key_of(number)
            found[key] = max((offset, number), found.get(key, (-1, -1)))
    return found


def may_be_gone(log: Log, expired: Mapping[int, int], deleted: int) -> list[int]:
    """The offset up to which records of each key may be missing: the offset before the newest record, that of
    a tombstone whose time is over, or the last that was deleted."""
    found = newest(log)
    return [max(found.get(key, (0,))[0] - 1, expired.get(key, -1), deleted) for key in range(KEYS)]


def difference(log: Log, other: Log, start: int, end: int, values: bool) -> str | None:
    """How two replicas differ below an offset that both have reached: in a record that both still have, or,
    if `values` count, in the newest record of a key."""
    mine, its = records_of(log), records_of(other)
    for offset in sorted(mine.keys() & its.keys()):
        if start <= offset < end and mine[offset] != its[offset]:
            return f"at offset {offset} they have records {mine[offset][0]} and {its[offset][0]}"
    if not values or end < min(log.end_offset, other.end_offset):
        return None
    one, another = newest(log, start, end), newest(other, start, end)
    for key in range(KEYS):
        found, there = _value(one.get(key)), _value(another.get(key))
        if found != there:
            return f"the newest value of a key is at offset {found} and {there}"
    return None


def _value(record: tuple[int, int] | None) -> str:
    return "none" if record is None or is_tombstone(record[1]) else str(record[0])


def records_of(log: Log) -> dict[int, tuple[int, int]]:
    """Number and leader epoch of each record, by offset."""
    found: dict[int, tuple[int, int]] = {}
    for batch in log:
        records = batches.read(batch)
        if records is not None:
            for offset, number in zip(records.offsets, records.numbers, strict=True):
                found[offset] = number, records.leader_epoch
    return found

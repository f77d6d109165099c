"""Records of `__transaction_state`: the key is a transactional id, the value the state of its transaction.

Keys have version 0. Values have version 0, or version 1 with tagged fields since KIP-890
(`TransactionLogKey.json`, `TransactionLogValue.json`). KIP-360 had proposed another version 1, with the last
epoch, which no release has: `Layout.KIP_360`.

Brokers write these all the time, and read them only when a coordinator is loaded, so the writer is
hand-written.
"""

import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from construct import (
    Array,
    Const,
    Construct,
    ExprAdapter,
    GreedyBytes,
    If,
    Int8sb,
    Int16sb,
    Int16ub,
    Int32sb,
    Int64sb,
    PascalString,
    Prefixed,
    PrefixedArray,
    Struct,
    VarInt,
)

from .primitives import write_array_length, write_compact_string, write_string, write_uvarint

_NONE: Final = -1


class Layout(enum.Enum):
    """The form of a value."""

    V0 = "version 0"
    V1 = "version 1 of Kafka 4.0 and later, with tagged fields"
    KIP_360 = "version 1 as KIP-360 drew it, with the last epoch"


@dataclass(frozen=True, slots=True)
class TransactionValue:
    """A value. `status` is the id of the transaction's state; `partitions` is None while it is empty.

    The fields after `start_ms` are not in version 0; the last epoch is only in KIP-360's form.
    """

    producer_id: int
    producer_epoch: int
    timeout_ms: int
    status: int
    partitions: Mapping[str, list[int]] | None
    last_update_ms: int
    start_ms: int
    previous_producer_id: int = _NONE
    next_producer_id: int = _NONE
    client_version: int = 0
    next_producer_epoch: int = _NONE
    last_epoch: int = _NONE


_COUNT: Final = ExprAdapter(VarInt, lambda found, _: found - 1, lambda wanted, _: wanted + 1)
"""Lengths of compact strings and arrays are written as one more; 0 is null."""
_PARTITIONS_V0: Final = Struct(
    "topic" / PascalString(Int16ub, "utf8"), "ids" / PrefixedArray(Int32sb, Int32sb)
)
_PARTITIONS_V1: Final = Struct(
    "topic" / PascalString(_COUNT, "utf8"),
    "ids" / PrefixedArray(_COUNT, Int32sb),
    "tags" / Const(0, VarInt),
)


def _nullable(count: Construct, item: Construct) -> Construct:
    """An array that is null if its count is -1."""
    return Struct(
        "count" / count,
        "items" / If(lambda this: this.count >= 0, Array(lambda this: this.count, item)),
    )


_INT16: Final = struct.Struct(">h")
_INT64: Final = struct.Struct(">q")
_TAGS: Final = {
    0: ("previous_producer_id", _INT64, _NONE),
    1: ("next_producer_id", _INT64, _NONE),
    2: ("client_version", _INT16, 0),
    3: ("next_producer_epoch", _INT16, _NONE),
}
"""Tagged fields: name, type, and the default value, which is not written (KIP-482)."""
_TAGGED: Final = PrefixedArray(VarInt, Struct("tag" / VarInt, "data" / Prefixed(VarInt, GreedyBytes)))


def _value(version: int, partitions: Construct, *, last_epoch: bool = False, tags: bool = False) -> Struct:
    return Struct(
        "version" / Const(version, Int16sb),
        "producer_id" / Int64sb,
        "producer_epoch" / Int16sb,
        *(["last_epoch" / Int16sb] if last_epoch else []),
        "timeout_ms" / Int32sb,
        "status" / Int8sb,
        "partitions" / partitions,
        "last_update_ms" / Int64sb,
        "start_ms" / Int64sb,
        *(["tagged" / _TAGGED] if tags else []),
    )


_KEY: Final = Struct("version" / Const(0, Int16sb), "transactional_id" / PascalString(Int16ub, "utf8"))
_VALUES: Final[dict[Layout, Struct]] = {
    Layout.V0: _value(0, _nullable(Int32sb, _PARTITIONS_V0)),
    Layout.V1: _value(1, _nullable(_COUNT, _PARTITIONS_V1), tags=True),
    Layout.KIP_360: _value(1, _nullable(Int32sb, _PARTITIONS_V0), last_epoch=True),
}
_HEAD: Final = struct.Struct(">hqhib")
_HEAD_WITH_LAST_EPOCH: Final = struct.Struct(">hqhhib")
_TIMES: Final = struct.Struct(">qq")


def write_key(transactional_id: str) -> bytes:
    out = bytearray(2)
    write_string(out, transactional_id)
    return bytes(out)


def read_key(data: bytes) -> str:
    """The transactional id. construct.ConstructError for a key of another version."""
    return _KEY.parse(data).transactional_id  # type: ignore[no-any-return]


def write_value(value: TransactionValue, layout: Layout) -> bytes:
    """The value, with the fields that `layout` has."""
    epochs: tuple[int, ...] = (value.producer_epoch,)
    head, compact = _HEAD, layout is Layout.V1
    if layout is Layout.KIP_360:
        head, epochs = _HEAD_WITH_LAST_EPOCH, (value.producer_epoch, value.last_epoch)
    version = int(layout is not Layout.V0)
    out = bytearray(head.pack(version, value.producer_id, *epochs, value.timeout_ms, value.status))
    (_write_compact_partitions if compact else _write_partitions)(out, value.partitions)
    out += _TIMES.pack(value.last_update_ms, value.start_ms)
    if compact:
        _write_tags(out, value)
    return bytes(out)


def _write_partitions(out: bytearray, partitions: Mapping[str, list[int]] | None) -> None:
    write_array_length(out, partitions)
    for topic, ids in (partitions or {}).items():
        write_string(out, topic)
        write_array_length(out, ids)
        out += struct.pack(f">{len(ids)}i", *ids)


def _write_compact_partitions(out: bytearray, partitions: Mapping[str, list[int]] | None) -> None:
    write_uvarint(out, 0 if partitions is None else len(partitions) + 1)
    for topic, ids in (partitions or {}).items():
        write_compact_string(out, topic)
        write_uvarint(out, len(ids) + 1)
        out += struct.pack(f">{len(ids)}i", *ids)
        out.append(0)


def _write_tags(out: bytearray, value: TransactionValue) -> None:
    given = [
        (tag, kind.pack(getattr(value, name)))
        for tag, (name, kind, default) in _TAGS.items()
        if getattr(value, name) != default
    ]
    write_uvarint(out, len(given))
    for tag, data in given:
        out += bytes((tag, len(data))) + data


def read_value(data: bytes, layout: Layout) -> TransactionValue:
    """Reads a value of version 0, or of version 1 in the form of `layout`. construct.ConstructError for any
    other."""
    if layout is not Layout.V0 and data[:2] == b"\0\0":
        layout = Layout.V0
    read = _VALUES[layout].parse(data)
    items = read.partitions["items"]
    return TransactionValue(
        read.producer_id,
        read.producer_epoch,
        read.timeout_ms,
        read.status,
        None if items is None else {each.topic: list(each.ids) for each in items},
        read.last_update_ms,
        read.start_ms,
        last_epoch=read.get("last_epoch", _NONE),
        **_tagged(read.get("tagged", ())),
    )


def _tagged(fields: Any) -> dict[str, int]:
    return {
        _TAGS[each.tag][0]: int.from_bytes(each.data, signed=True) for each in fields if each.tag in _TAGS
    }

"""Records of `__transaction_state`: one key per transactional id, its value the state of its transaction.

Keys have version 0. Values have version 0, and version 1 with tagged fields since KIP-890
(`TransactionLogKey.json`, `TransactionLogValue.json`). KIP-360 had drawn another version 1, with the last
epoch, which no release has: `Layout.KIP_360`.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from construct import (
    Adapter,
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
    Rebuild,
    Struct,
    VarInt,
)

_NONE: Final = -1


class Layout(enum.Enum):
    """Which form a value has."""

    V0 = "version 0"
    V1 = "version 1 of Kafka 4.0 and later, with tagged fields"
    KIP_360 = "version 1 as KIP-360 drew it, with the last epoch"


@dataclass(frozen=True, slots=True)
class TransactionValue:
    """A value. `status` is the id of the transaction's state, `partitions` is None while it is empty.

    What stands behind `start_ms` is not in version 0; the last epoch is in KIP-360's form alone.
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


def _one_more(count: Construct) -> Construct:
    """Lengths of compact strings and arrays are written one larger, 0 is null."""
    return ExprAdapter(count, lambda found, _: found - 1, lambda wanted, _: wanted + 1)


_COUNT: Final = _one_more(VarInt)
_PARTITIONS_V0: Final = Struct(
    "topic" / PascalString(Int16ub, "utf8"), "ids" / PrefixedArray(Int32sb, Int32sb)
)
_PARTITIONS_V1: Final = Struct(
    "topic" / PascalString(_COUNT, "utf8"),
    "ids" / PrefixedArray(_COUNT, Int32sb),
    "tags" / Const(0, VarInt),
)


def _nullable(count: Construct, item: Construct) -> Construct:
    """An array whose count is -1 when it is null."""
    return Struct(
        "count" / Rebuild(count, lambda this: -1 if this["items"] is None else len(this["items"])),
        "items" / If(lambda this: this.count >= 0, Array(lambda this: this.count, item)),
    )


_TAGS: Final[dict[int, tuple[str, Construct]]] = {
    0: ("previous_producer_id", Int64sb),
    1: ("next_producer_id", Int64sb),
    2: ("client_version", Int16sb),
    3: ("next_producer_epoch", Int16sb),
}
_DEFAULTS: Final = {"client_version": 0}


class _Tagged(Adapter):  # type: ignore[misc]
    """Tagged fields by name; those of their default value are not written (KIP-482)."""

    def _decode(self, raw: Any, context: Any, path: Any) -> dict[str, int]:
        return {
            _TAGS[field.tag][0]: _TAGS[field.tag][1].parse(field.data) for field in raw if field.tag in _TAGS
        }

    def _encode(self, fields: dict[str, int], context: Any, path: Any) -> list[dict[str, object]]:
        return [
            {"tag": tag, "data": kind.build(fields[name])}
            for tag, (name, kind) in _TAGS.items()
            if fields[name] != _DEFAULTS.get(name, _NONE)
        ]


_TAGGED: Final = _Tagged(
    PrefixedArray(VarInt, Struct("tag" / VarInt, "data" / Prefixed(VarInt, GreedyBytes)))
)


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
_TAGGED_NAMES: Final = tuple(name for name, _ in _TAGS.values())


def write_key(transactional_id: str) -> bytes:
    return _KEY.build({"transactional_id": transactional_id})  # type: ignore[no-any-return]


def read_key(data: bytes) -> str:
    """The transactional id. construct.ConstructError for a key of another version."""
    return _KEY.parse(data).transactional_id  # type: ignore[no-any-return]


def write_value(value: TransactionValue, layout: Layout) -> bytes:
    """The value with what `layout` has room for."""
    items = None
    if value.partitions is not None:
        items = [{"topic": topic, "ids": ids} for topic, ids in value.partitions.items()]
    fields = {name: getattr(value, name) for name in TransactionValue.__slots__}
    fields["partitions"] = {"items": items}
    fields["tagged"] = {name: fields[name] for name in _TAGGED_NAMES}
    return _VALUES[layout].build(fields)  # type: ignore[no-any-return]


def read_value(data: bytes, layout: Layout) -> TransactionValue:
    """A value of version 0, or of version 1 as `layout` has it. construct.ConstructError for any other."""
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
        **read.get("tagged", {}),
    )

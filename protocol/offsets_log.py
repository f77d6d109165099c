"""Records of `__consumer_offsets` that hold a committed offset (`OffsetCommitValue.json`)."""

from typing import Final

from construct import Const, Int16sb, Int16ub, Int32sb, Int64sb, PascalString, Struct

_KEY: Final = Struct(
    "version" / Const(1, Int16sb),
    "group" / PascalString(Int16ub, "utf8"),
    "topic" / PascalString(Int16ub, "utf8"),
    "partition" / Int32sb,
)
_VALUE: Final = Struct(
    "version" / Const(3, Int16sb),
    "offset" / Int64sb,
    "leader_epoch" / Int32sb,
    "metadata" / PascalString(Int16ub, "utf8"),
    "commit_ms" / Int64sb,
)


def offset_record(
    group: str, topic: str, partition: int, offset: int, leader_epoch: int, metadata: str, commit_ms: int
) -> tuple[bytes, bytes]:
    """Key and value; the value has version 3, with the leader epoch (KIP-320)."""
    value = {"offset": offset, "leader_epoch": leader_epoch, "metadata": metadata, "commit_ms": commit_ms}
    return _KEY.build({"group": group, "topic": topic, "partition": partition}), _VALUE.build(value)

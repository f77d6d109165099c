"""What `__consumer_offsets` holds, as construct structs (`OffsetCommitKey.json`, `OffsetCommitValue.json`,
`GroupMetadataKey.json` and `GroupMetadataValue.json`): slow, plain to read, and the reference for
`mockbroker.protocol.offsets_log`."""

from typing import Any, Final

from construct import (
    Bytes,
    Const,
    Construct,
    ExprAdapter,
    Int16sb,
    Int32sb,
    Int64sb,
    PrefixedArray,
    Struct,
    Switch,
    Terminated,
    VarInt,
    this,
)

NO_TOPIC: Final = bytes(16)
"""The topic id of a commit that names none."""
_TOPIC_ID: Final = 0


def _sized(length: Any, shift: int, text: bool) -> Any:
    """Bytes after their length, which is -1 or, in flexible versions, 0 for null."""

    def read(found: Any, context: Any) -> bytes | str | None:
        if found.size - shift < 0:
            return None
        data = bytes(found.data)
        return data.decode() if text else data

    def write(value: bytes | str | None, context: Any) -> dict[str, Any]:
        if value is None:
            return {"size": shift - 1, "data": b""}
        data = value.encode() if isinstance(value, str) else value
        return {"size": len(data) + shift, "data": data}

    held = Struct("size" / length, "data" / Bytes(lambda it: max(it.size - shift, 0)))
    return ExprAdapter(held, read, write)


def _compact_array(element: Any) -> Any:
    """Its length is one more than it has elements."""
    held = Struct("size" / VarInt, "elements" / element[lambda it: max(it.size - 1, 0)])
    return ExprAdapter(
        held,
        lambda found, _: found.elements,
        lambda value, _: {"size": len(value) + 1, "elements": value},
    )


def _topic_id() -> Any:
    """Tagged fields of a commit of version 4; only the topic id is known, which 4.1 and later write."""
    held = PrefixedArray(VarInt, Struct("tag" / VarInt, "data" / _sized(VarInt, 0, False)))
    return ExprAdapter(
        held,
        lambda found, _: next((each.data for each in found if each.tag == _TOPIC_ID), NO_TOPIC),
        lambda value, _: [] if value == NO_TOPIC else [{"tag": _TOPIC_ID, "data": value}],
    )


_STRING: Final = _sized(Int16sb, 0, True)
_BYTES: Final = _sized(Int32sb, 0, False)
_COMPACT_STRING: Final = _sized(VarInt, 1, True)
_COMPACT_BYTES: Final = _sized(VarInt, 1, False)
_NO_TAGS: Final = Const(b"\0")


def _since(least: int, version: int, field: Any) -> tuple[Any, ...]:
    return (field,) if version >= least else ()


def _commit(version: int) -> Struct:
    flexible = version >= 4
    return Struct(
        "offset" / Int64sb,
        *_since(3, version, "leader_epoch" / Int32sb),
        "metadata" / (_COMPACT_STRING if flexible else _STRING),
        "commit_ms" / Int64sb,
        *(("expire_ms" / Int64sb,) if version == 1 else ()),
        *_since(4, version, "topic_id" / _topic_id()),
        Terminated,
    )


def _group(version: int) -> Struct:
    flexible = version >= 4
    string, data = (_COMPACT_STRING, _COMPACT_BYTES) if flexible else (_STRING, _BYTES)
    member = Struct(
        "member_id" / string,
        *_since(3, version, "group_instance_id" / string),
        "client_id" / string,
        "client_host" / string,
        *_since(1, version, "rebalance_timeout_ms" / Int32sb),
        "session_timeout_ms" / Int32sb,
        "subscription" / data,
        "assignment" / data,
        *_since(4, version, _NO_TAGS),
    )
    return Struct(
        "protocol_type" / string,
        "generation" / Int32sb,
        "protocol" / string,
        "leader" / string,
        *_since(2, version, "state_ms" / Int64sb),
        "members" / (_compact_array(member) if flexible else PrefixedArray(Int32sb, member)),
        *_since(4, version, _NO_TAGS),
        Terminated,
    )


_COMMIT_KEY: Final = Struct("group" / _STRING, "topic" / _STRING, "partition" / Int32sb, Terminated)
_GROUP_KEY: Final = Struct("group" / _STRING, Terminated)


def _versions(layouts: dict[int, Construct]) -> Struct:
    return Struct("version" / Int16sb, "content" / Switch(this.version, layouts))


KEY: Final = _versions({0: _COMMIT_KEY, 1: _COMMIT_KEY, 2: _GROUP_KEY})
COMMIT: Final = _versions({version: _commit(version) for version in range(5)})
GROUP: Final = _versions({version: _group(version) for version in range(5)})

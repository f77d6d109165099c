"""Values of consumer groups in `__consumer_offsets` (KIP-848, `ConsumerGroup*Value.json`).

They are written when members join, leave, or get other partitions, and read when a coordinator is loaded.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID

from construct import (
    Bytes,
    Const,
    Construct,
    ConstructError,
    ExprAdapter,
    GreedyBytes,
    If,
    Int8sb,
    Int16sb,
    Int32sb,
    Int64sb,
    Prefixed,
    PrefixedArray,
    Struct,
    VarInt,
    stream_read,
    stream_write,
)

from ..portions import at_once
from .consumer_group_keys import Kind
from .primitives import text_of
from .record_fields import texts_in_parts


class EpochValue(NamedTuple):
    """`metadata_hash` is that of the group's topics, since 4.1."""

    epoch: int
    metadata_hash: int = 0


class TopicValue(NamedTuple):
    """A topic with the racks of each partition's replicas; an empty list where they are not known."""

    id: UUID
    name: str
    racks: Sequence[Sequence[str]]


class PartitionsValue(NamedTuple):
    topics: Sequence[TopicValue]


class ClassicValue(NamedTuple):
    """Of a member that uses the classic protocol; its protocols with their metadata."""

    session_ms: int
    protocols: Sequence[tuple[str, bytes]]


class MemberValue(NamedTuple):
    """What a member has said of itself. To be written, its topics may be as `texts_in_parts` has them."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topics: list[str] | bytes
    regex: str | None
    rebalance_timeout_ms: int
    assignor: str | None
    classic: ClassicValue | None = None


class TargetEpochValue(NamedTuple):
    """`assigned_ms` is 0 if it is not known."""

    epoch: int
    assigned_ms: int


class TargetValue(NamedTuple):
    partitions: Mapping[UUID, list[int]]


class CurrentValue(NamedTuple):
    """`state` is 0 for stable, 1 for partitions to give up, 2 for partitions to wait for. Of each partition,
    the epoch in which it was assigned."""

    epoch: int
    previous_epoch: int
    state: int
    assigned: Mapping[UUID, Mapping[int, int]]
    revoking: Mapping[UUID, Mapping[int, int]]


class RegexValue(NamedTuple):
    topics: list[str]
    resolved_ms: int


Value = (
    EpochValue | PartitionsValue | MemberValue | TargetEpochValue | TargetValue | CurrentValue | RegexValue
)

_COUNT: Final = ExprAdapter(VarInt, lambda found, _: found - 1, lambda wanted, _: wanted + 1)
"""Lengths of compact strings and arrays are written as one more; 0 is null."""


def _nullable(item: Construct) -> Construct:
    return Struct("count" / _COUNT, "items" / If(lambda this: this.count >= 0, item))


def _text_fields(text: str | None, _: Any) -> dict[str, Any]:
    data = None if text is None else text.encode()
    return {"count": -1 if data is None else len(data), "items": data}


_TEXT: Final = ExprAdapter(
    _nullable(Bytes(lambda this: this.count)),
    lambda found, _: None if found["items"] is None else text_of(found["items"]),
    _text_fields,
)
_UUID: Final = ExprAdapter(Bytes(16), lambda found, _: UUID(bytes=found), lambda wanted, _: wanted.bytes)


class _Ints(Construct):  # type: ignore[misc]
    """An array of int32, written and read as a whole: a member may have very many partitions."""

    def _parse(self, stream: Any, context: Any, path: str) -> list[int] | None:
        count = _COUNT._parsereport(stream, context, path)
        if count < 0:
            return None
        return list(struct.unpack(f">{count}i", stream_read(stream, 4 * count, path)))

    def _build(self, ints: Sequence[int] | None, stream: Any, context: Any, path: str) -> object:
        _COUNT._build(-1 if ints is None else len(ints), stream, context, path)
        stream_write(stream, struct.pack(f">{len(ints or ())}i", *ints or ()), 4 * len(ints or ()), path)
        return ints


class _Texts(Construct):  # type: ignore[misc]
    """An array of texts, written as a whole: a member may name very many topics."""

    def _parse(self, stream: Any, context: Any, path: str) -> list[str]:
        found: list[str] = PrefixedArray(_COUNT, _TEXT)._parsereport(stream, context, path)
        return found

    def _build(self, texts: Sequence[str] | bytes, stream: Any, context: Any, path: str) -> object:
        data = texts if isinstance(texts, bytes) else at_once(texts_in_parts(texts))
        stream_write(stream, data, len(data), path)
        return texts


_INTS: Final = _Ints()
_TAGGED: Final = PrefixedArray(VarInt, Struct("tag" / VarInt, "data" / Prefixed(VarInt, GreedyBytes)))
_PARTITIONS: Final = PrefixedArray(_COUNT, Struct("topic" / _UUID, "ids" / _INTS, "tagged" / _TAGGED))
_CLASSIC: Final = Struct(
    "present" / Const(1, Int8sb),
    "session_ms" / Int32sb,
    "protocols"
    / PrefixedArray(
        _COUNT,
        Struct("name" / _TEXT, "metadata" / _nullable(Bytes(lambda this: this.count)), "tagged" / _TAGGED),
    ),
    "tagged" / _TAGGED,
)
_NO_CLASSIC: Final = b"\0"
_VERSION: Final = "version" / Const(0, Int16sb)
_VALUES: Final = {
    Kind.EPOCH: Struct(_VERSION, "epoch" / Int32sb, "tagged" / _TAGGED),
    Kind.PARTITIONS: Struct(
        _VERSION,
        "topics"
        / PrefixedArray(
            _COUNT,
            Struct(
                "id" / _UUID,
                "name" / _TEXT,
                "count" / Int32sb,
                "racks"
                / PrefixedArray(
                    _COUNT, Struct("partition" / Int32sb, "racks" / _Texts(), "tagged" / _TAGGED)
                ),
                "tagged" / _TAGGED,
            ),
        ),
        "tagged" / _TAGGED,
    ),
    Kind.MEMBER: Struct(
        _VERSION,
        "instance_id" / _TEXT,
        "rack_id" / _TEXT,
        "client_id" / _TEXT,
        "client_host" / _TEXT,
        "topics" / _Texts(),
        "regex" / _TEXT,
        "rebalance_timeout_ms" / Int32sb,
        "assignor" / _TEXT,
        "tagged" / _TAGGED,
    ),
    Kind.TARGET_EPOCH: Struct(_VERSION, "epoch" / Int32sb, "tagged" / _TAGGED),
    Kind.TARGET: Struct(_VERSION, "partitions" / _PARTITIONS, "tagged" / _TAGGED),
    Kind.CURRENT: Struct(
        _VERSION,
        "epoch" / Int32sb,
        "previous_epoch" / Int32sb,
        "state" / Int8sb,
        "assigned" / _PARTITIONS,
        "revoking" / _PARTITIONS,
        "tagged" / _TAGGED,
    ),
    Kind.REGEX: Struct(
        _VERSION,
        "topics" / _Texts(),
        "metadata_version" / Int64sb,
        "resolved_ms" / Int64sb,
        "tagged" / _TAGGED,
    ),
}


def write_value(value: Value, *, with_times: bool) -> bytes:
    """`with_times` is whether it says when and in which epochs partitions were assigned, as since 4.3."""
    fields: dict[str, Any] = {**value._asdict(), "tagged": []}
    match value:
        case EpochValue(_, metadata_hash) if metadata_hash:
            fields["tagged"] = [{"tag": 0, "data": Int64sb.build(metadata_hash)}]
        case PartitionsValue(topics):
            fields["topics"] = [_topic_fields(each) for each in topics]
        case MemberValue(classic=classic):
            fields["tagged"] = [
                {"tag": 0, "data": _NO_CLASSIC if classic is None else _classic_data(classic)}
            ]
        case TargetEpochValue(_, assigned_ms) if with_times and assigned_ms:
            fields["tagged"] = [{"tag": 0, "data": Int64sb.build(assigned_ms)}]
        case TargetValue(partitions):
            fields["partitions"] = [
                {"topic": topic, "ids": ids, "tagged": []} for topic, ids in partitions.items()
            ]
        case CurrentValue():
            for name in ("assigned", "revoking"):
                fields[name] = [
                    {"topic": topic, "ids": list(epochs), "tagged": _epochs(epochs) if with_times else []}
                    for topic, epochs in fields[name].items()
                ]
        case RegexValue():
            fields["metadata_version"] = 0
    return _VALUES[_kind_of(value)].build(fields)  # type: ignore[no-any-return]


def read_value(kind: Kind, data: bytes) -> Value:
    """ValueError for another version, or if it is cut short."""
    found = _parsed(_VALUES[kind], data)
    tagged = {each["tag"]: each["data"] for each in found["tagged"]}
    match kind:
        case Kind.EPOCH:
            return EpochValue(found["epoch"], int.from_bytes(tagged.get(0, b""), signed=True))
        case Kind.PARTITIONS:
            return PartitionsValue([_topic(each) for each in found["topics"]])
        case Kind.MEMBER:
            said = {name: found[name] for name in MemberValue._fields if name != "classic"}
            return MemberValue(**said, classic=_classic(tagged[0]) if 0 in tagged else None)
        case Kind.TARGET_EPOCH:
            return TargetEpochValue(found["epoch"], int.from_bytes(tagged.get(0, b""), signed=True))
        case Kind.TARGET:
            return TargetValue({each["topic"]: list(each["ids"]) for each in found["partitions"]})
        case Kind.CURRENT:
            epoch = found["epoch"]
            assigned, revoking = (
                {each["topic"]: _with_epochs(each, epoch) for each in found[name]}
                for name in ("assigned", "revoking")
            )
            return CurrentValue(epoch, found["previous_epoch"], found["state"], assigned, revoking)
        case Kind.REGEX:
            return RegexValue(list(found["topics"]), found["resolved_ms"])


def _kind_of(value: Value) -> Kind:
    return {
        EpochValue: Kind.EPOCH,
        PartitionsValue: Kind.PARTITIONS,
        MemberValue: Kind.MEMBER,
        TargetEpochValue: Kind.TARGET_EPOCH,
        TargetValue: Kind.TARGET,
        CurrentValue: Kind.CURRENT,
        RegexValue: Kind.REGEX,
    }[type(value)]


def _topic_fields(topic: TopicValue) -> dict[str, Any]:
    racks = [
        {"partition": index, "racks": each, "tagged": []} for index, each in enumerate(topic.racks) if each
    ]
    return {
        "id": topic.id,
        "name": topic.name,
        "count": len(topic.racks),
        "racks": racks,
        "tagged": [],
    }


def _topic(found: Any) -> TopicValue:
    racks = {each["partition"]: sorted(each["racks"]) for each in found["racks"]}
    return TopicValue(found["id"], found["name"], [racks.get(index, []) for index in range(found["count"])])


def _classic_data(classic: ClassicValue) -> bytes:
    protocols = [
        {"name": name, "metadata": {"count": len(data), "items": data}, "tagged": []}
        for name, data in classic.protocols
    ]
    fields = {"session_ms": classic.session_ms, "protocols": protocols, "tagged": []}
    return _CLASSIC.build(fields)  # type: ignore[no-any-return]


def _classic(data: bytes) -> ClassicValue | None:
    if data == _NO_CLASSIC:
        return None
    found = _parsed(_CLASSIC, data)
    protocols = [(each["name"], bytes(each["metadata"]["items"])) for each in found["protocols"]]
    return ClassicValue(found["session_ms"], protocols)


def _epochs(epochs: Mapping[int, int]) -> list[dict[str, Any]]:
    return [{"tag": 0, "data": _INTS.build(list(epochs.values()))}]


def _with_epochs(found: Any, epoch: int) -> dict[int, int]:
    """By partition; if the record does not say it, that of the member."""
    tagged = {each["tag"]: each["data"] for each in found["tagged"]}
    epochs = _parsed(_INTS, tagged[0]) if 0 in tagged else None
    return dict(zip(found["ids"], epochs or [epoch] * len(found["ids"]), strict=True))


def _parsed(construct: Construct, data: bytes) -> Any:
    try:
        return construct.parse(data)
    except (ConstructError, UnicodeError) as error:
        raise ValueError(
            f"a record of a consumer group can't be read: {str(error).splitlines()[0]}"
        ) from None

"""The topics of a group as its epoch knows them. When they change, an epoch begins (KIP-1101)."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from ..metadata.image import TopicImage
from ..policies.groups.replica_racks import Racks, replica_racks
from ..portions import MANY, Pace, Parts
from ..protocol.consumer_group_records import PartitionsValue, TopicValue
from ..protocol.xxh3 import xxh3
from .home import Home

_MAGIC: Final = b"\0"
_PER_TOPIC: Final = 32
"""As many partitions take as long as a topic by itself."""
_INT32: Final = struct.Struct("<i")
_MASK: Final = (1 << 64) - 1


class KnownTopics:
    """`hashes` are by topic id, in the order of names. Of a group that was loaded only the hash of all may be
    known, `whole`. `described` is what releases without hashes write."""

    __slots__ = ("_hash", "described", "hashes")

    def __init__(
        self,
        hashes: Mapping[UUID, int] | None,
        whole: int | None = None,
        described: PartitionsValue | None = None,
    ) -> None:
        self.hashes, self._hash, self.described = hashes, whole, described

    @property
    def hash(self) -> int:
        """0 if there are no topics (`Utils.computeGroupHash`)."""
        if self._hash is None:
            values = list((self.hashes or {}).values())
            self._hash = xxh3(struct.pack(f"<{len(values)}q", *values)) if values else 0
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownTopics):
            return NotImplemented
        if self.hashes is None or other.hashes is None:
            return self.hash == other.hash
        return self.hashes == other.hashes

    __hash__ = None  # type: ignore[assignment]


NO_TOPICS: Final = KnownTopics({})


def known_topics(home: Home, names: Iterable[str]) -> KnownTopics:
    """As the broker knows them now."""
    known, count = home.known_topics(), home.policies[replica_racks]
    there = [known[name] for name in sorted(names) if name in known]
    if fresh := [each for each in there if count not in each.hashes]:
        racks = home.racks()
        for each in fresh:
            each.hashes[count] = topic_hash(each.id, each.name, _counted(each, racks, count))
    return KnownTopics({each.id: each.hashes[count] for each in there})


def learning(home: Home, names: Iterable[str]) -> Parts[None]:
    """Does beforehand what takes long in `known_topics`."""
    count, pace = home.policies[replica_racks], Pace(MANY)
    for name in names:
        topic = home.known_topics().get(name)
        if topic is not None and count not in topic.hashes:
            known_topics(home, [name])
            if pace.enough(_PER_TOPIC + len(topic.partitions)):
                yield


def described(home: Home, names: Iterable[str]) -> PartitionsValue:
    """What releases without hashes write of these topics."""
    known, racks, count = home.known_topics(), home.racks(), home.policies[replica_racks]
    return PartitionsValue(
        [
            TopicValue(each.id, each.name, _counted(each, racks, count))
            for each in (known[name] for name in sorted(names) if name in known)
        ]
    )


def restored_topics(value: PartitionsValue) -> KnownTopics:
    """Those that a record describes."""
    topics = sorted(value.topics, key=lambda each: each.name)
    hashes = {each.id: topic_hash(each.id, each.name, each.racks) for each in topics}
    return KnownTopics(hashes, described=value)


def topic_hash(topic_id: UUID, name: str, racks: Sequence[Sequence[str]]) -> int:
    """`racks` are those of each partition's replicas, in order (`Utils.computeTopicHash`)."""
    out = bytearray(_MAGIC)
    out += struct.pack("<QQ", topic_id.int >> 64, topic_id.int & _MASK)
    _put(out, name)
    out += _INT32.pack(len(racks))
    for index, each in enumerate(racks):
        out += _INT32.pack(index)
        for rack in each:
            out += _INT32.pack(_units(rack))
            _put(out, rack)
    return xxh3(bytes(out))


def _counted(topic: TopicImage, racks: Mapping[int, str], count: Racks) -> list[list[str]]:
    """For each partition the racks of its replicas, as Java sorts them."""
    if count == "ignored" or not racks:
        return [[]] * len(topic.partitions)
    kind = set if count == "distinct" else list
    return [
        sorted(kind(racks[each] for each in partition.replicas if each in racks), key=_as_java)
        for partition in topic.partitions
    ]


def _put(out: bytearray, text: str) -> None:
    out += text.encode("utf-16-le", "surrogatepass")
    out += _INT32.pack(_units(text))


def _units(text: str) -> int:
    """Its length in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _as_java(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")

"""The topics of a group as its epoch knows them. When they change, an epoch begins (KIP-1101)."""

import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Final
from uuid import UUID

from ..metadata.image import TopicImage
from ..policies.groups.replica_racks import Racks, replica_racks
from ..portions import MANY, Pace, Parts, at_once
from ..protocol.consumer_group_records import PartitionsValue, TopicValue
from ..protocol.xxh3 import Xxh3, xxh3
from .home import Home, existing

_MAGIC: Final = b"\0"
_PER_TOPIC: Final = 32
"""As many partitions take as long as a topic by itself."""
_PART: Final = 2048
"""How many bytes are hashed in one part."""
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


def known_topics(home: Home, names: frozenset[str]) -> KnownTopics:
    """As the broker knows them now."""
    there, count = _there(home, names), home.policies[replica_racks]
    for each in there:
        if count not in each.hashes:
            at_once(_learning(each, home.racks(), count))
    return KnownTopics({each.id: each.hashes[count] for each in there})


def learning(home: Home, names: frozenset[str]) -> Parts[None]:
    """Does beforehand what takes long in `known_topics`."""
    count, pace = home.policies[replica_racks], Pace(MANY)
    while True:
        known = home.known_topics()
        fresh = [name for name in existing(known, names) if count not in known[name].hashes]
        if not fresh:
            return
        racks = home.racks()
        # Any of them may change meanwhile.
        for each in [known[name] for name in sorted(fresh)]:
            yield from _learning(each, racks, count)
            if pace.enough(_PER_TOPIC + len(each.partitions)):
                yield


def _there(home: Home, names: frozenset[str]) -> list[TopicImage]:
    """The topics of these names that there are, in the order of names."""
    known = home.known_topics()
    return [known[name] for name in sorted(existing(known, names))]


def _learning(topic: TopicImage, racks: Mapping[int, str], count: Racks) -> Parts[None]:
    """Has a topic know its hash."""
    hashes = topic.hashes
    hashes[count] = yield from _hashing(
        topic.id, topic.name, len(topic.partitions), _counted(topic, racks, count)
    )


def described(home: Home, names: frozenset[str]) -> PartitionsValue:
    """What releases without hashes write of these topics."""
    racks, count = home.racks(), home.policies[replica_racks]
    return PartitionsValue(
        [TopicValue(each.id, each.name, list(_counted(each, racks, count))) for each in _there(home, names)]
    )


def restored_topics(value: PartitionsValue) -> KnownTopics:
    """Those that a record describes."""
    topics = sorted(value.topics, key=lambda each: each.name)
    hashes = {each.id: topic_hash(each.id, each.name, each.racks) for each in topics}
    return KnownTopics(hashes, described=value)


def topic_hash(topic_id: UUID, name: str, racks: Sequence[Sequence[str]]) -> int:
    """`racks` are those of each partition's replicas, in order (`Utils.computeTopicHash`)."""
    return at_once(_hashing(topic_id, name, len(racks), map(tuple, racks)))


def _hashing(topic_id: UUID, name: str, partitions: int, racks: Iterable[tuple[str, ...]]) -> Parts[int]:
    hashing, out = Xxh3(), bytearray(_MAGIC)
    out += struct.pack("<QQ", topic_id.int >> 64, topic_id.int & _MASK)
    _put(out, name)
    out += _INT32.pack(partitions)
    written: dict[tuple[str, ...], bytes] = {}
    for index, each in enumerate(racks):
        if each not in written:
            written[each] = _written(each)
        out += _INT32.pack(index)
        out += written[each]
        while len(out) >= _PART:
            hashing.update(out[:_PART])
            del out[:_PART]
            yield
    hashing.update(out)
    return hashing.value


def _written(racks: Iterable[str]) -> bytes:
    out = bytearray()
    for each in racks:
        out += _INT32.pack(_units(each))
        _put(out, each)
    return bytes(out)


def _counted(topic: TopicImage, racks: Mapping[int, str], count: Racks) -> Iterator[tuple[str, ...]]:
    """For each partition the racks of its replicas, as Java sorts them."""
    if count == "ignored" or not racks:
        return repeat((), len(topic.partitions))
    kind = set if count == "distinct" else list
    # While that goes on, the topic may change.
    return (
        tuple(sorted(kind(racks[each] for each in partition.replicas if each in racks), key=_as_java))
        for partition in list(topic.partitions)
    )


def _put(out: bytearray, text: str) -> None:
    out += text.encode("utf-16-le", "surrogatepass")
    out += _INT32.pack(_units(text))


def _units(text: str) -> int:
    """Its length in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _as_java(text: str) -> bytes:
    return text.encode("utf-16-be", "surrogatepass")

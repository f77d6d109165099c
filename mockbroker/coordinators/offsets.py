"""The committed offsets of a group."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from ..protocol.offsets_log import NO_TOPIC_ID

Key = tuple[str, int]
"""Topic name and partition."""


@dataclass(slots=True)
class CommittedOffset:
    """`commit_ms` is when it was committed, `expire_ms` when it expires if the client set that (up to v4), or
    if each commit has its own time; `topic_id` are the bytes of the topic's id, `at` is the offset of its
    record in `__consumer_offsets`."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int | None = None
    topic_id: bytes = field(default=NO_TOPIC_ID, compare=False)
    at: int = field(default=-1, compare=False)

    def expired(self, now_ms: int, start_ms: int, retention_ms: int) -> bool:
        """Whether it expires at `now_ms`; without its own time, that is `retention_ms` after `start_ms`."""
        if self.expire_ms is not None:
            return now_ms >= self.expire_ms
        return now_ms - start_ms >= retention_ms


class Offsets:
    """The committed offsets of one group, and those of open transactions, by producer id. `waiting` counts
    the commits of a partition that are not replicated yet."""

    __slots__ = ("_unstable", "committed", "open", "waiting")

    def __init__(self) -> None:
        self.committed: dict[Key, CommittedOffset] = {}
        self.open: dict[int, dict[Key, CommittedOffset]] = {}
        self.waiting: Counter[Key] = Counter()
        self._unstable: frozenset[Key] | None = None

    def __bool__(self) -> bool:
        return bool(self.committed or self.open or self.waiting)

    @property
    def size(self) -> int:
        """How many offsets there are."""
        return len(self.committed) + sum(map(len, self.open.values()))

    def commit(self, offsets: Mapping[Key, CommittedOffset]) -> None:
        self.committed.update(offsets)

    def commit_open(self, producer_id: int, offsets: Mapping[Key, CommittedOffset]) -> None:
        """Offsets of a transaction, which become valid when it is committed."""
        self.open.setdefault(producer_id, {}).update(offsets)
        self._unstable = None

    def drop_open(self, producer_id: int, keys: Iterable[Key]) -> None:
        """Offsets of a transaction could not be written."""
        offsets = self.open.get(producer_id, {})
        for key in keys:
            offsets.pop(key, None)
        if not offsets:
            self.open.pop(producer_id, None)
        self._unstable = None

    def complete(self, producer_id: int, committed: bool, *, replaces: bool = False) -> None:
        """The transaction has got its marker; offsets that were committed later than its own stay, unless it
        `replaces` them."""
        offsets = self.open.pop(producer_id, {})
        self._unstable = None
        if committed:
            for key, offset in offsets.items():
                known = self.committed.get(key)
                if replaces or known is None or known.at <= offset.at:
                    self.committed[key] = offset

    def unstable(self) -> frozenset[Key]:
        """The partitions for which open transactions have offsets (KIP-447)."""
        if self._unstable is None:
            self._unstable = frozenset(key for offsets in self.open.values() for key in offsets)
        return self._unstable

    def unsettled(self) -> frozenset[Key]:
        """The partitions with offsets that are not valid yet."""
        return self.unstable() | self.waiting.keys() if self.waiting else self.unstable()

    def wait(self, keys: Iterable[Key]) -> None:
        """Commits of these partitions are not replicated yet."""
        self.waiting.update(list(keys))

    def end_wait(self, keys: Iterable[Key]) -> None:
        self.waiting.subtract(list(keys))
        self.waiting += Counter()

    def remove(self, keys: Iterable[Key], *, with_open: bool) -> list[Key]:
        """Forgets offsets; returns the partitions that had committed ones, or `with_open` any."""
        known = self._keys() if with_open else self.committed
        asked = list(dict.fromkeys(keys))
        gone = [key for key in asked if key in known]
        self._unstable = None
        for offsets in (self.committed, *self.open.values()):
            # Many transactions may be open, each with few offsets.
            for key in offsets.keys() & asked if len(offsets) < len(asked) else asked:
                offsets.pop(key, None)
        self.open = {producer: offsets for producer, offsets in self.open.items() if offsets}
        return gone

    def remove_all(self, *, with_open: bool) -> list[Key]:
        return self.remove(self._keys(), with_open=with_open)

    def remove_topics(self, topics: Collection[str], *, with_open: bool) -> list[Key]:
        gone = [key for key in self._keys() if key[0] in topics]
        return self.remove(gone, with_open=with_open) if gone else []

    def expire(
        self,
        now_ms: int,
        retention_ms: int,
        start_ms: Callable[[CommittedOffset], int],
        keep_topics: Collection[str] = (),
        *,
        keep_open: bool,
    ) -> list[Key]:
        """Forgets expired offsets (KIP-211), and returns their partitions; `start_ms` returns when their
        retention time begins. `keep_open` is whether an open transaction keeps the offset before its own."""
        unstable = self.unstable() if keep_open else ()
        gone = [
            key
            for key, offset in self.committed.items()
            if offset.expired(now_ms, start_ms(offset), retention_ms)
            and key[0] not in keep_topics
            and key not in unstable
            and key not in self.waiting
        ]
        for key in gone:
            del self.committed[key]
        return gone

    def _keys(self) -> dict[Key, None]:
        """All partitions with offsets, in order."""
        keys = dict.fromkeys(self.committed)
        for offsets in self.open.values():
            keys |= dict.fromkeys(offsets)
        return keys

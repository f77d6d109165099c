"""The committed offsets of a group."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

Key = tuple[str, int]
"""Topic name and partition."""
_LONG_AGO_MS: Final = -1


@dataclass(frozen=True, slots=True)
class CommittedOffset:
    """`commit_ms` is when it was committed, `expire_ms` when it expires if the client set that (up to v4)."""

    offset: int
    leader_epoch: int
    metadata: str
    commit_ms: int
    expire_ms: int | None = None

    def expired(self, now_ms: int, start_ms: int, retention_ms: int) -> bool:
        """Whether it expires at `now_ms`; without its own time, that is `retention_ms` after `start_ms`."""
        if self.expire_ms is not None:
            return now_ms >= self.expire_ms
        return now_ms - start_ms >= retention_ms


class Offsets:
    """The committed offsets of one group, and those of open transactions, by producer id."""

    __slots__ = ("_unstable", "committed", "open")

    def __init__(self) -> None:
        self.committed: dict[Key, CommittedOffset] = {}
        self.open: dict[int, dict[Key, CommittedOffset]] = {}
        self._unstable: frozenset[Key] | None = None

    def __bool__(self) -> bool:
        return bool(self.committed or self.open)

    def commit(self, offsets: Mapping[Key, CommittedOffset]) -> None:
        self.committed.update(offsets)

    def commit_open(self, producer_id: int, offsets: Mapping[Key, CommittedOffset]) -> None:
        """Offsets of a transaction, which become valid when it is committed."""
        self.open.setdefault(producer_id, {}).update(offsets)
        self._unstable = None

    def complete(self, producer_id: int, committed: bool) -> None:
        """The transaction has got its marker."""
        offsets = self.open.pop(producer_id, {})
        self._unstable = None
        if committed:
            self.committed.update(offsets)

    def unstable(self) -> frozenset[Key]:
        """The partitions for which open transactions have offsets (KIP-447)."""
        if self._unstable is None:
            self._unstable = frozenset(key for offsets in self.open.values() for key in offsets)
        return self._unstable

    def remove(self, keys: Iterable[Key]) -> None:
        gone = set(keys)
        self._unstable = None
        for offsets in (self.committed, *self.open.values()):
            for key in gone & offsets.keys():
                del offsets[key]
        self.open = {producer: offsets for producer, offsets in self.open.items() if offsets}

    def remove_topics(self, topics: Collection[str]) -> None:
        self.remove([key for key in self._keys() if key[0] in topics])

    def expire(
        self,
        now_ms: int,
        retention_ms: int,
        start_ms: Callable[[CommittedOffset], int],
        keep_topics: Collection[str] = (),
    ) -> None:
        """Forgets expired offsets (KIP-211); `start_ms` returns when their retention time begins."""
        unstable = self.unstable()
        gone = [
            key
            for key, offset in self.committed.items()
            if key[0] not in keep_topics
            and key not in unstable
            and offset.expired(now_ms, start_ms(offset), retention_ms)
        ]
        for key in gone:
            del self.committed[key]

    def expire_next(self) -> None:
        """Makes offsets without their own expiration time expire at the next check."""
        self.committed = {
            key: offset if offset.expire_ms is not None else replace(offset, expire_ms=_LONG_AGO_MS)
            for key, offset in self.committed.items()
        }

    def _keys(self) -> set[Key]:
        return set(self.committed).union(*self.open.values())

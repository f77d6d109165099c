"""Tombstones for offsets and groups that are gone."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..protocol.errors import ErrorCode
from .commits import Done
from .group_records import Pairs, tombstones
from .group_shard import GroupShard, commit_error
from .group_shards import GroupShards
from .offsets import Key

if TYPE_CHECKING:
    from .kinds import Group

E = ErrorCode
_BATCH_RECORDS = 10_000
"""A real broker ends a batch before it is larger than `max.message.bytes`."""


class Burials:
    """Up to 3.9 each group has a batch, and nobody waits for it (`cleanupGroupMetadata`). Since 4.0 groups
    that are buried together share one."""

    def __init__(self, shards: GroupShards) -> None:
        self._shards = shards
        self._gathered: dict[GroupShard, list[tuple[Pairs, Done]]] | None = None

    def bury(self, group: "Group", offsets: list[Key], done: Done, *, of_group: bool = False) -> None:
        """Tombstones for these offsets and for the group itself."""
        shard, awaits = self._shards.of(group.id), self._shards.awaits
        pairs = tombstones(group.id, offsets)
        if of_group:
            pairs += group.graves(awaits=awaits)
        if shard is None or not shard.current or not pairs:
            done(E.NONE if shard is not None else E.NOT_COORDINATOR)
        elif not awaits:
            shard.write_at_once(pairs)
            done(E.NONE)
        elif self._gathered is not None:
            self._gathered.setdefault(shard, []).append((pairs, done))
        else:
            _write(shard, [(pairs, done)])

    @contextmanager
    def together(self) -> Iterator[None]:
        self._gathered = {}
        try:
            yield
        finally:
            gathered, self._gathered = self._gathered, None
            for shard, graves in gathered.items():
                _write(shard, graves)


def _write(shard: GroupShard, graves: list[tuple[Pairs, Done]]) -> None:
    every = [pair for pairs, _ in graves for pair in pairs]
    for begin in range(0, len(every), _BATCH_RECORDS):
        last = begin + _BATCH_RECORDS >= len(every)

        def answered(error: ErrorCode, last: bool = last) -> None:
            for _, done in graves if last else ():
                done(commit_error(error, awaits=True))

        shard.write(every[begin : begin + _BATCH_RECORDS], lambda: None, answered)

"""The state of one share partition as the share coordinator keeps it, and how what is written to it changes
it (`PersisterStateBatchCombiner.java`)."""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple, Protocol

from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.share_state_log import UNKNOWN, SharePartitionKey, Snapshot, StateBatch, Update


class ShareState(NamedTuple):
    """A state, how many updates came after its snapshot, and the highest epochs that were ever seen."""

    now: Snapshot
    updates: int
    leader_epoch: int
    state_epoch: int

    def replaced(self, snapshot: Snapshot) -> "ShareState":
        return ShareState(
            snapshot,
            0,
            max(self.leader_epoch, snapshot.leader_epoch),
            max(self.state_epoch, snapshot.state_epoch),
        )

    def changed(self, update: Update, *, keeps_count: bool) -> "ShareState":
        """`keeps_count` is whether a count that is not known leaves the one that is."""
        now = self.now
        start = now.start_offset if update.start_offset == UNKNOWN else update.start_offset
        count = update.complete_count
        return self._replace(
            now=now._replace(
                start_offset=start,
                leader_epoch=now.leader_epoch if update.leader_epoch == UNKNOWN else update.leader_epoch,
                complete_count=now.complete_count if count == UNKNOWN and keeps_count else count,
                batches=merged(now.batches, update.batches, start),
            ),
            updates=self.updates + 1,
            leader_epoch=max(self.leader_epoch, update.leader_epoch),
        )


class Kept(NamedTuple):
    """What the share coordinator answers about a share partition: an error, or its state as it was before;
    None if it has none."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: ShareState | None = None


Done = Callable[[Kept], None]


class Persister(Protocol):
    """Keeps the states of share partitions, wherever their share coordinators are."""

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, done: Done) -> None: ...

    def read(self, key: SharePartitionKey, leader_epoch: int, done: Done) -> None: ...

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        complete_count: int,
        batches: Iterable[StateBatch],
        done: Done,
    ) -> None: ...

    def summarize(self, key: SharePartitionKey, done: Done) -> None: ...

    def delete(self, key: SharePartitionKey, done: Done) -> None: ...


def of_snapshot(snapshot: Snapshot) -> ShareState:
    return ShareState(snapshot, 0, snapshot.leader_epoch, snapshot.state_epoch)


def combined(batches: Iterable[StateBatch], start: int) -> tuple[StateBatch, ...]:
    """What is left from the start offset on. Where batches overlap, a higher delivery count counts, then a
    higher state; neighbours that say the same become one."""
    kept = [
        each if each.first >= start else each._replace(first=start)
        for each in batches
        if start == UNKNOWN or each.last >= start
    ]
    if len(kept) < 2:
        return tuple(kept)
    found: list[StateBatch] = []
    for each in _apart(kept):
        last = found[-1] if found else None
        if last is not None and last.last + 1 == each.first and last[2:] == each[2:]:
            found[-1] = last._replace(last=each.last)
        else:
            found.append(each)
    return tuple(found)


def merged(kept: tuple[StateBatch, ...], more: tuple[StateBatch, ...], start: int) -> tuple[StateBatch, ...]:
    """What is left of batches that are combined already, and of more: the same as if all were combined,
    without a look at those that no other touches."""
    begin = 0 if start == UNKNOWN else bisect_left(kept, start, key=_last)
    if begin < len(kept) and kept[begin].first < start:
        kept = (kept[begin]._replace(first=start), *kept[begin + 1 :])
    else:
        kept = kept[begin:]
    if not more:
        return kept
    low = bisect_left(kept, min(each.first for each in more) - 1, key=_last)
    high = bisect_right(kept, max(each.last for each in more) + 1, key=_first)
    return (*kept[:low], *combined((*kept[low:high], *more), start), *kept[high:])


def _first(batch: StateBatch) -> int:
    return batch.first


def _last(batch: StateBatch) -> int:
    return batch.last


def _apart(batches: list[StateBatch]) -> Iterator[StateBatch]:
    """Pieces that do not overlap, in order: each ends where a batch begins or ends."""
    ordered = sorted(each for each in batches if each.first <= each.last)
    edges = sorted({edge for each in ordered for edge in (each.first, each.last + 1)})
    there: list[tuple[int, int, int]] = []
    begun = 0
    for at, end in pairwise(edges):
        while begun < len(ordered) and ordered[begun].first == at:
            _, last, state, deliveries = ordered[begun]
            heapq.heappush(there, (-deliveries, -state, last))
            begun += 1
        while there and there[0][2] < at:
            heapq.heappop(there)
        if there:
            deliveries, state, _ = there[0]
            yield StateBatch(at, end - 1, -state, -deliveries)

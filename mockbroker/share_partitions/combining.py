"""How what is written of share partitions changes their states (`PersisterStateBatchCombiner.java`)."""

import heapq
from bisect import bisect_left, bisect_right
from collections.abc import Generator, Iterable

from mockbroker.portions import MANY, PORTION, Pace, at_once, portions
from mockbroker.protocol.share_state_log import UNKNOWN, StateBatch

Batches = tuple[StateBatch, ...]


def combined(batches: Iterable[StateBatch], start: int) -> Batches:
    """What is left from the start offset on. Where batches overlap, a higher delivery count counts, then a
    higher state; neighbours that say the same become one."""
    return at_once(combining(batches, start))


def combining(batches: Iterable[StateBatch], start: int) -> Generator[None, None, Batches]:
    """As `combined`, in parts."""
    parts: list[list[StateBatch]] = []
    for some in portions(batches, MANY):
        kept = [
            each if each.first >= start else each._replace(first=start)
            for each in some
            if start == UNKNOWN or each.last >= start
        ]
        parts.append(kept)
        yield
    if sum(map(len, parts)) < 2:
        return tuple(each for some in parts for each in some)
    for some in parts:
        some[:] = sorted(each for each in some if each.first <= each.last)
        yield
    found: list[StateBatch] = []
    ordered = heapq.merge(*parts)
    following = next(ordered, None)
    there: list[tuple[int, int, int]] = []
    """What reaches to `at` or further, the one that counts first."""
    at, pace = start, Pace(4 * PORTION)
    while there or following is not None:
        if not there and following is not None:
            at = following.first
        while following is not None and following.first <= at:
            _, last, state, deliveries = following
            heapq.heappush(there, (-deliveries, -state, last))
            following = next(ordered, None)
            if pace.enough():
                yield
        while there and there[0][2] < at:
            heapq.heappop(there)
            if pace.enough():
                yield
        if there:
            deliveries, state, last = there[0]
            end = last if following is None else min(last, following.first - 1)
            _add(found, StateBatch(at, end, -state, -deliveries))
            at = end + 1
    return tuple(found)


def _add(found: list[StateBatch], one: StateBatch) -> None:
    last = found[-1] if found else None
    if last is not None and last.last + 1 == one.first and last[2:] == one[2:]:
        found[-1] = last._replace(last=one.last)
    else:
        found.append(one)


def adding(now: Batches, said: Batches, start: int) -> Generator[None, None, Batches]:
    """As `combined` for both, which were combined before, in parts. Of many, it looks only at those that
    `said` reaches, and their neighbours."""
    if len(now) <= MANY:
        return (yield from combining((*now, *said), start))
    rest = now[0 if start == UNKNOWN else bisect_left(now, start, key=_last) :]
    if rest and rest[0].first < start:
        rest = (rest[0]._replace(first=start), *rest[1:])
    if not said:
        return rest
    begin = max(0, bisect_left(rest, said[0].first, key=_last) - 1)
    end = max(begin + 1, bisect_right(rest, said[-1].last, key=_first) + 1)
    between = yield from combining((*rest[begin:end], *said), start)
    return rest[:begin] + between + rest[end:]


def _first(batch: StateBatch) -> int:
    return batch.first


def _last(batch: StateBatch) -> int:
    return batch.last

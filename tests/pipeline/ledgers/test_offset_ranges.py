"""Sets of offsets as ranges are sets of offsets."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.pipeline.ledgers.offset_ranges import OffsetRanges

SPANS = st.tuples(st.integers(0, 40), st.integers(0, 8)).map(lambda each: (each[0], sum(each)))
CHANGES = st.lists(st.tuples(st.booleans(), SPANS), max_size=30)


def offsets(ranges: OffsetRanges) -> set[int]:
    return {offset for first, end in ranges for offset in range(first, end)}


@given(CHANGES, SPANS)
def test_they_are_the_offsets_that_were_added_and_not_removed(
    changes: list[tuple[bool, tuple[int, int]]], span: tuple[int, int]
) -> None:
    ranges, expected = OffsetRanges(), set[int]()
    for is_added, (first, end) in changes:
        if is_added:
            ranges.add(first, end)
            expected |= set(range(first, end))
        else:
            ranges.remove(first, end)
            expected -= set(range(first, end))
    told = list(ranges)
    assert offsets(ranges) == expected
    assert ranges.count == len(expected)
    assert all(end < following for (_, end), (following, _) in pairwise(told))
    assert offsets(OffsetRanges(ranges.within(*span))) == expected & set(range(*span))
    assert offsets(ranges.without([span])) == expected - set(range(*span))
    assert list(ranges) == told

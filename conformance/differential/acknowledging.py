"""Acknowledgements of records that a member acquired, in every shape."""

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from types import MappingProxyType
from typing import Any, Final

Range = tuple[int, int]
"""First and last offset."""
_NOTHING: Final[Sequence[Range]] = ((0, 0),)
"""In place of what was acquired where nothing was."""


def batches(shape: str, acquired: Sequence[Range], types: Sequence[int]) -> list[dict[str, Any]]:
    """Acknowledgement batches of one partition; the types take turns."""
    kinds = cycle(types or (0,))
    ranges, one_each = SHAPES[shape](acquired or _NOTHING)
    return [
        {
            "first_offset": first,
            "last_offset": last,
            "acknowledge_types": list(islice(kinds, max(1, last - first + 1) if one_each else 1))
            if types
            else [],
        }
        for first, last in ranges
    ]


def _whole(ranges: Sequence[Range]) -> Range:
    return ranges[0][0], ranges[-1][1]


def _head(ranges: Sequence[Range]) -> list[Range]:
    first, last = _whole(ranges)
    return [(first, (first + last) // 2)]


def _tail(ranges: Sequence[Range]) -> list[Range]:
    first, last = _whole(ranges)
    return [((first + last + 1) // 2, last)]


def _middle(ranges: Sequence[Range]) -> list[Range]:
    first, last = _whole(ranges)
    return [(min(first + 1, last), max(first, last - 1))]


def _records(ranges: Sequence[Range]) -> list[Range]:
    return [(offset, offset) for first, last in ranges for offset in range(first, last + 1)]


Shape = Callable[[Sequence[Range]], tuple[list[Range], bool]]
"""Ranges of what was acquired, and whether each record has a type of its own."""
SHAPES: Final[Mapping[str, Shape]] = MappingProxyType(
    {
        "each": lambda found: (list(found), False),
        "each typed": lambda found: (list(found), True),
        "whole": lambda found: ([_whole(found)], False),
        "whole typed": lambda found: ([_whole(found)], True),
        "records": lambda found: (_records(found), False),
        "every other record": lambda found: (_records(found)[::2], False),
        "first record": lambda found: (_records(found)[:1], False),
        "last record": lambda found: (_records(found)[-1:], False),
        "head": lambda found: (_head(found), False),
        "tail": lambda found: (_tail(found), False),
        "middle": lambda found: (_middle(found), True),
        "backwards": lambda found: (_records(found)[::-1], False),
        "twice": lambda found: ([*found, *found], False),
        "overlapping": lambda found: ([*_head(found), _whole(found)], False),
        "beyond": lambda found: ([(found[0][0], found[-1][1] + 2)], False),
        "before": lambda found: ([(found[0][0] - 1, found[-1][1])], False),
        "inside out": lambda found: ([(found[-1][1], found[0][0])], False),
        "far away": lambda found: ([(found[-1][1] + 100, found[-1][1] + 105)], False),
    }
)

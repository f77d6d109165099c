"""Suggests the right name for a wrong one, in error messages.

Both may be long, and there may be many right ones, because clients create topics and groups. So the work has
a limit: only names that promise most by their beginning and end are compared letter by letter.
"""

import heapq
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

_FEW: Final = 20
_NEAR: Final = 0.6
MOST_NAMES: Final = 20_000
"""Of how many names beginning and end are looked at."""
MOST_COMPARED: Final = 50
"""How many names are compared letter by letter."""
MOST_LETTERS: Final = 50
"""How many letters of a name are compared, between those with which both begin and end."""


def nearest(wrong: object, right: Iterable[str]) -> str:
    """`: did you mean …?`, or, if no name is near and there are only a few, the names to choose from."""
    names = list(right)
    if (best := near(wrong, names)) is not None:
        return f": did you mean {best!r}?"
    return f": choose one of {', '.join(sorted(names))}" if 0 < len(names) <= _FEW else ""


def among(ids: Iterable[int]) -> str:
    """The numbers to choose from, such as ids of brokers: of many, the least and the largest."""
    numbers = sorted(ids)
    if len(numbers) > _FEW:
        return f": choose one from {numbers[0]} to {numbers[-1]}"
    return f": choose one of {', '.join(map(str, numbers))}" if numbers else ""


def near(wrong: object, right: Iterable[str]) -> str | None:
    """The name that is nearest to a wrong one; None if no name is near."""
    text = str(wrong).lower()
    names = _promising(text, list(islice(right, MOST_NAMES)))
    best = min(((-_likeness(text, name.lower()), name) for name in names), default=(0.0, ""))
    return best[1] if -best[0] > _NEAR else None


def _promising(wrong: str, names: list[str]) -> list[str]:
    """All names, or, if there are many, those that have the largest part of their letters where both begin or
    end."""
    if len(names) <= MOST_COMPARED:
        return names

    def alike(name: str) -> float:
        parts = (
            2 * sum(_ends(wrong, each)) / (len(wrong) + len(each)) for each in _forms(wrong, name.lower())
        )
        return max(parts, default=0.0)

    return heapq.nlargest(MOST_COMPARED, names, alike)


def _likeness(wrong: str, right: str) -> float:
    """How similar they are, from 0 to 1; the beginning of a name is enough."""
    return max((_ratio(wrong, each) for each in _forms(wrong, right)), default=0.0)


def _forms(wrong: str, right: str) -> Iterator[str]:
    """The name, and its beginning; without those that are too long or too short to be near."""
    for each in {right, right[: len(wrong)]}:
        if each and 2 * min(len(wrong), len(each)) > _NEAR * (len(wrong) + len(each)):
            yield each


def _ratio(wrong: str, right: str) -> float:
    """Twice the number of letters that match, in order, in proportion to all letters."""
    # Importing it takes time, and it is rarely needed.
    import difflib

    start, end = _ends(wrong, right)
    a, b = (each[start : min(start + MOST_LETTERS, len(each) - end)] for each in (wrong, right))
    blocks = difflib.SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    alike = start + end + sum(each.size for each in blocks)
    return 2 * alike / (len(wrong) + len(right))


def _ends(wrong: str, right: str) -> tuple[int, int]:
    """With how many equal letters both begin, and with how many of the others they end."""
    start = _begin_alike(wrong, right)
    return start, _begin_alike(wrong[start:][::-1], right[start:][::-1])


def _begin_alike(wrong: str, right: str) -> int:
    """Found by halving, in few steps even for long names."""
    low, high = 0, min(len(wrong), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if wrong[:middle] == right[:middle]:
            low = middle
        else:
            high = middle - 1
    return low

"""How much of something long is done at a time; in between, whoever does it yields to others."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

T = TypeVar("T")
Parts = Generator[None, None, T]
"""Yields between two parts, and returns what they come to."""

PORTION: Final = 32
"""How many entries are looked at in one step, where each takes little."""
FEW: Final = 8
"""As `PORTION`, where each takes more: a partition that may have to be set up, something that is changed."""
MANY: Final = 512
"""As `PORTION`, where each takes next to nothing: a name that is counted."""


def portions(entries: Iterable[T], size: int = PORTION) -> Iterator[Sequence[T]]:
    """The entries, a few at a time. Whoever walks over them yields after each portion, and gives a copy of
    what may change meanwhile."""
    if type(entries) is list and len(entries) <= size:
        # Most requests name few.
        if entries:
            yield entries
        return
    rest = iter(entries)
    while portion := list(islice(rest, size)):
        yield portion


class Pace:
    """Says when a step has done enough, where entries take as long as they are large:
    `if pace.enough(entries): yield`."""

    __slots__ = ("_done", "_most")

    def __init__(self, most: int = PORTION) -> None:
        self._done = 0
        self._most = most

    def enough(self, entries: int = 1) -> bool:
        """Whether so many more entries end the step."""
        self._done += entries
        if self._done < self._most:
            return False
        self._done = 0
        return True


def at_once(steps: Parts[T]) -> T:
    """Takes all steps; returns what they return."""
    try:
        while True:
            next(steps)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]

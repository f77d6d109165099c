"""Makes what fails smaller for as long as it still fails: histories, plans, sessions, sequences.

Whoever shrinks says which candidates are a little smaller, those that save most first. The first that still
fails takes the place of what it was made from, and has candidates of its own; none is tried twice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar

T = TypeVar("T")
S = TypeVar("S")


class Shrinking(Generic[T]):
    """The smallest so far, and what is left to try. Candidates are told apart by their `repr`."""

    def __init__(self, smallest: T, candidates: Callable[[T], Iterable[T]]) -> None:
        self.smallest, self._candidates = smallest, candidates
        self._known = {hash(repr(smallest))}
        self._left = iter(candidates(smallest))

    def next(self, count: int = 1) -> Sequence[T]:
        """The next candidates, at most so many; empty once all have been tried."""
        return tuple(islice(self._untried(), count))

    def _untried(self) -> Iterator[T]:
        for candidate in self._left:
            if (known := hash(repr(candidate))) not in self._known:
                self._known.add(known)
                yield candidate

    def fails(self, candidate: T) -> None:
        """One of the candidates still fails: from now on, candidates are made from it."""
        self.smallest = candidate
        self._left = iter(self._candidates(candidate))


def shrink(
    failing: T, candidates: Callable[[T], Iterable[T]], still_fails: Callable[[T], bool], budget: int
) -> T:
    """The smallest that was found, after at most `budget` calls of `still_fails`."""
    search = Shrinking(failing, candidates)
    while budget > 0 and (following := search.next()):
        budget -= 1
        if still_fails(following[0]):
            search.fails(following[0])
    return search.smallest


def fewer(steps: Sequence[S]) -> Iterator[tuple[S, ...]]:
    """The steps without all of them, without each half, each quarter, and so on (ddmin)."""
    size = len(steps)
    while size:
        for start in range(0, len(steps), size):
            yield (*steps[:start], *steps[start + size :])
        size //= 2


def simpler(steps: Sequence[S], of_one: Callable[[S], Iterable[S]]) -> Iterator[tuple[S, ...]]:
    """The steps with one of them replaced by what `of_one` gives for it."""
    for index, step in enumerate(steps):
        for each in of_one(step):
            yield (*steps[:index], each, *steps[index + 1 :])

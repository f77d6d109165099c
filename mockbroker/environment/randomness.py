"""The core's source of randomness, which the shell seeds, so that a run can be repeated."""

from collections.abc import Callable
from typing import Protocol


class Randomness(Protocol):
    """The part of `random.Random` that the core uses."""

    def randbytes(self, n: int, /) -> bytes: ...
    def randrange(self, start: int, stop: int, /) -> int: ...


Streams = Callable[[str], Randomness]
"""Returns a source for each concern (`ids`, `fetch sessions`, …): draws from one don't affect another."""

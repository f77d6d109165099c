"""What the core draws from: handed in seeded by the shell, so that a run can be had again."""

from collections.abc import Callable
from typing import Protocol


class Randomness(Protocol):
    """The part of `random.Random` that the core uses."""

    def randbytes(self, n: int, /) -> bytes: ...
    def randrange(self, start: int, stop: int, /) -> int: ...


Streams = Callable[[str], Randomness]
"""Gives a source of its own to each concern (`ids`, `fetch sessions`, …): what one draws changes no other."""

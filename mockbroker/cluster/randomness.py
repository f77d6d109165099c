"""What the core draws from: handed in seeded by the shell, so that a run can be had again."""

from typing import Protocol


class Randomness(Protocol):
    """The part of `random.Random` that the core uses."""

    def randbytes(self, n: int, /) -> bytes: ...
    def randrange(self, start: int, stop: int, /) -> int: ...

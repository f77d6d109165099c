"""How long one connection may be answered before others have their turn."""

import math
from collections.abc import Callable
from typing import Final


class Slice:
    """A span of time on `clock` that lasts until `end`, in seconds; each connection is given a new one."""

    __slots__ = ("clock", "end")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.end = math.inf

    @property
    def over(self) -> bool:
        return self.clock() >= self.end


ENDLESS: Final = Slice(lambda: 0.0)
"""Never ends: for the only connection."""

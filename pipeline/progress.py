"""How far the reading of files, and of rows, has come."""

import time
from collections.abc import Callable
from typing import Final

_EVERY_S: Final = 1.0
_ROWS_EVERY_S: Final = 2.0


class Progress:
    """Tells how many bytes were read of `total`, or what else was `done`, and about how long the rest takes,
    once a second. `clock` tells seconds.
    """

    def __init__(
        self,
        total: int,
        tell: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
        done: str = "read",
    ) -> None:
        self._total = total
        self._tell = tell
        self._clock = clock
        self._said = done
        self._begun = self._told = clock()
        self._done = 0

    def read(self, count: int) -> None:
        """`count` more bytes were read."""
        self._done += count
        now = self._clock()
        if not self._done or now - self._told < _EVERY_S:
            return
        self._told = now
        left = (now - self._begun) / self._done * max(self._total - self._done, 0)
        self._tell(f"{self._said} {_size(self._done)} of {_size(self._total)}, about {left:.0f} s left")


class Rows:
    """Tells how many rows of something were gone through, every few seconds. `clock` tells seconds."""

    def __init__(
        self, name: str, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._name, self._tell, self._clock = name, tell, clock
        self._told, self._done = clock(), 0

    def read(self, count: int) -> None:
        """`count` more rows were gone through."""
        self._done += count
        now = self._clock()
        if now - self._told >= _ROWS_EVERY_S:
            self._told = now
            self._tell(f"went through {self._done:,} rows of {self._name}")


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count < 1e9 else f"{count / 1e9:,.2f} GB"

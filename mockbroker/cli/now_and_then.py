"""Progress of a command that takes long, on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

SECONDS: Final = 5.0
_REMINDED_S: Final = 2.0


def now_and_then(
    command: str, seconds: float = SECONDS, clock: Callable[[], float] = time.monotonic
) -> Callable[[str], None]:
    """A function that writes a line, unless it has written one less than so many seconds ago."""
    told = clock()

    def tell(what: str) -> None:
        nonlocal told
        now = clock()
        if now - told >= seconds:
            told = now
            sys.stderr.write(f"mockbroker {command}: {what}\n")
            sys.stderr.flush()

    return tell


class Doing:
    """Writes what a command does; `now` changes that without a line of its own."""

    def __init__(self, command: str) -> None:
        self._command, self._began, self.now = command, time.monotonic(), ""
        self._told = self._began

    def tell(self, what: str) -> None:
        self.now, self._began = what, time.monotonic()
        self._write(what)

    def remind(self) -> None:
        """Writes for how long it has done it."""
        self._told = time.monotonic()
        if self.now:
            self._write(f"{self.now} ({time.monotonic() - self._began:.0f} s)")

    def _write(self, what: str) -> None:
        self._told = time.monotonic()
        sys.stderr.write(f"mockbroker {self._command}: {what}\n")
        sys.stderr.flush()

    @property
    def silent_s(self) -> float:
        """For how many seconds nothing was written."""
        return time.monotonic() - self._told


@contextmanager
def doing(command: str, seconds: float = _REMINDED_S) -> Iterator[Doing]:
    """Reminds of what is being done when nothing was said for so many seconds, until the block ends."""
    done, found = Event(), Doing(command)

    def remind() -> None:
        while not done.wait(max(seconds - found.silent_s, 0.01)):
            if found.silent_s >= seconds:
                found.remind()

    reminding = Thread(target=remind, name="progress", daemon=True)
    reminding.start()
    try:
        yield found
    finally:
        done.set()
        reminding.join()

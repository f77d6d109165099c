"""Progress of a command that takes long, on stderr."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from rich.console import Console

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


class Counted:
    """How many of how many are done: `console` prints beside it."""

    def __init__(self, console: "Console", show: Callable[[int, str], None], what: str) -> None:
        self.console, self._show, self._what, self._done = console, show, what, 0

    def advance(self, count: int = 1, what: str | None = None) -> None:
        """So many more are done; `what` says from now on what they are, or how it goes."""
        self._done += count
        self._what = self._what if what is None else what
        self._show(self._done, self._what)


@contextmanager
def counted(
    command: str, what: str, total: int, console: "Console", seconds: float = SECONDS
) -> Iterator[Counted]:
    """A bar until the block ends, if the console is a terminal; else a line on stderr now and then."""
    if not console.is_terminal:
        tell = now_and_then(command, seconds)
        yield Counted(console, lambda done, what: tell(f"{done} of {total}: {what}"), what)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield Counted(
            console, lambda done, what: progress.update(task, completed=done, description=what), what
        )

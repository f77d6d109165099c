"""How busy a process is, by what the system tells of its threads.

A thread that waits for a processor counts as one that runs: on a busy machine one that spins mostly waits."""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

Busy = Mapping[str, float]
"""By thread: for how many seconds it has run, or waited for a processor."""


def busy_s(pid: int) -> Busy | None:
    """Of each thread of a process, so far; None where the system does not tell it."""
    return {thread: ran + waited for thread, (ran, waited) in _threads(pid).items()} or None


class Refused:
    """For how long the threads of a process have waited for a processor beyond the time for which they ran.
    One that spins beside another one waits for as long as it runs; that is its own doing."""

    def __init__(self, pid: int) -> None:
        self._pid, self._before = pid, _threads(pid)

    def since_last_s(self) -> float:
        """Of all threads together; 0 where the system does not tell it."""
        before, self._before = self._before, _threads(self._pid)
        last = ((before.get(thread, (0.0, 0.0)), now) for thread, now in self._before.items())
        return sum(max(0.0, now[1] - was[1] - (now[0] - was[0])) for was, now in last)


def _threads(pid: int) -> dict[str, tuple[float, float]]:
    """For how long each has run, and has waited for a processor, so far, in seconds."""
    found: dict[str, tuple[float, float]] = {}
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # it has just ended
            ran, waited, _ = path.read_text().split()
            found[path.parent.name] = int(ran) / 1e9, int(waited) / 1e9
    return found


def since(before: Busy | None, now: Busy | None) -> list[float] | None:
    """What each thread that is left has done since: those that have ended take their time with them."""
    if before is None or now is None:
        return None
    return [busy - before.get(thread, 0.0) for thread, busy in now.items()]

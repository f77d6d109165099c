"""How busy a process is, by what the system tells of its threads.

A thread that waits for a processor counts as one that runs: on a busy machine one that spins mostly waits."""

from collections.abc import Mapping
from pathlib import Path

Busy = Mapping[str, float]
"""By thread: for how many seconds it has run, or waited for a processor."""


def busy_s(pid: int) -> Busy | None:
    """Of each thread of a process, so far; None where the system does not tell it."""
    try:
        told = {
            path.parent.name: path.read_text().split()
            for path in Path(f"/proc/{pid}/task").glob("*/schedstat")
        }
    except OSError:
        return None
    return {thread: (int(ran) + int(waited)) / 1e9 for thread, (ran, waited, _) in told.items()} or None


def since(before: Busy | None, now: Busy | None) -> list[float] | None:
    """What each thread that is left has done since: those that have ended take their time with them."""
    if before is None or now is None:
        return None
    return [busy - before.get(thread, 0.0) for thread, busy in now.items()]

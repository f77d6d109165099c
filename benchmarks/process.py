"""What the operating system knows about a process: processor time and resident memory."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from pathlib import Path


def cpu_us(pid: int | None) -> float | None:
    """User and system time of a process in µs (resolution: a clock tick, 10 ms); None where not on Linux."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat[stat.rindex(")") + 2 :].split()
    return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have started, and so on; Linux only."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def own_cpu_us() -> float:
    """User and system time of this process in µs."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return (usage.ru_utime + usage.ru_stime) * 1e6


def resident_mb(pid: int | None) -> float | None:
    """Resident memory of a process in MB (2**20 bytes), swapped-out pages included on Linux."""
    if pid is None:
        return None
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        asked = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return int(asked.stdout) / 1024 if asked.stdout.strip() else None
    lines = (line.split() for line in status.splitlines() if line.startswith(("VmRSS:", "VmSwap:")))
    return sum(int(kilobytes) for _, kilobytes, _ in lines) / 1024


def open_files(pid: int) -> int:
    """How many a process has open. OSError where not on Linux."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())

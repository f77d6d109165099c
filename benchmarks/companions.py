"""Many tests with a cluster each, in Go, Java and Node.js, from one process: how soon each has it, and the
memory of that process.

`python -m benchmarks.companions --clusters 200 --at-once 1 --at-once 8`
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from companions.suites import copied
from mockbroker.rig.downloads import for_maven

from .lending import lender
from .process import resident_mb

LIMIT_S: Final = 500
END_S: Final = 20
"""How soon the process has ended after the tests, or after a kill."""
_OFTEN_S: Final = 0.02
_LENDING_FILES: Final = 30
"""A process that has lent clusters has more files open, among them the sockets of their brokers."""
_PARALLELISM: Final = "junit.jupiter.execution.parallel.config.fixed.parallelism"
COMMANDS: Final[dict[str, tuple[str, Callable[[int], list[str]]]]] = {
    "go": (
        "example",
        lambda at_once: ["go", "test", "-count=1", "-v", "-run=^TestMany$", f"-parallel={at_once}", "."],
    ),
    "java": (
        ".",
        lambda at_once: ["mvn", "-B", "-q", "test", "-Dtest=ManyTest", f"-D{_PARALLELISM}={at_once}"],
    ),
    "node": (".", lambda _: ["node", "example/many.test.js"]),
}
"""By language, where its tests are run, and how: so many at once."""


class FailedError(Exception):
    """A test failed, or something was left; the message has what was printed."""


@dataclass(frozen=True)
class Played:
    """Times in ms from asking for a cluster until it is there; memory of the process that lends in MB."""

    seconds: float
    ready_ms: list[float]
    idle_mb: float
    most_mb: float
    last_mb: float

    def percentile(self, percent: int) -> float:
        return sorted(self.ready_ms)[(len(self.ready_ms) - 1) * percent // 100]


@dataclass
class _Suite:
    process: subprocess.Popen[bytes]
    pids: Path
    output: IO[bytes]

    def lender(self) -> int | None:
        """The process that lends clusters, once there is one. FailedError if there are several."""
        found = self.pids.read_text().split() if self.pids.exists() else []
        if len(found) > 1:
            raise FailedError(f"{len(found)} processes were started: {found}")
        return int(found[0]) if found else None

    def printed(self) -> str:
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def wait(self, seconds: float) -> bool:
        """Whether it ends within that time."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None


@contextlib.contextmanager
def _started(language: str, clusters: int, at_once: int) -> Iterator[_Suite]:
    with tempfile.TemporaryDirectory() as temporary, tempfile.TemporaryFile() as output:
        folder, command = COMMANDS[language]
        pids, program = Path(temporary, "pids"), Path(temporary, "mockbroker")
        program.write_text(f'#!/bin/sh\necho $$ >>"{pids}"\nexec "{_mockbroker()}" "$@"\n')
        program.chmod(0o700)
        given = {"MOCKBROKER": str(program), "MANY": str(clusters), "AT_ONCE": str(at_once)}
        process = subprocess.Popen(
            command(at_once),
            cwd=copied(language, Path(temporary)) / folder,
            env={**for_maven(), **given},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield _Suite(process, pids, output)
        finally:
            process.kill()
            process.wait()


def play(language: str, clusters: int, at_once: int) -> Played:
    """All tests of a language. FailedError."""
    began = time.monotonic()
    sizes: list[float] = []
    with _started(language, clusters, at_once) as suite:
        while not suite.wait(_OFTEN_S):
            # A process that is ending has none.
            if mb := resident_mb(suite.lender()):
                sizes.append(mb)
            if time.monotonic() - began > LIMIT_S:
                raise FailedError(f"the tests still run after {LIMIT_S} s\n{suite.printed()}")
        seconds, printed = time.monotonic() - began, suite.printed()
        told = re.search(r"ready after, in ms: (.*)", printed)
        if suite.process.returncode or told is None:
            raise FailedError(printed)
        pid = suite.lender()
        assert pid is not None
        _until_gone(pid)
    ready = [float(each) for each in re.findall(r"[\d.]+", told[1])]
    if len(ready) != clusters:
        raise FailedError(f"{len(ready)} clusters instead of {clusters}\n{printed}")
    return Played(seconds, ready, idle_mb(), max(sizes), sizes[-1])


def kill(language: str, at_once: int = 8) -> float:
    """Kills the process of the tests (SIGKILL) while it has clusters. Seconds until the one that lends them
    is gone, and they with it. FailedError."""
    with _started(language, 2_000, at_once) as suite:
        deadline = time.monotonic() + LIMIT_S
        while (pid := suite.lender()) is None or _files(pid) < _LENDING_FILES:
            if suite.wait(_OFTEN_S) or time.monotonic() > deadline:
                raise FailedError(f"no clusters came\n{suite.printed()}")
        os.kill(_parent(pid), signal.SIGKILL)
        killed = time.monotonic()
        _until_gone(pid)
        return time.monotonic() - killed


def idle_mb() -> float:
    """Memory of a process that lends, and was not asked yet."""
    with lender() as (pid, _):
        found = resident_mb(pid)
    assert found is not None
    return found


def _mockbroker() -> str:
    return str(Path(sys.executable).with_name("mockbroker"))


def _files(pid: int) -> int:
    """How many it has open; none once it is gone."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def _parent(pid: int) -> int:
    stat = Path(f"/proc/{pid}/stat").read_text()
    return int(stat[stat.rindex(")") + 2 :].split()[1])


def _until_gone(pid: int) -> None:
    deadline = time.monotonic() + END_S
    while _files(pid):
        if time.monotonic() > deadline:
            raise FailedError(f"process {pid} still runs after {END_S} s")
        time.sleep(_OFTEN_S)


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--at-once", type=int, action="append", help="1 and 8 without it")
    parser.add_argument("--languages", default=",".join(COMMANDS))
    given = parser.parse_args()
    for language in given.languages.split(","):
        for at_once in given.at_once or [1, 8]:
            played = play(language, given.clusters, at_once)
            _print(
                f"{language}, {given.clusters} tests, {at_once} at once: {played.seconds:.1f} s; "
                f"a cluster after {played.percentile(50):.1f} ms (99 %: {played.percentile(99):.1f}); "
                f"MB idle {played.idle_mb:.0f}, at most {played.most_mb:.0f}, last {played.last_mb:.0f}"
            )
        _print(f"{language}: gone {kill(language):.2f} s after the process of the tests was killed")


if __name__ == "__main__":
    main()

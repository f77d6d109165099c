"""Many clients of a proxy at once: `python -m benchmarks.proxied`.

The cluster, the proxy and the clients are processes of their own. Some clients ask, and are answered twice
while all are there; others say nothing. All leave, and as many come, round by round. Exit status 1 if the
proxy's resident memory (MB are 2**20 bytes) has grown from the first round to the last. Linux only.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final, NamedTuple

from benchmarks.peers import started
from benchmarks.process import open_files, resident_mb
from benchmarks.wire import Connection, Reader, Writer, WrongAnswerError
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.waiting import wait_for

_OTHERS: Final = 60
"""Files that the proxy has open besides those of clients, or keeps free."""
_AT_ONCE: Final = 500
"""How many ask before the first one reads."""
_LEAVE_SECONDS: Final = 120
_KEPT_MB: Final = 4
"""What allocators may keep from one round to the next."""


class Round(NamedTuple):
    """The proxy's MB with all clients, and without them; how many answers there were."""

    there_mb: float
    left_mb: float
    answers: int


def proxied(asking: int, idle: int, rounds: int, tell: Callable[[str], None]) -> list[Round]:
    """WrongAnswerError if a client is not answered, TimeoutError if something of a client stays."""
    ours = [sys.executable, "-m", "mockbroker"]
    with (
        started([*ours, "serve", "-q", "--port", "0", "--brokers", "1"]) as cluster,
        started([*ours, "proxy", "-q", "--port", "0", "--upstream", cluster.address]) as proxy,
    ):
        wait_for("two files fewer", lambda: open_files(proxy.pid) < _OTHERS)
        alone = open_files(proxy.pid)
        tell(f"no clients: {_mb(proxy.pid):.1f} MB")
        found = []
        for number in range(1, rounds + 1):
            with ExitStack() as stack:
                links = [stack.enter_context(Connection(proxy.address)) for _ in range(asking + idle)]
                answers = _asked(links[:asking]) + _asked(links[:asking])
                there = _mb(proxy.pid)
            wait_for("an end of all", lambda: open_files(proxy.pid) <= alone, _LEAVE_SECONDS)
            found.append(Round(there, _mb(proxy.pid), answers))
            tell(
                f"round {number}: {answers:,} answers for {asking:,} clients, {idle:,} that say nothing: "
                f"{there:.1f} MB; without them {found[-1].left_mb:.1f} MB"
            )
    return found


def _asked(links: list[Connection]) -> int:
    """How many were answered; many have asked before the first one reads."""
    frame = Writer(ApiKey.API_VERSIONS, 0, flexible=False).done()
    room = memoryview(bytearray(1 << 16))
    for start in range(0, len(links), _AT_ONCE):
        some = links[start : start + _AT_ONCE]
        for link in some:
            link.socket.sendall(frame)
        for link in some:
            if error := Reader(room[: link.answer_into(room)]).int16():
                raise WrongAnswerError(f"ApiVersions: error code {error}")
    return len(links)


def _mb(pid: int) -> float:
    found = resident_mb(pid)
    assert found is not None
    return found


def _write(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    parser = argparse.ArgumentParser(prog="python -m benchmarks.proxied", description=__doc__)
    usual = min(9_500, (most - _OTHERS) // 2)
    parser.add_argument("--asking", type=int, default=usual, help="clients that ask (%(default)s)")
    parser.add_argument("--idle", type=int, default=500, help="clients that say nothing (%(default)s)")
    parser.add_argument("--rounds", type=int, default=4, help="how often all leave (%(default)s)")
    given = parser.parse_args()
    found = proxied(given.asking, given.idle, given.rounds, _write)
    grown = found[-1].there_mb - found[0].there_mb
    return int(grown > _KEPT_MB)


if __name__ == "__main__":
    sys.exit(main())

"""Sends sessions to a `mockbroker serve` process, over sockets, beside a client that does nothing wrong.

Only what is sent is played: operations are left out, and what answers tell is not used.
"""

import contextlib
import os
import random
import re
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Self

from .dialogue import Finding
from .good import PATIENCE_SECONDS, GoodClient, Longest, beside
from .largest import MOST_ENTRIES
from .modes import BROKERS, INPUTS, Maker
from .playing import NOW_MS
from .shards import KEPT_BYTES, mode_of
from .steps import Close, Send
from .values import TOPICS, Known

_WARM: Final = 6
"""After this many sessions the server has loaded everything that it ever loads."""
_CONFIG: Final = {
    "offsets.topic.num.partitions": 5,
    "transaction.state.log.num.partitions": 5,
    "offsets.topic.segment.bytes": 1 << 20,
    "transaction.state.log.segment.bytes": 1 << 20,
    "log.segment.bytes": 1 << 20,
    "log.retention.bytes": 1 << 20,
    "log.retention.check.interval.ms": 1000,
    "log.cleaner.backoff.ms": 1000,
}
"""Little is kept of what is written, so that what is kept for no reason can be seen."""
_SEND_SECONDS: Final = 0.1
_LARGE_SEND_SECONDS: Final = 2.0
_WRONG: Final = re.compile(r"Traceback|\bfailed\b")


@dataclass
class Result:
    inputs: int = 0
    untaken: int = 0
    """Writes that the server did not read to their end."""
    before: Longest = field(default_factory=Longest)
    """Without anybody else."""
    beside: Longest = field(default_factory=Longest)
    grew_bytes: int = 0
    peak_bytes: int = 0
    """The most that was resident."""


@dataclass(frozen=True)
class Limits:
    """What the server may take: bytes of address space (0: any), seconds that the good client waits, at most,
    and in 99 of 100 cases, and bytes that are kept in the end."""

    memory: int
    stall: float
    p99: float = PATIENCE_SECONDS
    kept: int = KEPT_BYTES


def run(
    first: int,
    inputs: int,
    modes: Sequence[str],
    limits: Limits,
    *,
    recording: bool = False,
    most_entries: int = MOST_ENTRIES,
) -> Result:
    """With `recording`, the server writes a trace and a packet capture. Finding if it is not as it should
    be."""
    result = Result()
    with _Server(limits.memory, recording) as server, GoodClient(server.addresses[0], server.pid) as good:
        good.create()
        good.watch(result.before, _for(1.0))
        try:
            with beside(good, result.beside):
                start_bytes = 0
                for count, number in enumerate(range(first, first - -inputs // INPUTS)):
                    untaken = _play(mode_of(number, modes), number, server, most_entries)
                    result.untaken += untaken
                    result.inputs += INPUTS
                    if count == _WARM:
                        start_bytes = server.resident_bytes()
            server.check()
            good.clean()
            good.watch(Longest(), _for(0.5))
        except (Finding, OSError):
            server.check()
            raise
        result.peak_bytes = server.resident_bytes(most=True)
        if start_bytes:
            result.grew_bytes = server.resident_bytes() - start_bytes
    judge(result, limits)
    return result


def _for(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end


def judge(result: Result, limits: Limits) -> None:
    """Finding if the good client waited too long, or if too much memory is kept."""
    beside = result.beside
    if beside.processor > limits.stall or beside.wall > PATIENCE_SECONDS or beside.p99 > limits.p99:
        raise Finding("stall", figures(result))
    if result.grew_bytes > limits.kept:
        raise Finding("growth", figures(result))


def figures(result: Result) -> str:
    """The figures, for people."""
    waited, mb = result.beside, 1 << 20
    return (
        f"{result.untaken} writes were not taken; the longest answer took {waited.wall:.2f} s, "
        f"{waited.processor:.2f} s of them of the server's processor ({result.before.wall:.2f} s without "
        f"others), 99 of 100 at most {waited.p99 * 1000:.0f} ms; "
        f"{result.grew_bytes // mb} MB more are kept, {result.peak_bytes // mb} MB were the most"
    )


class _Server:
    """A process that serves; its stderr is kept."""

    def __init__(self, memory: int, recording: bool) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-m", "mockbroker", "serve", "--port", "0", "--brokers", str(BROKERS)]
        for name in TOPICS:
            command += ["--topic", f"{name}:3"]
        for name, value in _CONFIG.items():
            command += ["--config", f"{name}={value}"]
        if recording:
            command += ["--trace", os.devnull, "--capture", os.devnull, "--overwrite"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        if memory:
            resource.prlimit(self._process.pid, resource.RLIMIT_AS, (memory, memory))
        assert self._process.stdout
        line = self._process.stdout.readline().strip()
        if not line:
            said = self._said()
            self.__exit__()
            raise Finding("death", said)
        self.addresses = [
            (host, int(port)) for host, _, port in (each.partition(":") for each in line.split(","))
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()
        self._errors.close()

    def check(self) -> None:
        """Finding if it has died, or has reported a failure."""
        text = self._said()
        if self._process.poll() is not None:
            raise Finding("death", f"status {self._process.returncode}\n{text[-4000:]}")
        if wrong := _WRONG.search(text):
            raise Finding("error", text[max(0, wrong.start() - 500) : wrong.start() + 4000])

    @property
    def pid(self) -> int:
        return self._process.pid

    def resident_bytes(self, *, most: bool = False) -> int:
        """Now, or the most so far. Finding if it has died."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError as error:
            raise Finding("death", self._said()[-4000:]) from error
        (found,) = re.findall(r"VmHWM:\s+(\d+)" if most else r"VmRSS:\s+(\d+)", status) or ("0",)
        return int(found) * 1024

    def _said(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        return os.pread(self._errors.fileno(), size, 0).decode(errors="replace")


def _play(mode: str, number: int, server: _Server, most_entries: int) -> int:
    """Plays one session, which ends with its connections, some of them in the middle of a request. Returns
    how often the server did not take what was sent."""
    maker, chance = Maker(mode, number, Known(), NOW_MS), random.Random(f"served {number}")
    maker.kafka, maker.most_entries = "4.4", most_entries
    patience = _LARGE_SEND_SECONDS if mode == "largest" else _SEND_SECONDS
    connections: dict[int, socket.socket] = {}
    reading: list[socket.socket] = []
    left: list[socket.socket] = []
    try:
        for step in maker.steps():
            if isinstance(step, Send):
                if step.connection not in connections:
                    sock = socket.create_connection(server.addresses[step.broker - 1], PATIENCE_SECONDS)
                    sock.setblocking(False)
                    connections[step.connection] = sock
                    if chance.random() < 0.8:
                        reading.append(sock)
                sock = connections[step.connection]
                if not all(_send(sock, data, reading, patience) for data in step.writes):
                    # Closed by the server, or full because nobody reads: another connection replaces it.
                    left.append(connections.pop(step.connection))
            elif isinstance(step, Close) and step.connection in connections:
                sock = connections.pop(step.connection)
                if sock in reading:
                    reading.remove(sock)
                if chance.random() < 0.5:
                    with contextlib.suppress(OSError):
                        sock.send(b"\0\0\1\0half")
                sock.close()
        while _drain(reading, patience):
            pass
    finally:
        for sock in (*connections.values(), *left):
            sock.close()
    return len(left)


def _send(sock: socket.socket, data: bytes, reading: list[socket.socket], patience: float) -> bool:
    """Sends it all, and reads what there is meanwhile; False if nothing is taken for `patience` seconds, or
    the connection is closed."""
    rest, end = memoryview(data), time.monotonic() + patience
    while rest:
        _drain(reading, 0)
        _, ready, _ = select.select([], [sock], [], max(0.0, end - time.monotonic()) / 10)
        if ready:
            try:
                rest = rest[sock.send(rest) :]
            except OSError:
                return False
            end = time.monotonic() + patience
        elif time.monotonic() > end:
            return False
    return True


def _drain(reading: list[socket.socket], seconds: float) -> bool:
    """Reads what there is, or comes within so many seconds; whether anything was."""
    ready, _, _ = select.select(reading, [], [], seconds)
    for sock in ready:
        try:
            if sock.recv(1 << 20):
                continue
        except OSError:
            pass
        reading.remove(sock)
    return bool(ready)

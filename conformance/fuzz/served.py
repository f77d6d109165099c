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
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final, Self

from .. import batches
from ..client import Client
from .dialogue import Finding
from .modes import BROKERS, INPUTS, Maker
from .playing import NOW_MS
from .shards import KEPT_BYTES, mode_of
from .steps import Close, Send
from .values import TOPICS, WITNESS, Known

PATIENCE_SECONDS: Final = 30.0
"""The longest that the good client waits, however busy the machine is."""
_WARM: Final = 6
"""After this many sessions the server has loaded everything that it ever loads."""
_SEND_SECONDS: Final = 0.1
_WRONG: Final = re.compile(r"Traceback|\bfailed\b")


@dataclass
class Longest:
    """The good client's longest wait for an answer: in seconds of the clock, and of the server's CPU time."""

    wall: float = 0.0
    processor: float = 0.0
    answers: int = 0

    def add(self, wall: float, processor: float) -> None:
        self.wall = max(self.wall, wall)
        # Time in which another process runs does not count as the client's wait.
        self.processor = max(self.processor, min(wall, processor))
        self.answers += 1


@dataclass
class Result:
    inputs: int = 0
    before: Longest = field(default_factory=Longest)
    """Without anybody else."""
    beside: Longest = field(default_factory=Longest)
    grew_bytes: int = 0


def run(first: int, inputs: int, modes: Sequence[str], memory: int, stall_seconds: float) -> Result:
    """`memory` is the server's address space in bytes, 0 for no limit. Finding if something happens that must
    not."""
    result = Result()
    with _Server(memory) as server, _GoodClient(server) as good:
        good.watch(result.before, 1.0)
        with good.beside(result.beside):
            start_bytes = 0
            for count, number in enumerate(range(first, first - -inputs // INPUTS)):
                _play(mode_of(number, modes), number, server)
                result.inputs += INPUTS
                if count == _WARM:
                    start_bytes = server.resident_bytes()
        server.check()
        good.clean()
        good.watch(Longest(), 0.5)
        if start_bytes:
            result.grew_bytes = server.resident_bytes() - start_bytes
    judge(result, stall_seconds)
    return result


def judge(result: Result, stall_seconds: float) -> None:
    """Finding if the good client waited too long, or if too much memory is kept."""
    if result.beside.processor > stall_seconds or result.beside.wall > PATIENCE_SECONDS:
        raise Finding("stall", told(result))
    if result.grew_bytes > KEPT_BYTES:
        raise Finding("growth", told(result))


def told(result: Result) -> str:
    """The figures, for people."""
    return (
        f"the longest answer took {result.beside.wall:.2f} s, {result.beside.processor:.2f} s of them of the "
        f"server's processor ({result.before.wall:.2f} s without others); "
        f"{result.grew_bytes >> 20} MB more are kept"
    )


class _Server:
    """A process that serves; its stderr is kept."""

    def __init__(self, memory: int) -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        command = [sys.executable, "-m", "mockbroker", "serve", "--port", "0", "--brokers", str(BROKERS)]
        for name in TOPICS:
            command += ["--topic", f"{name}:3"]
        for name in ("offsets.topic.num.partitions", "transaction.state.log.num.partitions"):
            command += ["--config", f"{name}=5"]
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

    def resident_bytes(self) -> int:
        return int(self._read("statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor_seconds(self) -> float:
        times = self._read("stat").rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def _read(self, name: str) -> str:
        try:
            return Path(f"/proc/{self._process.pid}/{name}").read_text()
        except OSError as error:
            raise Finding("death", self._said()[-4000:]) from error

    def _said(self) -> str:
        size = self._errors.seek(0, os.SEEK_END)
        return os.pread(self._errors.fileno(), size, 0).decode(errors="replace")


class _GoodClient:
    """Asks for the versions and its topic, writes to it and reads it back, over and over."""

    def __init__(self, server: _Server) -> None:
        self._server = server
        self._client = Client(*server.addresses[0], "good", PATIENCE_SECONDS)
        configs = [{"name": "max.message.bytes", "value": "1000000"}, {"name": "retention.ms", "value": "-1"}]
        assigned = [{"partition_index": 0, "broker_ids": [1]}]
        topic = {"name": WITNESS, "num_partitions": -1, "replication_factor": -1}
        topics = [{**topic, "assignments": assigned, "configs": configs}]
        self._client.call("create_topics", 2, {"topics": topics, "timeout": 5000})
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def watch(self, longest: Longest, seconds: float) -> None:
        """Asks for this many seconds. Finding."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._ask(longest)

    @contextlib.contextmanager
    def beside(self, longest: Longest) -> Iterator[None]:
        """Asks in a thread while the block runs. Finding at the end."""
        over = threading.Event()
        found: list[Finding] = []

        def ask() -> None:
            try:
                while not over.is_set():
                    self._ask(longest)
                    over.wait(0.002)
            except Finding as finding:
                found.append(finding)

        thread = threading.Thread(target=ask)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        if found:
            self._server.check()
            raise found[0]

    def clean(self) -> None:
        """Deletes all topics but its own."""
        names = [each["name"] for each in self._client.call("metadata", 1, {"topics": None})["topics"]]
        rest = [name for name in names if name != WITNESS]
        self._client.call("delete_topics", 1, {"topic_names": rest, "timeout": 5000})

    def _ask(self, longest: Longest) -> None:
        began, used = time.monotonic(), self._server.processor_seconds()
        for ask in (self._versions, self._metadata, self._write, self._fetch):
            try:
                ask()
            except (OSError, ValueError) as error:
                self._server.check()
                raise Finding("good client", f"{ask.__name__[1:]}: {error!r}") from error
            now, spent = time.monotonic(), self._server.processor_seconds()
            longest.add(now - began, spent - used)
            began, used = now, spent

    def _versions(self) -> None:
        self._client.call("api_versions", 0)

    def _metadata(self) -> None:
        [topic] = self._client.call("metadata", 1, {"topics": [{"name": WITNESS}]})["topics"]
        self._expect("NONE", topic["error_code"])

    def _write(self) -> None:
        partition = {"index": 0, "records": batches.batch(batches.records(1, int(time.time() * 1000)))}
        topics = [{"name": WITNESS, "partition_data": [partition]}]
        answer = self._client.call("produce", 8, {"acks": -1, "timeout": 1000, "topic_data": topics})
        found = answer["responses"][0]["partition_responses"][0]
        self._expect(("NONE", self._end), (found["error_code"], found["base_offset"]))
        self._end += 1

    def _fetch(self) -> None:
        partition = {"partition": 0, "fetch_offset": self._end - 1, "partition_max_bytes": 1 << 20}
        topics = [{"topic": WITNESS, "partitions": [partition]}]
        asked = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20, "topics": topics}
        found = self._client.call("fetch", 4, asked)["responses"][0]["partitions"][0]
        self._expect(("NONE", True), (found["error_code"], bool(found["records"])))

    def _expect(self, expected: object, found: object) -> None:
        if found != expected:
            raise ValueError(f"expected {expected}, got {found}")


def _play(mode: str, number: int, server: _Server) -> None:
    """Plays one session, which ends with its connections, some of them in the middle of a request."""
    maker, chance = Maker(mode, number, Known(), NOW_MS), random.Random(f"served {number}")
    maker.kafka = "4.4"
    connections: dict[int, socket.socket] = {}
    reading: list[socket.socket] = []
    left: list[socket.socket] = []
    try:
        for step in maker.steps():
            if isinstance(step, Send):
                if step.connection not in connections:
                    sock = socket.create_connection(server.addresses[step.broker - 1], PATIENCE_SECONDS)
                    sock.settimeout(_SEND_SECONDS)
                    connections[step.connection] = sock
                    if chance.random() < 0.8:
                        reading.append(sock)
                _drain(reading)
                try:
                    for data in step.writes:
                        connections[step.connection].sendall(data)
                except OSError:
                    # Closed by the server, or full because nobody reads: another connection replaces it.
                    left.append(connections.pop(step.connection))
            elif isinstance(step, Close) and step.connection in connections:
                sock = connections.pop(step.connection)
                if sock in reading:
                    reading.remove(sock)
                if chance.random() < 0.5:
                    with contextlib.suppress(OSError):
                        sock.sendall(b"\0\0\1\0half")
                sock.close()
        _drain(reading)
    finally:
        for sock in (*connections.values(), *left):
            sock.close()


def _drain(reading: list[socket.socket]) -> None:
    ready, _, _ = select.select(reading, [], [], 0)
    for sock in ready:
        try:
            if sock.recv(1 << 20):
                continue
        except OSError:
            pass
        reading.remove(sock)

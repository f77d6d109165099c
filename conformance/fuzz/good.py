"""A client that does nothing wrong, and how long it waits for its answers."""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from ...rig import batches
from ...rig.client import Client
from .dialogue import Finding
from .values import WITNESS

PATIENCE_SECONDS: Final = 30.0
"""The longest that it waits, however busy the machine is."""
_PAUSE_SECONDS: Final = 0.002


@dataclass
class Longest:
    """Its longest wait for an answer: in seconds of the clock, and of the server's CPU time; and `p99`, than
    which 1 answer of 100 took longer."""

    wall: float = 0.0
    processor: float = 0.0
    answers: int = 0
    p99: float = 0.0
    _walls: list[float] = field(default_factory=list, repr=False)

    def add(self, wall: float, processor: float, late: float = 0.0) -> None:
        """`late` is how long the client could not go on because other processes ran."""
        self.wall = max(self.wall, wall)
        # Time in which another process runs does not count as the client's wait.
        self.processor = max(self.processor, min(wall - late, processor))
        self.answers += 1
        self._walls.append(wall)

    def conclude(self) -> None:
        """Finds the p99."""
        self.p99 = sorted(self._walls)[len(self._walls) * 99 // 100] if self._walls else 0.0


class GoodClient:
    """Asks for the versions and its topic, writes to it and reads it back, over and over.

    `pid` is the server's process, `end` the offset after the last record that was written.
    """

    def __init__(self, address: tuple[str, int], pid: int, end: int = 0) -> None:
        self.address, self.pid, self.end = address, pid, end
        self._client = Client(*address, "good", PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def reconnect(self) -> None:
        """To be called after a pause: servers close what is idle (`connections.max.idle.ms`)."""
        self._client.close()
        self._client = Client(*self.address, "good", PATIENCE_SECONDS)

    def create(self) -> None:
        """Creates its topic."""
        configs = [{"name": "max.message.bytes", "value": "1000000"}, {"name": "retention.ms", "value": "-1"}]
        assigned = [{"partition_index": 0, "broker_ids": [1]}]
        topic = {"name": WITNESS, "num_partitions": -1, "replication_factor": -1}
        topics = [{**topic, "assignments": assigned, "configs": configs}]
        self._client.call("create_topics", 2, {"topics": topics, "timeout": 5000})

    def watch(self, longest: Longest, over: Callable[[], bool]) -> None:
        """Asks until it is over. Finding."""
        while not over():
            self._ask(longest)
            time.sleep(_PAUSE_SECONDS)
        longest.conclude()

    def clean(self) -> None:
        """Deletes all topics but its own."""
        names = [each["name"] for each in self._client.call("metadata", 1, {"topics": None})["topics"]]
        rest = [name for name in names if name != WITNESS]
        self._client.call("delete_topics", 1, {"topic_names": rest, "timeout": 5000})

    def _ask(self, longest: Longest) -> None:
        began, used, late = time.monotonic(), processor_seconds(self.pid), late_seconds()
        for ask in (self._versions, self._metadata, self._write, self._fetch):
            try:
                ask()
            except (OSError, ValueError) as error:
                raise Finding("good client", f"{ask.__name__[1:]}: {error!r}") from error
            now, spent, later = time.monotonic(), processor_seconds(self.pid), late_seconds()
            longest.add(now - began, spent - used, later - late)
            began, used, late = now, spent, later

    def _versions(self) -> None:
        self._client.call("api_versions", 0)

    def _metadata(self) -> None:
        [topic] = self._client.call("metadata", 1, {"topics": [{"name": WITNESS}]})["topics"]
        _expect("NONE", topic["error_code"])

    def _write(self) -> None:
        write(self._client, 8, int(time.time() * 1000), self.end)
        self.end += 1

    def _fetch(self) -> None:
        partition = {"partition": 0, "fetch_offset": self.end - 1, "partition_max_bytes": 1 << 20}
        topics = [{"topic": WITNESS, "partitions": [partition]}]
        asked = {"replica_id": -1, "max_wait": 0, "min_bytes": 0, "max_bytes": 1 << 20, "topics": topics}
        found = self._client.call("fetch", 4, asked)["responses"][0]["partitions"][0]
        _expect(("NONE", True), (found["error_code"], bool(found["records"])))


def write(client: Client, version: int, now_ms: int, end: int) -> None:
    """Writes a record to the good client's topic, which ends at `end`. ValueError if the answer is wrong."""
    partition = {"index": 0, "records": batches.batch(batches.records(1, now_ms))}
    topics = [{"name": WITNESS, "partition_data": [partition]}]
    answer = client.call("produce", version, {"acks": -1, "timeout": 1000, "topic_data": topics})
    found = answer["responses"][0]["partition_responses"][0]
    _expect(("NONE", end), (found["error_code"], found["base_offset"]))


def _expect(expected: object, found: object) -> None:
    if found != expected:
        raise ValueError(f"expected {expected}, got {found}")


def processor_seconds(pid: int) -> float:
    """The CPU time of a process. Finding if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError as error:
        raise Finding("death", f"process {pid} is gone") from error
    return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def late_seconds() -> float:
    """How long this process could have run, but others did; 0 where Linux does not count that."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


@contextlib.contextmanager
def beside(good: GoodClient, longest: Longest) -> Iterator[None]:
    """It asks in a process of its own while the block runs. Finding at the end."""
    command = [sys.executable, "-m", "mockbroker.conformance.fuzz", "good"]
    command += [good.address[0], str(good.address[1]), str(good.pid), str(good.end)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        try:
            yield
            told = json.loads(process.communicate()[0] or "{}")
        finally:
            process.kill()
    if wrong := told.pop("wrong", "it told nothing" if not told else ""):
        raise Finding("good client", wrong)
    good.end = told.pop("end")
    good.reconnect()
    vars(longest).update(told)


def go_on(host: str, port: int, pid: int, end: int) -> None:
    """The work of that process: it asks until its input ends, and then tells how long it waited."""
    longest, wrong = Longest(), ""
    with GoodClient((host, port), pid, end) as good:
        print("begun", flush=True)  # noqa: T201
        try:
            good.watch(longest, lambda: bool(select.select([sys.stdin], [], [], 0)[0]))
        except Finding as finding:
            wrong = str(finding)
        told = {"wall": longest.wall, "processor": longest.processor, "answers": longest.answers}
        print(json.dumps({**told, "p99": longest.p99, "end": good.end, "wrong": wrong}), flush=True)  # noqa: T201

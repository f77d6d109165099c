"""What members of a share group cost as more is in flight: `python -m benchmarks.sharing`.

A share partition has so many records in flight, each a batch of its own, and so many members have them. A
ShareAcknowledge lets a record go or is done with it, and a ShareFetch brings the next one, so that as many
stay in flight. CPU time of the broker for one request, mockbroker's and kfake's, in turn. Real brokers allow
10,000 in flight at most (`group.share.partition.max.record.locks`). Linux only.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from mockbroker.protocol.primitives import short_uuid
from mockbroker.rig import requests
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import Client

from .asking import frame
from .kfake import CannotBuildError, build
from .peers import Running, mockbroker, started
from .trees import Tree

SIZES: Final = (100, 1_000, 10_000, 50_000)
MEMBERS: Final = (1, 10, 100)
TOPIC: Final = "shared"
GROUP: Final = "members"
ACCEPT, RELEASE = 1, 2
_BROKER: Final = 4
_GROUP: Final = 32
"""Types of resources."""
_TURNS: Final = 10
_AT_ONCE: Final = 20
"""So many acknowledgements, then so many fetches, are one measurement."""
_PIECES: Final = 10
_AHEAD: Final = 500
_PIPELINED: Final = 500
_MOST_BYTES: Final = 50 << 20
"""As Java's client asks."""
_DAY_MS: Final = 24 * 3600 * 1000
CONFIG: Final = {
    "group.share.partition.max.record.locks": "100000",
    "group.share.record.lock.duration.ms": "3600000",
    "group.share.delivery.count.limit": "10",
    "group.share.session.timeout.ms": "3600000",
}
"""For kfake; `sharing_broker` does the same for mockbroker."""


class RefusedError(Exception):
    """A broker answered otherwise than the benchmark needs."""


def ours() -> list[str]:
    command = mockbroker(Tree()).by_brokers[1]
    return [each.replace("mockbroker", "benchmarks.sharing_broker") for each in command]


def kfake() -> list[str]:
    return [str(build()), "1"]


PEERS: Final[dict[str, Callable[[], list[str]]]] = {"mockbroker": ours, "kfake": kfake}


def cpu_ns(pid: int) -> int:
    """CPU time of all threads of a process."""
    return sum(
        int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir()
    )


@dataclass
class Member:
    """A share session of its own connection."""

    client: Client
    topic: uuid.UUID
    id: str = field(default_factory=lambda: short_uuid(uuid.uuid4()))
    epoch: int = 0

    def join(self) -> None:
        epoch = 0
        while True:
            asked = {
                "group_id": GROUP,
                "member_id": self.id,
                "member_epoch": epoch,
                "subscribed_topic_names": [TOPIC],
            }
            answer = _good(self.client.call("share_group_heartbeat", 1, asked))
            epoch = answer["member_epoch"]
            if answer["assignment"] is not None and answer["assignment"]["topic_partitions"]:
                return

    def _session(self) -> dict[str, Any]:
        asked = {"group_id": GROUP, "member_id": self.id, "share_session_epoch": self.epoch}
        self.epoch += 1
        return asked

    def fetch(self, count: int) -> list[int]:
        """The offsets that it acquires."""
        part = [{"partition_index": 0, "acknowledgement_batches": []}]
        asked = self._session() | {
            "max_wait": 1_000,
            "min_bytes": 1,
            "max_bytes": _MOST_BYTES,
            "max_records": count,
            "batch_size": 1,
            "topics": [{"topic_id": self.topic, "partitions": part}] if self.epoch == 1 else [],
            "forgotten_topics_data": [],
        }
        found: list[int] = []
        for topic in _good(self.client.call("share_fetch", 1, asked))["responses"]:
            for part in topic["partitions"]:
                for each in _good(part)["acquired_records"]:
                    found += range(each["first_offset"], each["last_offset"] + 1)
        return found

    def acknowledge(self, offset: int, kind: int) -> None:
        said = {"first_offset": offset, "last_offset": offset, "acknowledge_types": [kind]}
        parts = [{"partition_index": 0, "acknowledgement_batches": [said]}]
        asked = self._session() | {"topics": [{"topic_id": self.topic, "partitions": parts}]}
        (topic,) = _good(self.client.call("share_acknowledge", 1, asked))["responses"]
        _good(topic["partitions"][0])


def _good(answer: Any) -> Any:
    if answer["error_code"] != "NONE":
        raise RefusedError(str(answer))
    return answer


class Load:
    """Records in flight, and who has them."""

    def __init__(self, running: Running, members: int, stack: ExitStack) -> None:
        self.pid = running.pid
        host, _, port = running.address.rpartition(":")

        def connect() -> Client:
            return stack.enter_context(Client(host, int(port), timeout=120))

        self._admin = connect()
        self._configure(_BROKER, "", CONFIG)
        self._configure(_GROUP, GROUP, {"share.auto.offset.reset": "earliest"})
        made = self._admin.call("create_topics", 7, requests.create_topics(requests.new_topic(TOPIC, 1)))
        topic = _good(made["topics"][0])["topic_id"]
        self.members = [Member(connect(), topic) for _ in range(members)]
        for each in self.members:
            each.join()
        self.held: deque[tuple[int, Member]] = deque()
        self._turn = 0
        self._random = random.Random(0)

    def _configure(self, kind: int, name: str, configs: dict[str, str]) -> None:
        """What a broker refuses of it, it does not need."""
        self._admin.call("incremental_alter_configs", 1, requests.configure(kind, name, configs))

    def fill(self, count: int) -> None:
        """So many are in flight, and some more can be fetched."""
        self._produce(count - len(self.held) + _AHEAD)
        piece = max(1, (count - len(self.held)) // (_PIECES * len(self.members)))
        while len(self.held) < count:
            self._fetch(min(piece, count - len(self.held)))

    def _produce(self, count: int) -> None:
        record = batch([Record(value=b"v" * 100, timestamp=time.time_ns() // 1_000_000)])
        part = {"index": 0, "records": record}
        asked = {"acks": 1, "timeout": 30_000, "topic_data": [{"name": TOPIC, "partition_data": [part]}]}
        one = frame("produce", 9, asked, 1)
        for begin in range(0, count, _PIPELINED):
            size = min(_PIPELINED, count - begin)
            self._admin.send_bytes(one * size)
            for _ in range(size):
                self._admin.read_frame()

    def _fetch(self, count: int) -> None:
        member = self.members[self._turn % len(self.members)]
        self._turn += 1
        offsets = member.fetch(count)
        if len(offsets) != count:
            raise RefusedError(f"{len(offsets)} records instead of {count}, {len(self.held)} in flight")
        self.held += [(offset, member) for offset in offsets]

    def accept_oldest(self) -> None:
        offset, member = self.held.popleft()
        member.acknowledge(offset, ACCEPT)

    def release_any(self) -> None:
        self.held.rotate(self._random.randrange(len(self.held)))
        offset, member = self.held.popleft()
        member.acknowledge(offset, RELEASE)

    def accept_any(self) -> None:
        self.held.rotate(self._random.randrange(len(self.held)))
        offset, member = self.held.popleft()
        member.acknowledge(offset, ACCEPT)

    def measure(self, acknowledge: Callable[[], None]) -> tuple[float, float]:
        """CPU time of an acknowledgement and of a fetch, in µs: medians."""
        said, fetched = [], []
        for _ in range(_TURNS):
            said.append(self._timed(acknowledge))
            fetched.append(self._timed(lambda: self._fetch(1)))
        return statistics.median(said), statistics.median(fetched)

    def _timed(self, what: Callable[[], None]) -> float:
        before = cpu_ns(self.pid)
        for _ in range(_AT_ONCE):
            what()
        return (cpu_ns(self.pid) - before) / 1000 / _AT_ONCE


@contextmanager
def loaded(command: Sequence[str], members: int) -> Iterator[Load]:
    """A broker with so many members."""
    with started(list(command)) as running, ExitStack() as stack:
        yield Load(running, members, stack)


SHAPES: Final[dict[str, Callable[[Load], Callable[[], None]]]] = {
    "accept the oldest, fetch a new one": lambda load: load.accept_oldest,
    "release any, fetch it again": lambda load: load.release_any,
    "accept any, fetch a new one": lambda load: load.accept_any,
}
"""In this order: the last one leaves holes, so that more is in flight each time."""


def rows(
    commands: Mapping[str, Sequence[str]], members: int, sizes: Sequence[int]
) -> Iterator[tuple[str, int, list[tuple[float, float]]]]:
    """For each shape and size what each peer measured. The peers run side by side, and are asked in turn."""
    with ExitStack() as stack:
        loads = [stack.enter_context(loaded(command, members)) for command in commands.values()]
        for size in sizes:
            for load in loads:
                load.fill(size)
            for shape, make in SHAPES.items():
                yield shape, size, [load.measure(make(load)) for load in loads]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sharing", description=__doc__)
    parser.add_argument("--in-flight", type=int, nargs="+", default=SIZES)
    parser.add_argument("--members", type=int, nargs="+", default=MEMBERS)
    parser.add_argument("--only", choices=tuple(PEERS), help="one peer, without a ratio")
    given = parser.parse_args()
    names = [given.only] if given.only else list(PEERS)
    commands = {}
    for name in names:
        try:
            commands[name] = PEERS[name]()
        except CannotBuildError as reason:
            sys.stdout.write(f"{name} is left out: {reason}\n")
    sys.stdout.write(
        "| | members | in flight | ShareAcknowledge, µs | ShareFetch, µs |\n|---|--:|--:|--:|--:|\n"
    )
    for members in given.members:
        sizes = sorted(each for each in given.in_flight if each >= members)
        for shape, size, found in rows(commands, members, sizes):
            said, fetched = (_cell([each[which] for each in found]) for which in (0, 1))
            sys.stdout.write(f"| {shape} | {members} | {size:,} | {said} | {fetched} |\n")
            sys.stdout.flush()
    return 0


def _cell(costs: Sequence[float]) -> str:
    """The costs, and how many times that of the last peer the first one is."""
    said = " / ".join(f"{each:.0f}" for each in costs)
    return f"{said} ({costs[0] / costs[-1]:.1f})" if len(costs) > 1 else said


if __name__ == "__main__":
    sys.exit(main())

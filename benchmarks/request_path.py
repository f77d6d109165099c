"""What the broker does for one request, between two looks at its sockets: it reads, answers and sends.

`python -m benchmarks.request_path` prints the counts of this Python beside those that are kept in
`tests/apis/request_path.toml`; `--write` keeps them. Faults and the trace are off, the connection is warmed
up, and time stands still. Linux only.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import socket
import struct
import sys
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import trio

from mockbroker.cluster.cluster import Cluster
from mockbroker.environment import Environment
from mockbroker.policies import Policies
from mockbroker.protocol.releases import NEWEST, parse
from mockbroker.rig.batches import Record, batch
from mockbroker.seeded import streams
from mockbroker.server.in_trio import pumped
from mockbroker.server.observer import SilentObserver
from mockbroker.server.pump import Pump
from mockbroker.server.reporting import Reporting

from .asking import Fields, frame, read
from .counting import Cost, Turns

TABLE: Final = Path(__file__).parent.parent / "tests" / "apis" / "request_path.toml"
COMMAND: Final = "python -m benchmarks.request_path --write"
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"

TOPIC: Final = "orders"
GROUP: Final = "app"
NOW_MS: Final = 1_700_000_000_000
_WARM_UP: Final = 32
_COUNTED: Final = 32
_CONFIG: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "group.max.session.timeout.ms": "86400000",
    "max.incremental.fetch.session.cache.slots": "100000",
}
_SECONDS: Final = 600
"""Far more than it takes."""
_MARGIN: Final = 0.05

Next = Callable[[], Fields]


class Client:
    """One connection to a broker whose pump runs in this thread."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setblocking(False)
        self._correlation_ids = itertools.count(1)

    def close(self) -> None:
        self._socket.close()

    def frame(self, api: str, version: int, fields: Fields) -> bytes:
        return frame(api, version, fields, next(self._correlation_ids))

    async def ask(self, api: str, version: int, fields: Fields) -> Fields:
        """The answer. WrongAnswerError."""
        self._socket.send(self.frame(api, version, fields))
        return read(api, version, await self._answer())

    async def cost(self, frames: list[bytes], before: Callable[[], None] | None = None) -> list[Cost]:
        """What each request costs the broker, one after the other; `before` is called before each."""
        turns = Turns()
        for each in frames:
            if before is not None:
                before()
            self._socket.send(each)
            with turns:
                await trio.lowlevel.wait_readable(self._socket)
            await self._answer()
        return turns.costs

    async def _answer(self) -> bytes:
        data = b""
        while len(data) < 4 or len(data) < 4 + struct.unpack_from(">i", data)[0]:
            await trio.lowlevel.wait_readable(self._socket)
            data += self._socket.recv(1 << 16)
        return data


# -- requests

LATER: Final = "a-millisecond-later"
"""OffsetForLeaderEpoch, where a millisecond went by since the request before: timers are looked at, too."""


async def _produce(client: Client, member: Fields | None) -> Next:
    records = batch([Record(b"v" * 100, timestamp=NOW_MS)])
    return lambda: producing(records)


async def _produce_idempotent(client: Client, member: Fields | None) -> Next:
    answer = await client.ask("init_producer_id", 4, {"transaction_timeout": 60_000, "producer_id": -1})
    of = {"producer_id": answer["producer_id"], "producer_epoch": answer["producer_epoch"]}
    numbers = itertools.count()
    return lambda: producing(batch([Record(b"v" * 100, timestamp=NOW_MS)], sequence=next(numbers), **of))


def producing(records: bytes, topic: str = TOPIC, index: int = 0) -> Fields:
    """A batch for one partition."""
    partitions = [{"index": index, "records": records}]
    return {"acks": -1, "timeout": 30_000, "topic_data": [{"name": topic, "partition_data": partitions}]}


async def _fetch(client: Client, member: Fields | None) -> Next:
    """1 KB from the middle of a log, without a session."""
    records = batch([Record(b"v" * 1024, timestamp=NOW_MS)])
    for _ in range(64):
        answer = await client.ask("produce", 12, producing(records))
    last = answer["responses"][0]["partition_responses"][0]["base_offset"]
    offsets = itertools.cycle(range(last - 56, last - 16))
    return lambda: {
        "replica_id": -1,
        "min_bytes": 1,
        "max_wait": 500,
        "max_bytes": 1 << 20,
        "session_epoch": -1,
        "topics": [
            {
                "topic": TOPIC,
                "partitions": [{"partition": 0, "fetch_offset": next(offsets), "partition_max_bytes": 1024}],
            }
        ],
    }


async def _list_offsets(client: Client, member: Fields | None) -> Next:
    partitions = [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}]
    return lambda: {"replica_id": -1, "topics": [{"name": TOPIC, "partitions": partitions}]}


async def _leader_epoch(client: Client, member: Fields | None) -> Next:
    partitions = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]
    return lambda: {"replica_id": -1, "topics": [{"topic": TOPIC, "partitions": partitions}]}


async def _member(client: Client) -> Fields:
    """The only one of a classic group."""
    joining = {
        "group_id": GROUP,
        "session_timeout": 30_000,
        "rebalance_timeout": 30_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    first = await client.ask("join_group", 5, joining)
    joined = await client.ask("join_group", 5, joining | {"member_id": first["member_id"]})
    member = {
        "group_id": GROUP,
        "member_id": joined["member_id"],
        "generation_id": joined["generation_id"],
    }
    assignments = [{"member_id": joined["member_id"], "assignment": b""}]
    await client.ask("sync_group", 3, member | {"assignments": assignments})
    return member


async def _heartbeat(client: Client, member: Fields | None) -> Next:
    fields = member or await _member(client)
    return lambda: fields


async def _offset_commit(client: Client, member: Fields | None) -> Next:
    member = member or await _member(client)
    of = {"group_id": GROUP, "member_id": member["member_id"]}
    of |= {"generation_id_or_member_epoch": member["generation_id"]}
    offsets = itertools.count()
    return lambda: (
        of
        | {
            "topics": [
                {
                    "name": TOPIC,
                    "partitions": [
                        {"partition_index": 0, "committed_offset": next(offsets), "committed_metadata": ""}
                    ],
                }
            ]
        }
    )


ROWS: Final[dict[str, tuple[str, int, Callable[[Client, Fields | None], Awaitable[Next]]]]] = {
    "produce": ("produce", 12, _produce),
    "produce-idempotent": ("produce", 12, _produce_idempotent),
    "fetch-1KB": ("fetch", 12, _fetch),
    "list-offsets": ("list_offsets", 7, _list_offsets),
    "offset-for-leader-epoch": ("offset_for_leader_epoch", 4, _leader_epoch),
    "heartbeat": ("heartbeat", 4, _heartbeat),
    "offset-commit": ("offset_commit", 8, _offset_commit),
    LATER: ("offset_for_leader_epoch", 4, _leader_epoch),
}


# -- measuring


class Still:
    """Time that stands still, in seconds: a look at it costs a call of C, as always."""

    def __init__(self) -> None:
        self.before, self._now = time.monotonic, time.monotonic()
        self.slices = self._now.conjugate
        self._set()

    def tick(self) -> None:
        """A millisecond goes by."""
        self._now += 0.001
        self._set()

    def _set(self) -> None:
        time.monotonic = self._now.conjugate


@contextlib.contextmanager
def standing_still() -> Iterator[Still]:
    """Until the end."""
    still = Still()
    try:
        yield still
    finally:
        time.monotonic = still.before


class Grown(NamedTuple):
    """What there is besides: connections, and what `on` makes in the cluster, which returns a member of the
    group if it has made some."""

    on: Callable[[Cluster], Fields | None] = lambda _: None
    connections: int = 0


def measure(name: str, grown: Grown = Grown()) -> Cost:  # noqa: B008
    """What a request costs in the mean. WrongAnswerError; RuntimeError for one that takes several turns."""
    with standing_still() as still:
        costs = trio.run(_measure, name, still, grown)
    return Cost(*(round(sum(each) / len(costs)) for each in zip(*costs, strict=True)))


async def _measure(name: str, still: Still, grown: Grown) -> list[Cost]:
    api, version, prepare = ROWS[name]
    cluster = a_cluster()
    member = grown.on(cluster)
    pump = Pump(cluster, Reporting(SilentObserver()), monotonic=still.slices)
    broker = cluster.brokers[1]
    broker.endpoint.host, broker.endpoint.port = "127.0.0.1", 0
    pump.listen(broker)
    with trio.fail_after(_SECONDS), contextlib.ExitStack() as clients:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(pumped, pump)
            for _ in range(grown.connections):
                other = clients.enter_context(contextlib.closing(Client(broker.endpoint.port)))
                await other.ask("api_versions", 0, {})
            client = clients.enter_context(contextlib.closing(Client(broker.endpoint.port)))
            ready = await prepare(client, member)
            for _ in range(_WARM_UP):
                await client.ask(api, version, ready())
            frames = [client.frame(api, version, ready()) for _ in range(_COUNTED)]
            costs = await client.cost(frames, still.tick if name == LATER else None)
            nursery.cancel_scope.cancel()
    if len(costs) != _COUNTED:
        raise RuntimeError(f"{name}: {_COUNTED} requests were read in {len(costs)} turns")
    return costs


def a_cluster() -> Cluster:
    """One broker with a topic, whose time stands still."""
    release = parse(NEWEST)
    policies = Policies(release, {})
    environment = Environment(release, streams(0), config=_CONFIG, policies=policies, now_ms=NOW_MS)
    cluster = Cluster(environment, brokers=1)
    cluster.create_topic(TOPIC, [[1]])
    return cluster


# -- what is kept


def kept() -> dict[str, Cost] | None:
    """The costs that were written for this Python; None if there are none."""
    rows = tomllib.loads(TABLE.read_text()).get(PYTHON) if TABLE.exists() else None
    return None if rows is None else {name: Cost(**row) for name, row in rows.items()}


def changes(before: Cost, now: Cost) -> list[str]:
    """What differs by 5 % or more, in words."""
    return [
        f"{name.replace('_', ' ')}: {new:,}, {old:,} before ({new / old - 1:+.1%})"
        for name, old, new in zip(Cost._fields, before, now, strict=True)
        if abs(new - old) >= _MARGIN * old
    ]


def write(costs: dict[str, Cost]) -> None:
    """Keeps them as those of this Python."""
    versions = tomllib.loads(TABLE.read_text()) if TABLE.exists() else {}
    versions[PYTHON] = {name: cost._asdict() for name, cost in costs.items()}
    lines = [f"# What a request costs, by version of Python. Written by `{COMMAND}`."]
    for version in sorted(versions, key=lambda each: [int(part) for part in each.split(".")]):
        lines += ["", f'["{version}"]']
        for name, row in versions[version].items():
            values = ", ".join(f"{key} = {value}" for key, value in row.items())
            lines.append(f"{name} = {{ {values} }}")
    TABLE.write_text("\n".join(lines) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help=f"keep the numbers in {TABLE.name}")
    given = parser.parse_args()
    before = kept() or {}
    costs = {name: measure(name) for name in ROWS}
    for name, cost in costs.items():
        counts = "".join(f"{value:>8,} {what.replace('_', ' ')}" for what, value in cost._asdict().items())
        was = f"  (kept: {before[name].opcodes:,})" if name in before else ""
        sys.stdout.write(f"{name:<24}{counts}{was}\n")
    if given.write:
        write(costs)


if __name__ == "__main__":
    main()

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
from typing import Any, Final

import trio

from mockbroker.cluster.cluster import Cluster
from mockbroker.environment import Environment
from mockbroker.policies import Policies
from mockbroker.protocol.releases import NEWEST, parse
from mockbroker.rig.batches import Record, batch
from mockbroker.rig.client import decode, encode, flexible, key_of
from mockbroker.seeded import streams
from mockbroker.server.observer import SilentObserver
from mockbroker.server.pump import Pump
from mockbroker.server.reporting import Reporting

from .counting import Cost, Turns

TABLE: Final = Path(__file__).parent.parent / "tests" / "apis" / "request_path.toml"
COMMAND: Final = "python -m benchmarks.request_path --write"
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"

_TOPIC: Final = "orders"
_GROUP: Final = "app"
_NOW_MS: Final = 1_700_000_000_000
_WARM_UP: Final = 32
_COUNTED: Final = 32
_SECONDS: Final = 120
"""Far more than it takes."""
_MARGIN: Final = 0.05

Fields = dict[str, Any]
Next = Callable[[], Fields]
_HEADER: Final = struct.Struct(">ihhih")


class Client:
    """One connection to a broker whose pump runs in this thread."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setblocking(False)
        self._correlation_ids = itertools.count(1)

    def close(self) -> None:
        self._socket.close()

    def frame(self, api: str, version: int, fields: Fields) -> bytes:
        tags = b"\0" * flexible(api, version)
        body = tags + encode(api, version, fields)
        head = _HEADER.pack(10 + 4 + len(body), key_of(api), version, next(self._correlation_ids), 4)
        return head + b"path" + body

    async def ask(self, api: str, version: int, fields: Fields) -> Fields:
        """The answer. RuntimeError for an error."""
        self._socket.send(self.frame(api, version, fields))
        answer = decode(api, version, (await self._answer())[4:])
        if errors := set(_errors(answer)) - {"NONE", "MEMBER_ID_REQUIRED"}:
            raise RuntimeError(f"{api}: {errors}")
        return answer

    async def cost(self, frames: list[bytes]) -> list[Cost]:
        """What each request costs the broker, one after the other."""
        turns = Turns()
        for frame in frames:
            self._socket.send(frame)
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


def _errors(answer: Any) -> Iterator[str]:
    if isinstance(answer, list):
        for each in answer:
            yield from _errors(each)
    elif isinstance(answer, dict):
        for name, value in answer.items():
            yield from [value] if name == "error_code" else _errors(value)


# -- requests


async def _produce(client: Client) -> Next:
    records = batch([Record(b"v" * 100, timestamp=_NOW_MS)])
    return lambda: _producing(records)


async def _produce_idempotent(client: Client) -> Next:
    answer = await client.ask("init_producer_id", 4, {"transaction_timeout": 60_000, "producer_id": -1})
    of = {"producer_id": answer["producer_id"], "producer_epoch": answer["producer_epoch"]}
    numbers = itertools.count()
    return lambda: _producing(batch([Record(b"v" * 100, timestamp=_NOW_MS)], sequence=next(numbers), **of))


def _producing(records: bytes) -> Fields:
    partitions = [{"index": 0, "records": records}]
    return {"acks": -1, "timeout": 30_000, "topic_data": [{"name": _TOPIC, "partition_data": partitions}]}


async def _fetch(client: Client) -> Next:
    """1 KB from the middle of a log, without a session."""
    records = batch([Record(b"v" * 1024, timestamp=_NOW_MS)])
    for _ in range(64):
        await client.ask("produce", 12, _producing(records))
    offsets = itertools.cycle(range(8, 48))
    return lambda: {
        "replica_id": -1,
        "min_bytes": 1,
        "max_wait": 500,
        "max_bytes": 1 << 20,
        "session_epoch": -1,
        "topics": [
            {
                "topic": _TOPIC,
                "partitions": [{"partition": 0, "fetch_offset": next(offsets), "partition_max_bytes": 1024}],
            }
        ],
    }


async def _list_offsets(client: Client) -> Next:
    partitions = [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": -1}]
    return lambda: {"replica_id": -1, "topics": [{"name": _TOPIC, "partitions": partitions}]}


async def _leader_epoch(client: Client) -> Next:
    partitions = [{"partition": 0, "current_leader_epoch": -1, "leader_epoch": 0}]
    return lambda: {"replica_id": -1, "topics": [{"topic": _TOPIC, "partitions": partitions}]}


async def _member(client: Client) -> Fields:
    """Of a classic group of which it is the only one."""
    joining = {
        "group_id": _GROUP,
        "session_timeout": 30_000,
        "rebalance_timeout": 30_000,
        "protocol_type": "consumer",
        "protocols": [{"name": "range", "metadata": b""}],
    }
    first = await client.ask("join_group", 5, joining)
    joined = await client.ask("join_group", 5, joining | {"member_id": first["member_id"]})
    member = {
        "group_id": _GROUP,
        "member_id": joined["member_id"],
        "generation_id": joined["generation_id"],
    }
    assignments = [{"member_id": joined["member_id"], "assignment": b""}]
    await client.ask("sync_group", 3, member | {"assignments": assignments})
    return member


async def _heartbeat(client: Client) -> Next:
    member = await _member(client)
    return lambda: member


async def _offset_commit(client: Client) -> Next:
    member = await _member(client)
    of = {"group_id": _GROUP, "member_id": member["member_id"]}
    of |= {"generation_id_or_member_epoch": member["generation_id"]}
    offsets = itertools.count()
    return lambda: (
        of
        | {
            "topics": [
                {
                    "name": _TOPIC,
                    "partitions": [
                        {"partition_index": 0, "committed_offset": next(offsets), "committed_metadata": ""}
                    ],
                }
            ]
        }
    )


ROWS: Final[dict[str, tuple[str, int, Callable[[Client], Awaitable[Next]]]]] = {
    "produce": ("produce", 12, _produce),
    "produce-idempotent": ("produce", 12, _produce_idempotent),
    "fetch-1KB": ("fetch", 12, _fetch),
    "list-offsets": ("list_offsets", 7, _list_offsets),
    "offset-for-leader-epoch": ("offset_for_leader_epoch", 4, _leader_epoch),
    "heartbeat": ("heartbeat", 4, _heartbeat),
    "offset-commit": ("offset_commit", 8, _offset_commit),
}


# -- measuring


@contextlib.contextmanager
def standing_still() -> Iterator[Callable[[], float]]:
    """Time that stands still: a look at it costs a call of C, as always."""
    before, now = time.monotonic, time.monotonic()
    time.monotonic = now.conjugate
    try:
        yield now.conjugate
    finally:
        time.monotonic = before


def measure(name: str) -> Cost:
    """What a request costs in the mean. RuntimeError where an answer is an error, or takes several turns."""
    with standing_still() as clock:
        costs = trio.run(_measure, name, clock)
    return Cost(*(round(sum(each) / len(costs)) for each in zip(*costs, strict=True)))


async def _measure(name: str, clock: Callable[[], float]) -> list[Cost]:
    api, version, prepare = ROWS[name]
    with trio.fail_after(_SECONDS):
        async with trio.open_nursery() as nursery:
            port = _serve(nursery, clock)
            with contextlib.closing(Client(port)) as client:
                ready = await prepare(client)
                for _ in range(_WARM_UP):
                    await client.ask(api, version, ready())
                costs = await client.cost([client.frame(api, version, ready()) for _ in range(_COUNTED)])
            nursery.cancel_scope.cancel()
    if len(costs) != _COUNTED:
        raise RuntimeError(f"{name}: {_COUNTED} requests were read in {len(costs)} turns")
    return costs


def _serve(nursery: trio.Nursery, clock: Callable[[], float]) -> int:
    """A cluster of one broker; its port."""
    release = parse(NEWEST)
    config = {"group.initial.rebalance.delay.ms": "0"}
    policies = Policies(release, {})
    environment = Environment(release, streams(0), config=config, policies=policies, now_ms=_NOW_MS)
    cluster = Cluster(environment, brokers=1)
    cluster.create_topic(_TOPIC, [[1]])
    pump = Pump(cluster, Reporting(SilentObserver()), monotonic=clock)
    broker = cluster.brokers[1]
    broker.host, broker.port = "127.0.0.1", 0
    pump.listen(broker)
    nursery.start_soon(pump.run)
    return broker.port


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

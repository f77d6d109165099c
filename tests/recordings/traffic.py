"""What each shipped client says to a real cluster is recorded, and played.

`python -m tests.recordings.traffic`, for all clients or those that are named. A client writes record by
record, reads in a group, commits, and ends transactions, while all three brokers are restarted one after the
other. What passed is recorded (`mockbroker record --upstream`), then played to the same client, to a mock and
to another release, and what each command says is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from rich.console import Console

from mockbroker import MockCluster
from mockbroker.clients.drivers.in_thread import Client as Driven
from mockbroker.clients.drivers.in_thread import open_client
from mockbroker.clients.drivers.shipped import SHIPPED, command_for
from mockbroker.rig.real_broker import RealCluster
from mockbroker.rig.setup import BROKER_CONFIG

from ..clients import scenario
from ..clients.driven import LIMIT_MS, POLL_MS, Client
from ..clients.scenario import TIMEOUT
from ..driving.processes import line_of, started

RECORDED: Final = "4.4.0"
OTHER: Final = "3.9.2"
out: Final = Console(highlight=False, markup=False, soft_wrap=True)
BROKERS: Final = 3
STEP: Final = 5
"""So many records are written, and read, at once."""


def work(driven: Driven, servers: str, name: str, restarts: Sequence[Callable[[], object]]) -> None:
    """All that a client does. Between its steps brokers are restarted."""
    client = Client(driven, servers)
    topics = [name, f"{name}-transactions"]
    if "admin" in driven.capabilities:
        for topic in topics:
            client.create(topic, 1)
    numbers = itertools.count()
    _write(client, name, numbers, {"enable.idempotence": "idempotence" in driven.capabilities})
    _read(client, name, STEP)
    if "transactions" in driven.capabilities:
        # Not among those that are read: by default some clients read what was aborted.
        _transact(client, topics[1], numbers)
    for restart in restarts:
        restart()
        _write(client, name, numbers, {})
        _read(client, name, STEP)


def _write(client: Client, topic: str, numbers: Iterator[int], config: Mapping[str, object]) -> None:
    """A few records, one after the other."""
    producer = client.open("producer", {"acks": "all", **config})
    for number in itertools.islice(numbers, STEP):
        client.driven.produce(producer, [_record(topic, number)], LIMIT_MS)
    client.close(producer)


def _record(topic: str, number: int) -> dict[str, object]:
    return {"topic": topic, "partition": 0, "key": scenario.key(number), "value": scenario.value(number)}


def _read(client: Client, topic: str, count: int) -> None:
    """So many records, by the only member of a group."""
    call, end = client.driven.call, time.monotonic() + TIMEOUT
    config = {"group.id": topic, "auto.offset.reset": "earliest", "enable.auto.commit": False}
    consumer, seen = client.open("consumer", config), 0
    call("subscribe", consumer, topics=[topic])
    while seen < count:
        assert time.monotonic() < end, f"{seen} records of {count} came"
        polled = call("poll", consumer, POLL_MS)
        assert not polled.get("errors"), polled["errors"]
        seen += len(polled["records"])
    call("commit", consumer, LIMIT_MS)
    client.close(consumer)


def _transact(client: Client, topic: str, numbers: Iterator[int]) -> None:
    producer = client.open("producer", {"transactional.id": topic})
    for end in ("commit-transaction", "abort-transaction", "commit-transaction"):
        client.driven.call("begin", producer)
        client.driven.produce(producer, [_record(topic, next(numbers))], LIMIT_MS)
        client.driven.call(end, producer, LIMIT_MS)
    client.close(producer)


@contextlib.contextmanager
def serving(*words: str) -> Iterator[str]:
    """A command that prints addresses first, until it is interrupted."""
    process = started(*words)
    try:
        address = line_of(process)
        assert address, process.stderr and process.stderr.read()
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=60))
        out.print(*filter(None, said.splitlines()), sep="\n")


def record(cluster: RealCluster, driven: Driven, client: str, file: Path) -> None:
    def restart(node: int) -> None:
        cluster.stop_broker(node)
        cluster.start_broker(node)

    if "admin" not in driven.capabilities:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
        topics = [NewTopic(topic, 1, BROKERS) for topic in (client, f"{client}-transactions")]
        for made in admin.create_topics(topics).values():
            made.result(TIMEOUT)
    words = ("record", "--values", "--upstream", cluster.bootstrap_servers, "--port", "0", "-o", str(file))
    with serving(*words) as servers:
        work(driven, servers, client, [partial(restart, node) for node in cluster.nodes])


def played_to(servers: str, file: Path) -> None:
    """To a cluster."""
    words = ("replay", str(file), "--to", servers)
    process = started(*words)
    out.print("".join(process.communicate()))


def play(cluster: RealCluster, client: str, file: Path) -> None:
    """Records it, then plays it to the client and to a mock."""
    file.unlink(missing_ok=True)
    with open_client(command_for(client, None)) as driven:
        out.print(f"== {client}: recorded")
        record(cluster, driven, client, file)
        out.print(f"== {client}: played to it")
        with serving("replay", str(file), "--port", "0") as servers:
            work(driven, servers, client, [int] * BROKERS)
    out.print(f"== {client}: to a mock")
    with MockCluster(kafka="4.4", brokers=BROKERS, config=BROKER_CONFIG) as mock:
        played_to(mock.bootstrap_servers, file)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("clients", nargs="*", choices=[*SHIPPED, []])
    parser.add_argument("--out", type=Path, default=Path(tempfile.gettempdir(), "traffic"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    failed = []
    with RealCluster(RECORDED, brokers=BROKERS, apart=True) as cluster:
        for client in given.clients or SHIPPED:
            try:
                play(cluster, client, given.out / f"{client}.jsonl.gz")
            except Exception as error:
                out.print(f"{client} failed: {error!r}")
                failed.append(client)
    with RealCluster(OTHER, brokers=BROKERS) as cluster:
        for client in given.clients or SHIPPED:
            out.print(f"== {client}: to {OTHER}")
            played_to(cluster.bootstrap_servers, given.out / f"{client}.jsonl.gz")
    out.print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "None failed.")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())

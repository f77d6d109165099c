"""How long a coordinator takes to load a large `__consumer_offsets`, and how long others wait meanwhile.

The topic is large because its cleaner is dead.

`python -m benchmarks.loading --records 1000000`
"""

from __future__ import annotations

import argparse
import secrets
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import Manager, get_context
from threading import Event
from typing import Final

from benchmarks.apis import Broker, Partition
from benchmarks.records import build_batch
from benchmarks.wire import WrongAnswerError
from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.offsets_log import Commit, commit_key, commit_value
from mockbroker.replication.internal_append import append_own

GROUP: Final = "readers"
_LOADING: Final = 14
_SLICE: Final = 20_000
_LOOK: Final = 100
"""How many answers pass until it is asked whether that is enough."""
_CONFIG: Final = {"offsets.topic.num.partitions": "1", "offsets.topic.replication.factor": "2"}


def main(
    description: str | None = __doc__,
    done: str = "loaded",
    work: Callable[[MockCluster], float] | None = None,
    config: Mapping[str, str] = _CONFIG,
) -> None:
    """Tells how long the work took: as it says itself, in seconds. Without one the topic is loaded."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, default=50_000, help="Partitions of groups that are committed.")
    parser.add_argument("--seconds", type=float, default=2.0, help="Measured time before the work.")
    given = parser.parse_args()
    with MockCluster(brokers=2, config={**_CONFIG, **config}, policies={"compaction": "dead"}) as cluster:
        cluster.create_topic("orders", partitions=1)
        for begin in range(0, given.records, _SLICE):
            until = min(begin + _SLICE, given.records)
            cluster.run(partial(fill, begin=begin, until=until, keys=given.keys))
        took, before, during = beside(cluster, given.seconds, partial(work or load, cluster))
    sys.stdout.write(f"{given.records:,} records of {given.keys:,} keys {done} in {took:.2f} s\n")
    for name, times in (("before", before), ("meanwhile", during)):
        sys.stdout.write(
            f"produce 100 B {name}: p50 {at(times, 50):.2f} ms, p99 {at(times, 99):.2f} ms, "
            f"most {times[-1]:.2f} ms, {len(times):,} answers\n"
        )


def beside(
    cluster: MockCluster, seconds: float, work: Callable[[], float]
) -> tuple[float, list[float], list[float]]:
    """The seconds that the work says it took, and the latencies of another client: before it, for so many
    seconds, and meanwhile."""
    with Manager() as manager, ProcessPoolExecutor(1, get_context("spawn")) as processes:
        over = manager.Event()
        before = processes.submit(produce, cluster.bootstrap_servers, over, seconds).result()
        meanwhile = processes.submit(produce, cluster.bootstrap_servers, over)
        try:
            took = work()
        finally:
            over.set()
        return took, before, meanwhile.result()


def at(times: list[float], percent: int) -> float:
    return times[min(len(times) - 1, len(times) * percent // 100)]


def fill(core: Cluster, begin: int, until: int, keys: int) -> None:
    """Commits as a client's: each a batch of its own, of the groups in turn."""
    partition = core.offsets_partition(GROUP).led
    assert partition is not None
    for number in range(begin, until):
        key = number % keys
        group = GROUP if not key else f"readers-{key // 10}"
        value = commit_value(Commit(number, 0, "", core.now_ms), 3)
        append_own(partition, key_values([(commit_key(group, "orders", key % 10), value)], core.now_ms))


def load(cluster: MockCluster) -> float:
    """Seconds until the next coordinator, the other broker, answers."""
    first = cluster.run(lambda core: core.offsets_partition(GROUP).leader)
    address = cluster.bootstrap_servers.split(",")[2 - first]
    asked = Broker(address)
    with asked.connect() as connection:
        frame = asked.offset_frame(Partition("orders", address, 0), GROUP)
        began = time.perf_counter()
        cluster.move_coordinator(group=GROUP)
        while asked.read_offset(connection.call(frame))[0] == _LOADING:
            time.sleep(0.005)
        return time.perf_counter() - began


def produce(addresses: str, over: Event, seconds: float = 3600) -> list[float]:
    """Produces to another partition, one request in flight, until it is over; latencies in ms, in order of
    size."""
    broker = Broker(addresses.split(",")[0])
    times: list[float] = []
    with broker.connect() as connection:
        partition = broker.create_topic(connection, f"others-{secrets.token_hex(4)}")
    with broker.connect(partition.leader) as connection:
        frame = broker.produce_frame(partition, build_batch(1, 100))
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and not (len(times) % _LOOK == 0 and over.is_set()):
            began = time.perf_counter()
            answer = connection.call(frame)
            times.append((time.perf_counter() - began) * 1000)
            if error := broker.read_produced(answer).error:
                raise WrongAnswerError(f"Produce: error code {error}")
    return sorted(times)


if __name__ == "__main__":
    main()

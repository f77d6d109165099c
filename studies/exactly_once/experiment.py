"""Runs cases: a cluster each, in which a client's application moves every record of the input once."""

from collections import Counter
from collections.abc import Callable
from typing import Final

from mockbroker import MockCluster
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster_options import unchecked

from .application import Application
from .case import INPUT, OUTPUT, PARTITIONS, RECORDS, Case, Outcome

LIMIT_S: Final = 40.0
CONFIG: Final = {
    "default.replication.factor": "3",
    "offsets.topic.num.partitions": "3",
    "transaction.state.log.num.partitions": "3",
    "group.initial.rebalance.delay.ms": "0",
}


def run(
    application: Application,
    case: Case,
    *,
    arrange: Callable[[MockCluster], object] | None = None,
    limit_s: float = LIMIT_S,
) -> Outcome:
    """One case, in a cluster of its own. `arrange` makes things go wrong in place of the case's seed."""
    outcome = Outcome()
    cluster = MockCluster(
        kafka=unchecked(case.kafka),
        topics={INPUT: PARTITIONS, OUTPUT: PARTITIONS},
        config=CONFIG,
        policies=unchecked(case.policies),
        fixed=case.fixed,
        seed=case.seed,
    )
    with cluster:
        _fill(cluster.bootstrap_servers)
        if arrange is not None:
            arrange(cluster)
        else:
            for fault in case.faults():
                cluster.faults.add(**fault)
        try:
            outcome.errors = application.move(cluster.bootstrap_servers, limit_s)
        except TimeoutError as error:
            outcome.stuck = str(error)
        cluster.faults.clear()
        outcome.stuck = outcome.stuck or cluster.run(_pinned)
        seen = Counter(_read(cluster.bootstrap_servers))
    outcome.lost = [i for i in range(RECORDS) if i not in seen]
    outcome.duplicated = [i for i, times in seen.items() if times > 1]
    return outcome


def _fill(bootstrap: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": bootstrap})
    for i in range(RECORDS):
        producer.produce(INPUT, str(i), partition=i % PARTITIONS)
    if producer.flush(LIMIT_S):
        raise TimeoutError("the input could not be written")


def _pinned(core: Cluster) -> str:
    """Which partitions have a transaction that nobody ends, now that all are moved."""
    pinned = [
        f"{topic}-{partition.index}"
        for topic in (OUTPUT, "__consumer_offsets")
        for partition in core.topics[topic].partitions
        if partition.log.last_stable_offset < partition.log.high_watermark
    ]
    return f"last stable offset of {', '.join(pinned)}" if pinned else ""


def _read(bootstrap: str) -> list[int]:
    """What a reader of committed records gets, up to the last stable offset."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "reader", "isolation.level": "read_committed"}
        | {"enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 50}
    )
    found: list[int] = []
    consumer.assign([TopicPartition(OUTPUT, index, 0) for index in range(PARTITIONS)])
    at_end: set[int | None] = set()
    while len(at_end) < PARTITIONS:
        message = consumer.poll(LIMIT_S)
        if message is None:
            raise TimeoutError(f"only {len(found)} records of the output could be read")
        if message.error():
            at_end.add(message.partition())
        else:
            found.append(int(message.value() or b"-1"))
    consumer.close()
    return found

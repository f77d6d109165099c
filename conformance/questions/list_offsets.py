"""ListOffsets: KIP-79, KIP-207, KIP-320 (epochs), KIP-734 (max timestamp), KIP-405 (tiered storage)."""

from typing import Any

from ...rig.batches import GZIP, OLD, ZSTD, Record, batch, records
from ..registry import Scene, Steps, question

SPECIAL = {
    -1: "latest",
    -2: "earliest",
    -3: "max timestamp",
    -4: "earliest local",
    -5: "latest tiered",
    -6: "earliest pending upload",
    -7: "no meaning",
}


def listed(s: Scene, topic: str, timestamp: int, partition: int = 0, **more: Any) -> Any:
    """The partition's part of the answer."""
    top = {key: more.pop(key) for key in ("isolation_level", "replica_id", "client") if key in more}
    asked = {"partition_index": partition, "current_leader_epoch": -1, "timestamp": timestamp, **more}
    return ask(s, {"name": topic, "partitions": [asked]}, **top)["topics"][0]["partitions"][0]


def ask(s: Scene, *topics: dict[str, Any], client: Any = None, **more: Any) -> Any:
    """The whole answer."""
    fields = {"replica_id": -1, "isolation_level": 0, "timeout": 5000, "topics": list(topics), **more}
    return s.ask(fields, client=client)


def empty_log(s: Scene) -> Steps:
    topic = s.topic()
    for timestamp, label in SPECIAL.items():
        yield f"{timestamp} {label}", listed(s, topic, timestamp)
    yield "0", listed(s, topic, 0)


def special_timestamps(s: Scene) -> Steps:
    topic = s.topic()
    s.produce(topic, batch(records(5, OLD, 10)))
    s.produce(topic, batch(records(5, OLD + 1000, -10)))
    for timestamp, label in SPECIAL.items():
        yield f"{timestamp} {label}", listed(s, topic, timestamp)
    s.delete_records(topic, 3)
    for timestamp, label in SPECIAL.items():
        yield f"{timestamp} {label}, log start 3", listed(s, topic, timestamp)


@question(at=(1, 2, 4, 6, 7, 11))
def by_timestamp(s: Scene) -> Steps:
    """Finds the first record that is not older."""
    topic = s.topic()
    s.produce(topic, batch(records(3, OLD, 10)))
    s.produce(topic, batch(records(3, OLD + 100, 10)))
    for delta in (-1000, 0, 1, 10, 15, 20, 21, 100, 119, 120, 121, 10_000):
        yield f"{delta:+}", listed(s, topic, OLD + delta)
    yield "0", listed(s, topic, 0)
    yield "2^63-1", listed(s, topic, 2**63 - 1)


@question(at=(1, 7, 9, 11))
def timestamps_out_of_order(s: Scene) -> Steps:
    topic = s.topic()
    times = (50, 10, 90, 30, 90)
    s.produce(topic, batch([Record(timestamp=OLD + each) for each in times]))
    s.produce(topic, batch([Record(timestamp=OLD + each) for each in (20, 95, 95)]))
    s.produce(topic, batch([Record(timestamp=OLD + 5)]))
    for delta in (0, 11, 51, 90, 91, 95, 96):
        yield f"{delta:+}", listed(s, topic, OLD + delta)
    yield "max timestamp", listed(s, topic, -3)


@question(at=(1, 7, 11))
def compressed(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.produce(topic, batch(records(3, OLD, 10), codec=GZIP), 0)
    s.produce(topic, batch([Record(timestamp=OLD + each) for each in (5, 30, 10)], codec=ZSTD), 1)
    for partition in (0, 1):
        for delta in (0, 7, 20, 31):
            yield f"partition {partition}, {delta:+}", listed(s, topic, OLD + delta, partition)
        yield f"partition {partition}, max timestamp", listed(s, topic, -3, partition)


@question(at=(1, 7, 11))
def log_append_time(s: Scene) -> Steps:
    """All records of a batch have the broker's time."""
    topic = s.topic(configs={"message.timestamp.type": "LogAppendTime"})
    s.produce(topic, batch(records(3, OLD, 10)))
    yield "old timestamp", listed(s, topic, OLD)
    yield "max timestamp", listed(s, topic, -3)


@question(at=(1, 4, 7))
def below_the_log_start(s: Scene) -> Steps:
    """Deleted records are not found."""
    topic = s.topic()
    s.produce(topic, batch(records(5, OLD, 10)))
    s.delete_records(topic, 2)
    for delta in (0, 10, 20, 25):
        yield f"{delta:+}", listed(s, topic, OLD + delta)


def unknown_partitions(s: Scene) -> Steps:
    topic = s.topic()
    yield "partition 1 of 1", listed(s, topic, -1, 1)
    yield "partition -1", listed(s, topic, -1, -1)
    yield "unknown topic", listed(s, s.name("unknown"), -1)
    yield "invalid name", listed(s, "a b", -1)


@question(at=(1, 5, 6, 7, 11))
def several_partitions(s: Scene) -> Steps:
    a, b = s.topic("a", partitions=2), s.topic("b")
    s.fill(a, 3, partition=1)

    def asked(index: int, timestamp: int = -1) -> dict[str, Any]:
        return {"partition_index": index, "current_leader_epoch": -1, "timestamp": timestamp}

    first = {"name": a, "partitions": [asked(1), asked(0), asked(5)]}
    second = {"name": b, "partitions": [asked(0, -2)]}
    yield "two topics", ask(s, first, second)
    yield "no topics", ask(s)
    yield "no partitions", ask(s, {"name": b, "partitions": []})


@question(at=(1, 5, 6, 7, 11))
def repeated_partitions(s: Scene) -> Steps:
    """The same partition twice is an error for both."""
    topic = s.topic()
    s.fill(topic, 3)
    twice = [{"partition_index": 0, "current_leader_epoch": -1, "timestamp": each} for each in (-1, -2)]
    yield "same partition twice", ask(s, {"name": topic, "partitions": twice})
    yield (
        "same topic twice",
        ask(s, {"name": topic, "partitions": twice[:1]}, {"name": topic, "partitions": twice[1:]}),
    )


@question(since=4)
def current_leader_epoch(s: Scene) -> Steps:
    topic = s.topic()
    s.fill(topic, 2)
    for epoch in (-1, 0, 1, -2):
        yield f"epoch {epoch}, latest", listed(s, topic, -1, current_leader_epoch=epoch)
    yield "epoch 1, earliest", listed(s, topic, -2, current_leader_epoch=1)
    yield "epoch 1, by timestamp", listed(s, topic, 0, current_leader_epoch=1)


@question(since=2, until=7)
def isolation_levels(s: Scene) -> Steps:
    topic = s.topic()
    s.fill(topic, 2)
    for level in (0, 1, 2):
        yield f"level {level}", listed(s, topic, -1, isolation_level=level)


@question(at=(1, 4, 7))
def replica_ids(s: Scene) -> Steps:
    """Replica id -2 stands for a debugging consumer."""
    topic = s.topic()
    s.fill(topic, 2)
    for replica in (-2, 99):
        yield f"replica id {replica}", listed(s, topic, -1, replica_id=replica)


@question(at=(1, 4, 7, 11), brokers=3)
def not_the_leader(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1]])
    for rank in (1, 2):
        yield f"asked of broker {rank}", listed(s, topic, -1, client=s.new_client(broker=rank))
    if s.version >= 4:
        follower = s.new_client(broker=1)
        yield "follower, epoch 9", listed(s, topic, -1, current_leader_epoch=9, client=follower)

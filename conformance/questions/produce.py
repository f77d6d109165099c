"""Produce: acks, what is answered for good and bad batches, timestamps, sizes, several partitions."""

import re
from typing import Any

from ...rig.batches import GZIP, LZ4, OLD, SNAPPY, ZSTD, Record, batch, records
from ...rig.scene import CLOSED, NO_ANSWER, UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question

_TIME = re.compile(r"-?\d{12,}")
FEW = (3, 5, 7, 8, 9, 12, 13)
"""Versions at which the answer's layout or its errors change."""


def produce(
    s: Scene, topic: str, data: bytes | None, *, partition: int = 0, acks: int = -1, **more: Any
) -> Any:
    """The partition's part of the answer to one batch."""
    part = {"index": partition, "records": data}
    answer = s.ask(
        acks=acks, timeout=10000, topic_data=[{**s.topic_ref(topic), "partition_data": [part]}], **more
    )
    return answer if isinstance(answer, str) else answer["responses"][0]["partition_responses"][0]


def without_times(result: dict[str, Any]) -> dict[str, Any]:
    """Messages about timestamps name limits that move with the clock."""
    for error in result.get("record_errors", []):
        error["batch_index_error_message"] = _TIME.sub("<time>", error["batch_index_error_message"])
    if result.get("error_message"):
        result["error_message"] = _TIME.sub("<time>", result["error_message"])
    return result


def one_batch(s: Scene) -> Steps:
    topic = s.topic()
    part = {"index": 0, "records": batch(3)}
    fields = {"acks": -1, "timeout": 10000, "topic_data": [{**s.topic_ref(topic), "partition_data": [part]}]}
    yield "the whole answer", s.ask(fields)
    yield "again", s.ask(fields)


@question(at=FEW)
def acks_one(s: Scene) -> Steps:
    topic = s.topic()
    yield "acks 1", produce(s, topic, batch(2), acks=1)
    yield "log end", s.offset(topic)


@question(at=(3, 9, 11))
def acks_zero(s: Scene) -> Steps:
    """There is no answer; an error closes the connection."""
    topic = s.topic()

    def silent(name: str, data: bytes) -> str:
        client = s.new_client()
        part = {"index": 0, "records": data}
        s.send(
            {"acks": 0, "timeout": 1000, "topic_data": [{**s.topic_ref(name), "partition_data": [part]}]},
            client=client,
        )
        return CLOSED if s.call("api_versions", version=0, client=client) == CLOSED else NO_ANSWER

    yield "good batch", silent(topic, batch(2))
    s.until(lambda: s.offset(topic) == 2)
    yield "bad CRC", silent(topic, batch(2, bad_crc=True))
    yield "unknown topic", silent(s.name("unknown"), batch(2))
    yield "log end", s.offset(topic)


@question(at=(3, 9, 12))
def invalid_acks(s: Scene) -> Steps:
    topic = s.topic()
    for acks in (2, -2, 32767):
        yield f"acks {acks}", produce(s, topic, batch(), acks=acks)
    yield "log end", s.offset(topic)


@question(at=FEW)
def unknown_partitions(s: Scene) -> Steps:
    topic = s.topic()
    yield "unknown topic", produce(s, s.name("unknown"), batch())
    yield "partition 1 of 1", produce(s, topic, batch(), partition=1)
    yield "partition -1", produce(s, topic, batch(), partition=-1)
    if s.version < 13:
        yield "invalid name", produce(s, "a b", batch())
        yield "empty name", produce(s, "", batch())


@question(since=13)
def topic_ids(s: Scene) -> Steps:
    """From v13 on topics are named by id only (KIP-516)."""
    topic = s.topic()

    def ask(ident: Any) -> Any:
        part = {"index": 0, "records": batch()}
        return s.ask(acks=-1, timeout=1000, topic_data=[{"topic_id": ident, "partition_data": [part]}])

    yield "known", ask(s.topic_id(topic))
    yield "unknown", ask(UNKNOWN_TOPIC_ID)
    yield "zero", ask(None)


@question(at=(3, 9, 13))
def no_partitions(s: Scene) -> Steps:
    topic = s.topic()
    yield "no topics", s.ask(acks=-1, timeout=1000, topic_data=[])
    empty = [{**s.topic_ref(topic), "partition_data": []}]
    yield "no partitions", s.ask(acks=-1, timeout=1000, topic_data=empty)


@question(at=(3, 8, 9, 13))
def several_partitions(s: Scene) -> Steps:
    """Each partition succeeds or fails on its own."""
    a, b = s.topic("a", 3), s.topic("b")

    def parts(*items: tuple[int, bytes]) -> list[dict[str, Any]]:
        return [{"index": index, "records": data} for index, data in items]

    first = {**s.topic_ref(a), "partition_data": parts((0, batch(2)), (2, batch(1)), (9, batch(1)))}
    second = {**s.topic_ref(b), "partition_data": parts((0, batch(4, bad_crc=True)))}
    yield "good and bad", s.ask(acks=-1, timeout=10000, topic_data=[first, second])
    twice = {**s.topic_ref(b), "partition_data": parts((0, batch(1)), (0, batch(3)))}
    yield "same partition twice", s.ask(acks=-1, timeout=10000, topic_data=[twice])
    yield "log end", s.offset(b)
    one = {**s.topic_ref(b), "partition_data": parts((0, batch(1)))}
    other = {**s.topic_ref(b), "partition_data": parts((0, batch(5)))}
    yield "same topic twice", s.ask(acks=-1, timeout=10000, topic_data=[one, other])
    yield "log end", s.offset(b)


@question(at=FEW)
def codecs(s: Scene) -> Steps:
    """zstd needs v7 (KIP-110)."""
    topic = s.topic()
    for name, codec in {"gzip": GZIP, "snappy": SNAPPY, "lz4": LZ4, "zstd": ZSTD}.items():
        yield name, produce(s, topic, batch(records(10, size=20), codec=codec))
    for codec in (5, 6, 7):
        yield f"codec {codec}", produce(s, topic, batch(2, attributes=codec))
    yield "log end", s.offset(topic)


@question(at=(3, 9, 13))
def timestamps(s: Scene) -> Steps:
    topic = s.topic()
    now = int(s.now_s() * 1000)
    yield "in the past", produce(s, topic, batch(records(1, OLD)))
    yield "zero", produce(s, topic, batch(records(1, 0)))
    yield "-1", produce(s, topic, batch(records(1, -1)))
    yield "two hours ahead", without_times(produce(s, topic, batch(records(1, now + 7_200_000))))
    yield "half an hour ahead", produce(s, topic, batch(records(1, now + 1_800_000)))
    yield "log end", s.offset(topic)


@question(at=(3, 8, 13))
def timestamp_limits(s: Scene) -> Steps:
    """`message.timestamp.before.max.ms` and `.after.max.ms` (KIP-937); record errors from v8 on (KIP-467)."""
    now = int(s.now_s() * 1000)
    limits = {"message.timestamp.before.max.ms": "3600000", "message.timestamp.after.max.ms": "3600000"}
    topic = s.topic(configs=limits)
    for label, times in {
        "now": [now],
        "two hours ago": [now - 7_200_000],
        "two hours ahead": [now + 7_200_000],
        "one of three too old": [now, now - 7_200_000, now],
        "two of three too old": [now - 7_200_000, now, now - 7_200_000],
    }.items():
        data = batch([Record(timestamp=each) for each in times])
        yield label, without_times(produce(s, topic, data))
    yield "log end", s.offset(topic)


@question(at=(3, 8, 13))
def log_append_time(s: Scene) -> Steps:
    """The broker's time is written to the batch and sent in the answer."""
    topic = s.topic(configs={"message.timestamp.type": "LogAppendTime"})
    yield "old timestamp", produce(s, topic, batch(records(3, OLD, 1000)))
    yield "compressed", produce(s, topic, batch(records(3, OLD, 1000), codec=GZIP))
    yield "stored", s.stored(topic)
    from_client = batch(records(1, OLD), attributes=8)
    create_time = s.topic("create")
    yield "LogAppendTime bit from a client, topic with CreateTime", produce(s, create_time, from_client)


@question(at=(3, 8, 13))
def too_large(s: Scene) -> Steps:
    topic = s.topic(configs={"max.message.bytes": "200"})
    fits = batch(records(1, size=200 - 61 - 10))
    yield "small", produce(s, topic, fits)
    yield "exactly 200 bytes", [len(sized(200)), produce(s, topic, sized(200))]
    yield "201 bytes", [len(sized(201)), produce(s, topic, sized(201))]
    yield "compressed below the limit", produce(s, topic, batch(records(1, size=5000), codec=GZIP))
    default = s.topic("default")
    yield "above the default of 1048588", produce(s, default, batch(records(1, size=1_048_588)))


def sized(size: int) -> bytes:
    """A batch of that many bytes."""
    value = next(
        each for each in range(max(0, size - 100), size) if len(batch(records(1, size=each))) >= size
    )
    return batch(records(1, size=value))


@question(at=(3, 8, 13))
def compacted_topic(s: Scene) -> Steps:
    """Records need a key (KAFKA-4808)."""
    topic = s.topic(configs={"cleanup.policy": "compact"})
    yield "with a key", produce(s, topic, batch([Record(key=b"k")]))
    yield "empty key", produce(s, topic, batch([Record(key=b"")]))
    yield "null value", produce(s, topic, batch([Record(key=b"k", value=None)]))
    yield "null key", produce(s, topic, batch([Record(key=None)]))
    mixed = [Record(key=b"k"), Record(key=None), Record(key=b"k"), Record(key=None)]
    yield "two of four without", produce(s, topic, batch(mixed))
    yield "compressed, without", produce(s, topic, batch(mixed, codec=GZIP))
    both = s.topic("both", configs={"cleanup.policy": "compact,delete"})
    yield "compact,delete: null key", produce(s, both, batch([Record(key=None)]))
    yield "log end", s.offset(topic)


@question(at=(3, 8, 13))
def internal_topic(s: Scene) -> Steps:
    if s.version < 13:
        yield "__consumer_offsets", produce(s, "__consumer_offsets", batch([Record(key=b"k")]))
    else:
        found = s.described("__consumer_offsets")
        part = {"index": 0, "records": batch([Record(key=b"k")])}
        topic = {"topic_id": found["topic_id"], "partition_data": [part]}
        yield "__consumer_offsets", s.ask(acks=-1, timeout=1000, topic_data=[topic])["responses"]


@question(at=(3, 13))
def min_insync_replicas(s: Scene) -> Steps:
    topic = s.topic(configs={"min.insync.replicas": "2"})
    yield "acks -1", produce(s, topic, batch())
    yield "acks 1", produce(s, topic, batch(), acks=1)
    yield "log end", s.offset(topic)


@question(at=(3, 10, 12, 13), brokers=3)
def not_the_leader(s: Scene) -> Steps:
    """From v10 on the answer names the leader (KIP-951)."""
    topic = s.topic(replicas=[[0, 1]])
    for rank in (1, 2):
        client = s.new_client(broker=rank)
        part = {"index": 0, "records": batch()}
        fields = {
            "acks": -1,
            "timeout": 1000,
            "topic_data": [{**s.topic_ref(topic), "partition_data": [part]}],
        }
        yield f"asked of broker {rank}", s.ask(fields, client=client)


@question(at=(3, 13), brokers=3)
def three_replicas(s: Scene) -> Steps:
    topic = s.topic(replicas=[[0, 1, 2]], configs={"min.insync.replicas": "3"})
    yield "acks -1", produce(s, topic, batch(2))
    yield "acks 1", produce(s, topic, batch(2), acks=1)

"""Fetch: offsets, limits, epochs, waiting; sessions are in a module of their own."""

from typing import Any

from ...rig.batches import GZIP, ZSTD, batch, records
from ...rig.scene import UNKNOWN_TOPIC_ID
from ..registry import Scene, Steps, question

FEW = (4, 5, 7, 9, 11, 12, 13, 17, 18)
"""Versions at which the layout of question or answer changes, and the newest."""
LARGE = 10_000_000


def part(partition: int = 0, offset: int = 0, limit: int = LARGE, **more: Any) -> dict[str, Any]:
    """The request for one partition."""
    return {"partition": partition, "fetch_offset": offset, "partition_max_bytes": limit, **more}


def fields(s: Scene, *topics: tuple[str, list[dict[str, Any]]], **more: Any) -> dict[str, Any]:
    """A request outside of sessions that does not wait."""
    return {
        "replica_id": -1,
        "max_wait": 0,
        "min_bytes": 0,
        "max_bytes": LARGE,
        "session_epoch": -1,
        "topics": [{**s.topic_ref(name, "topic"), "partitions": parts} for name, parts in topics],
        **more,
    }


def fetch(s: Scene, topic: str, offset: int = 0, partition: int = 0, **more: Any) -> Any:
    """The partition's part of the answer, or the whole answer when it has none."""
    known = (
        "isolation_level",
        "max_bytes",
        "min_bytes",
        "max_wait",
        "replica_id",
        "replica_state",
        "rack_id",
    )
    top = {key: more.pop(key) for key in known if key in more}
    client = more.pop("client", None)
    answer = s.ask(fields(s, (topic, [part(partition, offset, **more)]), **top), client=client)
    if isinstance(answer, str) or not answer["responses"]:
        return answer
    return answer["responses"][0]["partitions"][0]


def one_batch(s: Scene) -> Steps:
    topic = s.topic()
    yield "empty log", s.ask(fields(s, (topic, [part()])))
    s.fill(topic, 3)
    yield "three records", s.ask(fields(s, (topic, [part()])))


@question(at=FEW)
def offsets(s: Scene) -> Steps:
    """A batch is returned whole; if the offset is out of range, all offsets in the answer are -1."""
    topic = s.topic()
    s.fill(topic, 5, 5, 5)
    for offset in (0, 4, 5, 7, 14, 15, 16, 2**63 - 1, -1, -2):
        yield f"offset {offset}", fetch(s, topic, offset)


@question(at=FEW)
def below_the_log_start(s: Scene) -> Steps:
    topic = s.topic()
    s.fill(topic, 5, 5)
    s.delete_records(topic, 7)
    for offset in (0, 6, 7, 9, 10):
        yield f"offset {offset}, log start 7", fetch(s, topic, offset)


@question(at=FEW)
def unknown_partitions(s: Scene) -> Steps:
    topic = s.topic()
    yield "partition 1 of 1", fetch(s, topic, partition=1)
    yield "partition -1", fetch(s, topic, partition=-1)
    unknown = s.name("unknown")
    yield "unknown topic", s.ask(fields(s, (unknown, [part()])))
    yield "known and unknown", s.ask(fields(s, (topic, [part()]), (unknown, [part(), part(1)])))
    if s.version < 13:
        yield "invalid name", s.ask(fields(s, ("a b", [part()])))


@question(since=13)
def topic_ids(s: Scene) -> Steps:
    """From v13 on topics are named by id only (KIP-516)."""
    topic = s.topic()
    s.fill(topic, 2)
    for label, ident in {"known": s.topic_id(topic), "unknown": UNKNOWN_TOPIC_ID, "zero": None}.items():
        yield label, s.ask({**fields(s), "topics": [{"topic_id": ident, "partitions": [part()]}]})
    both = [{"topic_id": ident, "partitions": [part()]} for ident in (UNKNOWN_TOPIC_ID, s.topic_id(topic))]
    yield "unknown, then known", s.ask({**fields(s), "topics": both})


@question(at=(4, 9, 12, 13))
def nothing_asked(s: Scene) -> Steps:
    topic = s.topic()
    yield "no topics", s.ask(fields(s))
    yield "no partitions", s.ask(fields(s, (topic, [])))


@question(at=FEW)
def partition_limit(s: Scene) -> Steps:
    """At least one whole batch is returned, from the first partition that has any (KIP-74)."""
    topic = s.topic(partitions=2)
    for partition in (0, 1):
        for _ in range(3):
            s.produce(topic, batch(records(1, size=100)), partition)
    for limit in (0, 1, 180, 250, 1000):
        asked = (topic, [part(0, 0, limit), part(1, 0, limit)])
        yield f"{limit} bytes a partition", s.ask(fields(s, asked))["responses"]
    yield "negative", s.ask(fields(s, (topic, [part(0, 0, -1)])))["responses"]


@question(at=FEW)
def request_limit(s: Scene) -> Steps:
    topic = s.topic(partitions=3)
    for partition in range(3):
        for _ in range(2):
            s.produce(topic, batch(records(1, size=100)), partition)
    asked = (topic, [part(index) for index in (1, 0, 2)])
    for limit in (0, 1, 200, 400, 600, 2000):
        yield f"{limit} bytes in all", s.ask(fields(s, asked, max_bytes=limit))["responses"]
    empty_first = (topic, [part(1, 2), part(0), part(2)])
    yield "1 byte, first partition at its end", s.ask(fields(s, empty_first, max_bytes=1))["responses"]
    broken_first = (topic, [part(9), part(0), part(2)])
    yield "1 byte, first partition unknown", s.ask(fields(s, broken_first, max_bytes=1))["responses"]


@question(at=(4, 12, 13))
def repeated_partitions(s: Scene) -> Steps:
    topic = s.topic(partitions=2)
    s.fill(topic, 2)
    yield "same partition twice", s.ask(fields(s, (topic, [part(0), part(0, 1)])))["responses"]
    yield "same topic twice", s.ask(fields(s, (topic, [part(0)]), (topic, [part(1)])))["responses"]


@question(at=FEW)
def isolation_levels(s: Scene) -> Steps:
    """Aborted transactions are null for read_uncommitted."""
    topic = s.topic()
    yield "read_committed, empty", fetch(s, topic, isolation_level=1)
    s.fill(topic, 2)
    yield "read_uncommitted", fetch(s, topic, isolation_level=0)
    yield "read_committed", fetch(s, topic, isolation_level=1)
    yield "read_committed, out of range", fetch(s, topic, 9, isolation_level=1)
    yield "level 2", fetch(s, topic, isolation_level=2)


@question(since=9)
def current_leader_epoch(s: Scene) -> Steps:
    """KIP-320; epoch errors come before range errors."""
    topic = s.topic()
    s.fill(topic, 2)
    for epoch in (-1, 0, 1, -2):
        yield f"epoch {epoch}", fetch(s, topic, current_leader_epoch=epoch)
    yield "epoch 1, out of range", fetch(s, topic, 99, current_leader_epoch=1)


@question(since=12)
def last_fetched_epoch(s: Scene) -> Steps:
    """The leader says where the logs diverge (KIP-595)."""
    topic = s.topic()
    s.fill(topic, 5, 5)
    for epoch, offset in ((0, 0), (0, 10), (0, 11), (1, 5), (1, 11), (-1, 5), (-2, 5)):
        yield f"last epoch {epoch}, offset {offset}", fetch(s, topic, offset, last_fetched_epoch=epoch)


@question(at=(4, 7, 9, 10, 13))
def compressed(s: Scene) -> Steps:
    """zstd needs v10 (KIP-110)."""
    topic = s.topic(partitions=2)
    s.produce(topic, batch(records(3, size=50), codec=GZIP), 0)
    s.produce(topic, batch(records(3, size=50), codec=ZSTD), 1)
    yield "gzip", fetch(s, topic)
    yield "zstd", fetch(s, topic, partition=1)


@question(at=(4, 7, 9, 10, 13))
def topic_of_zstd(s: Scene) -> Steps:
    """Whatever its batches are compressed with, readers have to know zstd (KIP-110)."""
    topic = s.topic(configs={"compression.type": "zstd"})
    yield "empty", fetch(s, topic)
    s.produce(topic, batch(records(3, size=50), codec=ZSTD))
    yield "zstd", fetch(s, topic)
    yield "out of range", fetch(s, topic, 99)
    yield (
        "in a request that asks for another as well",
        s.ask(fields(s, (topic, [part()]), (s.topic("plain"), [part()])))["responses"],
    )


@question(at=(4, 12, 17))
def waiting(s: Scene) -> Steps:
    """A fetch waits for min_bytes, for max_wait_ms at most."""
    topic = s.topic()
    waits = fields(s, (topic, [part()]), max_wait=300, min_bytes=1)
    start = s.now_s()
    yield "nothing comes", s.ask(waits)["responses"]
    yield "waited", s.now_s() - start >= 0.28
    s.fill(topic, 1)
    start = s.now_s()
    yield "data is there", s.ask({**waits, "max_wait": 5000})["responses"]
    yield "did not wait", s.now_s() - start < 2
    start = s.now_s()
    yield "fewer bytes than wanted", s.ask({**waits, "min_bytes": 100_000})["responses"]
    yield "waited", s.now_s() - start >= 0.28


@question(at=(4, 12, 17))
def not_waiting(s: Scene) -> Steps:
    """A fetch with an error in one partition, or with no partitions, is answered at once."""
    topic = s.topic()
    patient = {"max_wait": 600, "min_bytes": 1}
    for label, asked in {
        "unknown partition": [part(7)],
        "out of range": [part(0, 5)],
        "one empty, one unknown": [part(0), part(7)],
        "none": [],
    }.items():
        start = s.now_s()
        answer = s.ask(fields(s, (topic, asked), **patient))
        yield label, [s.now_s() - start < 0.4, answer["responses"]]
    start = s.now_s()
    answer = s.ask(fields(s, (topic, [part()]), max_wait=600, min_bytes=0))
    yield "min_bytes 0", [s.now_s() - start < 0.4, answer["responses"]]


@question(at=(4, 12, 17))
def woken_by_a_produce(s: Scene) -> Steps:
    topic = s.topic()
    writer = s.new_client("writer")
    pending = s.send(fields(s, (topic, [part()]), max_wait=8000, min_bytes=1))
    start = s.now_s()
    s.produce(topic, batch(2), client=writer)
    yield "one batch", s.receive(pending)["responses"]
    yield "at once", s.now_s() - start < 4
    pending = s.send(fields(s, (topic, [part(0, 2)]), max_wait=8000, min_bytes=200))
    for _ in range(2):
        s.produce(topic, batch(records(1, size=40)), client=writer)
    yield "as many as reach min_bytes", s.receive(pending)["responses"]


@question(at=(4, 12, 17))
def finished_while_waiting(s: Scene) -> Steps:
    """The client sends no more: it half closes its connection."""
    topic = s.topic()
    s.fill(topic, 1)
    for name, wait in (("a wait that is over", 300), ("woken by a produce", 8000)):
        client = s.new_client()
        waiting = fields(s, (topic, [part(0, 1)]), max_wait=wait, min_bytes=1)
        first = s.send(waiting, client=client)
        second = s.send(fields(s, (topic, [part()])), client=client)
        client.finish()
        if wait > 1000:
            s.produce(topic, batch(1), client=s.new_client("writer"))
        yield name, s.receive(first, client=client)["responses"]
        yield f"{name}, the one behind it", s.receive(second, client=client)["responses"]
        yield f"{name}, then", s.receive(second, client=client)


@question(at=(4, 11, 12, 13, 17))
def deleted_while_waiting(s: Scene) -> Steps:
    """The topic was known when the request began to wait, so its id does not count as unknown."""
    topic = s.topic()
    s.fill(topic, 1)
    pending = s.send(fields(s, (topic, [part(0, 1)]), max_wait=8000, min_bytes=1))
    start = s.now_s()
    s.delete_topic(topic, client=s.new_client("deleter"))
    yield "the one that waits", s.receive(pending)["responses"]
    yield "at once", s.now_s() - start < 4


@question(at=(4, 11, 12, 14, 15, 17))
def as_a_replica(s: Scene) -> Steps:
    """The id of a broker that has no replica of the partition."""
    topic = s.topic()
    s.fill(topic, 2)
    for replica in (99, -2):
        state = {"replica_id": replica, "replica_epoch": -1}
        yield f"replica id {replica}", fetch(s, topic, replica_id=replica, replica_state=state)


@question(at=(4, 10, 11, 12, 16, 17), brokers=3)
def not_the_leader(s: Scene) -> Steps:
    """From v11 on followers serve consumers (KIP-392); from v16 on errors name the leader (KIP-951)."""
    topic = s.topic(replicas=[[0, 1]])
    s.fill(topic, 2)
    follower = s.new_client(broker=1)
    if s.version >= 11:
        s.until(
            lambda: fetch(s, topic, client=follower)["high_watermark"] == 2, "the follower's high watermark"
        )
    yield "follower", s.ask(fields(s, (topic, [part()])), client=follower)
    yield "no replica", s.ask(fields(s, (topic, [part()])), client=s.new_client(broker=2))

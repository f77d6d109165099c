"""Fetch from logs of several segments: where reads end, what they wait for, what was aborted there."""

from typing import Any

from ...rig.batches import OLD, Record, batch
from ...rig.transaction_scene import TransactionalProducer
from ..registry import Scene, Steps, about
from .describe_configs import TOPIC
from .fetch import fetch, fields, part

question = about("fetch")

FEW = (4, 17)
EACH_ITS_OWN = {"segment.index.bytes": "12"}
"""The last entry of a time index is kept for its end: each batch has a segment of its own."""
MINUTE_MS = 60_000


def at(minutes: float, count: int = 1) -> bytes:
    """A batch of that time."""
    return batch([Record(timestamp=OLD + int(minutes * MINUTE_MS))] * count)


def rolled(s: Scene, partitions: int = 1) -> str:
    """Offsets 0 to 2, 3 to 6 and 7 in three segments, the first two of two batches each."""
    topic = s.topic(partitions=partitions, configs={"segment.ms": str(MINUTE_MS)})
    for partition in range(partitions):
        for minutes, count in ((0, 2), (0.5, 1), (5, 3), (5.5, 1), (10, 1)):
            s.produce(topic, at(minutes, count), partition)
    return topic


@question(at=FEW)
def ends_of_segments(s: Scene) -> Steps:
    """A read does not go beyond the segment in which it begins."""
    topic = rolled(s)
    for offset in (0, 1, 2, 3, 5, 6, 7, 8):
        yield f"offset {offset}", fetch(s, topic, offset)
    yield "a part of the second batch", fetch(s, topic, 0, limit=100)
    own = s.topic("own", configs=EACH_ITS_OWN)
    s.fill(own, 2, 2, 2)
    for offset in (0, 1, 2, 4, 5, 6):
        yield f"each batch its own, offset {offset}", fetch(s, own, offset)


@question(at=FEW)
def ends_of_segments_of_two_partitions(s: Scene) -> Steps:
    """The part of the limit that one partition does not use is available to the next."""
    topic = rolled(s, 2)
    for limit in (100, 250, 10_000):
        asked = fields(s, (topic, [part(0, 0), part(1, 3)]), max_bytes=limit)
        yield f"at most {limit} bytes", s.ask(asked)


@question(at=FEW)
def configured_meanwhile(s: Scene) -> Steps:
    """A segment keeps the index interval with which it was created; size and time limits apply as now
    configured."""
    topic = s.topic(configs={"segment.ms": str(100 * MINUTE_MS)})
    s.produce(topic, at(0))
    s.produce(topic, at(5))
    s.configure(TOPIC, topic, segment_ms=str(MINUTE_MS))
    s.produce(topic, at(1))
    s.produce(topic, at(1.5))
    s.produce(topic, at(0.5))
    for offset in range(5):
        yield f"offset {offset}", fetch(s, topic, offset)


@question(at=FEW)
def waiting_in_an_older_segment(s: Scene) -> Steps:
    """A Fetch that asks for more than is left of an older segment is answered at once."""
    topic = rolled(s)

    def hastily(offset: int) -> Any:
        asked = fields(s, (topic, [part(0, offset)]), min_bytes=1_000_000, max_wait=20_000)
        return s.ask(asked, within=1.5)

    for offset in (0, 2, 6, 7, 8):
        yield f"offset {offset}", hastily(offset)
    empty = s.topic("empty")
    asked = fields(s, (topic, [part(0, 8)]), (empty, [part()]), min_bytes=1_000_000, max_wait=20_000)
    yield "active segments only", s.ask(asked, within=1.5)
    asked = fields(s, (topic, [part(0, 6)]), (empty, [part()]), min_bytes=1_000_000, max_wait=20_000)
    yield "one older segment", s.ask(asked, within=1.5)


@question(at=FEW)
def rolling_while_it_waits(s: Scene) -> Steps:
    """The log end is then in another segment than the beginning of the read."""
    topic = s.topic(configs={"segment.ms": str(MINUTE_MS)})
    s.produce(topic, at(0))
    for label, offset, minutes in (
        ("same segment", 1, 0.5),
        ("another segment", 2, 5),
        ("in the next", 3, 5.5),
    ):
        waiting = s.new_client()
        waiting.timeout = 2
        # Once it is connected, so that the batch does not come before the request.
        s.call("api_versions", version=0, client=waiting)
        asked = fields(s, (topic, [part(0, offset)]), min_bytes=1_000_000, max_wait=20_000)
        pending = s.send(asked, client=waiting)
        s.produce(topic, at(minutes))
        try:
            yield label, s.receive(pending, client=waiting)
        except TimeoutError:
            yield label, "<no answer>"


@question(at=FEW)
def aborted_of_segments(s: Scene) -> Steps:
    """Transactions that were open in the segment that was read, or in the part that was read."""
    topic = s.topic(configs=EACH_ITS_OWN)
    _three_aborted(s, topic)
    for offset in range(13):
        yield f"offset {offset}", fetch(s, topic, offset, isolation_level=1)


@question(at=FEW)
def aborted_by_index(s: Scene) -> Steps:
    """Aborted transactions are listed up to the next entry of the offset index."""
    for interval in ("0", "150", "4096"):
        topic = s.topic(f"t{interval}", configs={"index.interval.bytes": interval})
        _three_aborted(s, topic)
        for offset, limit in ((0, 1), (0, 100), (0, 200), (0, 300), (0, 10_000), (6, 1), (7, 1), (8, 1)):
            answer = fetch(s, topic, offset, limit=limit, isolation_level=1)
            yield f"interval {interval}, offset {offset}, {limit} bytes", answer


def _three_aborted(s: Scene, topic: str) -> None:
    """Offsets 0 to 2 and 3 to 5 of two producers, their markers at 6 and 7, 8 to 10 and its marker at 11."""
    first, second = TransactionalProducer(s, "first"), TransactionalProducer(s, "second")
    first.begin(topic)
    second.begin(topic)
    first.end(committed=False)
    second.end(committed=False)
    first.begin(topic, 3)
    first.end(committed=False)
    s.fill(topic, 1)


@question(at=FEW)
def stable_after_deletion(s: Scene) -> Steps:
    """The last stable offset of a transaction that began with deleted records."""
    for label, configs in (("one segment", {}), ("each batch its own", EACH_ITS_OWN)):
        topic = s.topic(label.replace(" ", "-"), configs=configs)
        open_one = TransactionalProducer(s, f"open-{label[0]}")
        open_one.begin(topic)
        s.fill(topic, 2)
        for offset in (2, 4):
            s.delete_records(topic, offset)
            for level in (0, 1):
                answer = fetch(s, topic, offset, isolation_level=level)
                yield f"{label}, log start {offset}, isolation {level}", answer
        open_one.end(committed=False)
        yield f"{label}, aborted", fetch(s, topic, 4, isolation_level=1)

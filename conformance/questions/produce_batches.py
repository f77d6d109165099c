"""Produce: batches that are malformed, or that only a broker may write."""

import struct
from typing import Any

from ...rig.batches import CONTROL, GZIP, TRANSACTIONAL, Record, batch, control_batch, message_set, records
from ..registry import Scene, Steps, about
from .produce import produce, sized

question = about("produce")

FEW = (3, 8, 13)


@question(at=FEW)
def damaged(s: Scene) -> Steps:
    topic = s.topic()
    yield "bad CRC", produce(s, topic, batch(2, bad_crc=True))
    yield "bad CRC, compressed", produce(s, topic, batch(2, bad_crc=True, codec=GZIP))
    yield "cut short", produce(s, topic, batch(2)[:-3])
    yield "only a header's beginning", produce(s, topic, batch(2)[:20])
    yield "length one too small", produce(s, topic, batch(2, length_error=-1))
    yield "length one too large", produce(s, topic, batch(2, length_error=1))
    yield "length 0", produce(s, topic, struct.pack(">qi", 0, 0) + bytes(60))
    yield "length -1", produce(s, topic, struct.pack(">qi", 0, -1) + bytes(60))
    yield "garbage", produce(s, topic, b"\xff" * 100)
    yield "bytes after the batch", produce(s, topic, batch(2) + b"\0" * 5)
    yield "bytes after the last record", produce(s, topic, batch(2, extra=b"\0\0\0"))
    yield "gzip that is none", produce(s, topic, batch(2, attributes=1))
    yield "log end", s.offset(topic)


@question(at=FEW)
def empty(s: Scene) -> Steps:
    topic = s.topic()
    yield "null records", _hastily(s, topic, None)
    yield "no bytes", _hastily(s, topic, b"")
    yield "batch without records", produce(s, topic, batch(0))
    yield "batch without records, offset delta 0", produce(s, topic, batch(0, last_offset_delta=0))
    yield "log end", s.offset(topic)


def _hastily(s: Scene, topic: str, data: bytes | None) -> Any:
    topics = [{**s.topic_ref(topic), "partition_data": [{"index": 0, "records": data}]}]
    answer = s.ask(acks=-1, timeout=100, topic_data=topics, within=1.0)
    return answer if isinstance(answer, str) else answer["responses"]


@question(at=FEW)
def two_batches(s: Scene) -> Steps:
    """From magic 2 on a partition's data holds one batch."""
    topic = s.topic()
    yield "two good ones", produce(s, topic, batch(2) + batch(3))
    yield "log end", s.offset(topic)


@question(at=FEW)
def counts(s: Scene) -> Steps:
    """The record count and the last offset delta must agree with the records."""
    topic = s.topic()
    yield "count one too large", produce(s, topic, batch(2, count=3))
    yield "count and delta one too large", produce(s, topic, batch(2, count=3, last_offset_delta=2))
    yield "count one too small", produce(s, topic, batch(2, count=1))
    yield "count and delta one too small", produce(s, topic, batch(2, count=1, last_offset_delta=0))
    yield "delta one too large", produce(s, topic, batch(2, last_offset_delta=2))
    yield "delta one too small", produce(s, topic, batch(2, last_offset_delta=0))
    yield "negative delta", produce(s, topic, batch(2, last_offset_delta=-1))
    yield "negative count", produce(s, topic, batch(2, count=-1))
    yield "compressed, count too large", produce(s, topic, batch(2, count=3, last_offset_delta=2, codec=GZIP))
    yield "log end", s.offset(topic)


@question(at=FEW)
def offset_deltas(s: Scene) -> Steps:
    """A record's offset delta must be its index."""
    topic = s.topic()

    def deltas(*values: int, codec: int = 0) -> bytes:
        return batch([Record(delta=each) for each in values], codec=codec)

    yield "1, 2", produce(s, topic, deltas(1, 2))
    yield "0, 0", produce(s, topic, deltas(0, 0))
    yield "1, 0", produce(s, topic, deltas(1, 0))
    yield "0, 2", produce(s, topic, deltas(0, 2))
    yield "0, -1", produce(s, topic, deltas(0, -1))
    yield "compressed: 0, 2", produce(s, topic, deltas(0, 2, codec=GZIP))
    yield "log end", s.offset(topic)


@question(at=FEW)
def fields_the_broker_sets(s: Scene) -> Steps:
    """The client's base offset and partition leader epoch don't matter, but its largest timestamp does."""
    topic = s.topic()
    yield "base offset 7", produce(s, topic, batch(2, base_offset=7))
    yield "base offset -1", produce(s, topic, batch(2, base_offset=-1))
    yield "leader epoch 99", produce(s, topic, batch(2, partition_leader_epoch=99))
    wrong = batch(records(2, 1_600_000_000_000, 10), max_timestamp=1_600_000_000_999)
    yield "max timestamp too large", produce(s, topic, wrong)
    yield "stored", s.stored(topic)


@question(at=FEW)
def magic(s: Scene) -> Steps:
    """Produce v3 and up takes magic 2 only."""
    topic = s.topic()
    yield "magic 0", produce(s, topic, message_set([Record()], magic=0))
    yield "magic 1", produce(s, topic, message_set([Record(), Record()], magic=1))
    yield "magic 1, compressed", produce(s, topic, message_set([Record(), Record()], magic=1, codec=GZIP))
    yield "magic 1, bad CRC", produce(s, topic, message_set([Record()], magic=1, bad_crc=True))
    yield "magic 1, then 2", produce(s, topic, message_set([Record()], magic=1) + batch(1))
    yield "magic 3", produce(s, topic, batch(1, magic=3))
    yield "magic -1", produce(s, topic, batch(1, magic=-1))
    yield "log end", s.offset(topic)


@question(at=FEW)
def control_batches(s: Scene) -> Steps:
    """Only brokers write markers."""
    topic = s.topic()
    yield "commit marker", produce(s, topic, control_batch(1))
    yield "abort marker", produce(s, topic, control_batch(0))
    yield "control flag, no producer id", produce(s, topic, batch(1, attributes=CONTROL))
    yield "log end", s.offset(topic)


@question(at=(3, 8, 11, 12, 13))
def transactional_batches(s: Scene) -> Steps:
    """The transactional flag without a transaction (KIP-890 verifies it)."""
    topic = s.topic()
    producer = s.producer_id()
    flagged = batch(1, producer_id=producer, producer_epoch=0, sequence=0, attributes=TRANSACTIONAL)
    yield "without a transactional id", produce(s, topic, flagged)
    yield "flag, no producer id", produce(s, topic, batch(1, attributes=TRANSACTIONAL))
    named = s.name("tx")
    yield "transactional id, plain batch", produce(s, topic, batch(1), transactional_id=named)
    yield "empty transactional id", produce(s, topic, batch(1), transactional_id="")
    yield "log end", s.offset(topic)


@question(at=FEW)
def producer_fields(s: Scene) -> Steps:
    """Producer id, epoch and sequence that don't fit together."""
    topic = s.topic()
    fresh = s.producer_id()
    yield "id without epoch", produce(s, topic, batch(1, producer_id=fresh, sequence=0))
    yield "id without sequence", produce(s, topic, batch(1, producer_id=fresh, producer_epoch=0))
    yield "epoch without id", produce(s, topic, batch(1, producer_epoch=0, sequence=0))
    yield "sequence without id", produce(s, topic, batch(1, sequence=0))
    yield "id -5", produce(s, topic, batch(1, producer_id=-5, producer_epoch=0, sequence=0))
    yield "id never handed out", produce(s, topic, batch(1, producer_id=10**15, producer_epoch=0, sequence=0))
    yield "log end", s.offset(topic)


@question(at=(3, 8, 13))
def larger_than_a_segment(s: Scene) -> Steps:
    """Brokers of 4.0 and later have no segments below 1 MB."""
    limit = 1 << 20
    topic = s.topic(configs={"segment.bytes": str(limit), "max.message.bytes": str(2 * limit)})
    yield "as large as a segment", produce(s, topic, sized(limit))
    yield "a byte more", produce(s, topic, sized(limit + 1))
    yield "compressed", produce(s, topic, batch(records(1, size=2 * limit), codec=GZIP))
    yield "larger than a batch may be", produce(s, topic, sized(2 * limit + 1))
    yield "without its checksum", produce(s, topic, batch(records(1, size=limit + 100), bad_crc=True))
    producer = s.producer_id()
    first = batch(records(1, size=limit + 100), producer_id=producer, sequence=0)
    yield "the first of a producer", produce(s, topic, first)
    s.configure(2, topic, segment_bytes=str(2 * limit))
    yield "once segments are larger", s.until(lambda: _accepted(produce(s, topic, first)))
    yield "the same again", produce(s, topic, first)
    s.configure(2, topic, segment_bytes=str(limit))
    gap = batch(records(1, size=limit + 100), producer_id=producer, sequence=7)
    yield "out of order, once they are smaller", s.until(lambda: _too_large(produce(s, topic, gap)))
    yield "the same again, then", produce(s, topic, first)
    yield "log end", s.offset(topic)


def _too_large(part: Any) -> Any:
    return part if part["error_code"] == "RECORD_LIST_TOO_LARGE" else None


def _accepted(part: Any) -> Any:
    return part if part["error_code"] == "NONE" else None

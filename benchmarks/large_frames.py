"""The frames of large requests, and of those that prepare for them."""

from __future__ import annotations

import struct
import time
import uuid
from collections.abc import Iterable
from typing import Final

from crc32c import crc32c

from benchmarks.wire import Writer

PRODUCE, FETCH, OFFSET_COMMIT, FIND_COORDINATOR, DESCRIBE_GROUPS = 0, 1, 8, 10, 15
OFFSET_FETCH, INIT_PRODUCER_ID, ADD_PARTITIONS, END_TXN, WRITE_MARKERS = 9, 22, 24, 26, 27
ALTER_CONFIGS, ALTER_QUOTAS, DESCRIBE_PRODUCERS, DESCRIBE_TRANSACTIONS = 44, 49, 61, 65
LIST_TRANSACTIONS, HEARTBEAT, GET_SUBSCRIPTIONS = 66, 68, 71
CREATE_PARTITIONS = 37
AT_ONCE: Final = 9000
"""Partitions that are made at once, and that a topic of a large fetch has."""


def fetched(partitions: int) -> list[tuple[str, int]]:
    """Topics with so many partitions in all, and how many each has."""
    starts = range(0, partitions, AT_ONCE)
    return [(f"fetched-{start}", min(AT_ONCE, partitions - start)) for start in starts]


def fetch(session: int, epoch: int, partitions: int) -> bytes:
    """Fetch v7 that does not wait."""
    writer = Writer(FETCH, 7, flexible=False)
    for value in (-1, 0, 0, 1 << 30):
        writer.int32(value)
    writer.int8(0)
    writer.int32(session)
    writer.int32(epoch)
    topics = fetched(partitions)
    writer.int32(len(topics))
    for name, count in topics:
        writer.string(name)
        writer.int32(count)
        writer.frame += b"".join(struct.pack(">iqqi", index, 0, 0, 1 << 20) for index in range(count))
    writer.int32(0)
    return bytes(writer.done())


def produce(topic: str, producer: int) -> bytes:
    """One record of an idempotent producer."""
    now_ms = time.time_ns() // 1_000_000
    tail = struct.pack(">hiqqqhii", 0, 0, now_ms, now_ms, producer, 0, 0, 1) + b"\x0c\0\0\0\x01\0\0"
    batch = struct.pack(">qiibI", 0, len(tail) + 9, -1, 2, crc32c(tail)) + tail
    return bytes(produce_frame(topic, [batch]))


def produce_frame(topic: str, batches: list[bytes]) -> bytearray:
    """Produce v7, acks=1; a batch for each partition from 0 on."""
    writer = Writer(PRODUCE, 7, flexible=False)
    writer.string(None)
    writer.int16(1)
    writer.int32(30_000)
    writer.int32(1)
    writer.string(topic)
    writer.int32(len(batches))
    for partition, batch in enumerate(batches):
        writer.int32(partition)
        writer.data(batch)
    return writer.done()


def commit(group: str, topic: str, partitions: Iterable[int], metadata: str) -> bytes:
    """OffsetCommit v2."""
    named = list(partitions)
    writer = Writer(OFFSET_COMMIT, 2, flexible=False)
    writer.string(group)
    writer.int32(-1)
    writer.string("")
    writer.int64(-1)
    writer.int32(1)
    writer.string(topic)
    writer.int32(len(named))
    for index in named:
        writer.int32(index)
        writer.int64(1)
        writer.string(metadata)
    return bytes(writer.done())


def transactional(key: int, name: str, producer: int, epoch: int) -> Writer:
    writer = Writer(key, 0, flexible=False)
    writer.string(name)
    writer.int64(producer)
    writer.int16(epoch)
    return writer


def transactions_listed(producers: Iterable[int], pattern: str | None = None) -> bytes:
    ids = list(producers)
    writer = Writer(LIST_TRANSACTIONS, 2, flexible=True)
    writer.length(0)
    writer.length(len(ids))
    for each in ids:
        writer.int64(each)
    writer.int64(-1)
    writer.string(pattern)
    writer.tags()
    return bytes(writer.done())


def heartbeat(
    group: str, member: str, *, epoch: int = 0, names: list[str] | None = None, regex: str | None = None
) -> bytes:
    """ConsumerGroupHeartbeat v1."""
    writer = Writer(HEARTBEAT, 1, flexible=True)
    writer.string(group)
    writer.string(member)
    writer.int32(epoch)
    writer.string(None)
    writer.string(None)
    writer.int32(-1 if epoch else 60_000)
    strings(writer, names)
    writer.string(regex)
    writer.string(None)
    writer.length(-1 if epoch else 0)
    writer.tags()
    return bytes(writer.done())


def subscriptions(instance: uuid.UUID) -> bytes:
    writer = Writer(GET_SUBSCRIPTIONS, 0, flexible=True)
    writer.frame += instance.bytes
    writer.tags()
    return bytes(writer.done())


def strings(writer: Writer, names: list[str] | None) -> None:
    writer.length(-1 if names is None else len(names))
    for name in names or ():
        writer.string(name)


def topic(writer: Writer, name: str, partitions: Iterable[int]) -> None:
    indexes = list(partitions)
    writer.string(name)
    writer.length(len(indexes))
    writer.frame += b"".join(struct.pack(">i", index) for index in indexes)
    writer.tags()

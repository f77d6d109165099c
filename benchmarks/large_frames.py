"""The frames of large requests, and of those that prepare for them."""

from __future__ import annotations

import struct
import time
import uuid
from collections.abc import Iterable
from typing import Any, Final

from crc32c import crc32c

from benchmarks.wire import Writer
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.rig.client import encode

AT_ONCE: Final = 9000
"""Partitions that are made at once, and that a topic of a large fetch has."""


def fetched(partitions: int) -> list[tuple[str, int]]:
    """Topics with so many partitions in all, and how many each has."""
    starts = range(0, partitions, AT_ONCE)
    return [(f"fetched-{start}", min(AT_ONCE, partitions - start)) for start in starts]


def fetch(session: int, epoch: int, partitions: int) -> bytes:
    """Fetch v7 that does not wait."""
    topics = fetched(partitions)
    writer = Writer(ApiKey.FETCH, 7, flexible=False)
    writer.put("iiiibiil", -1, 0, 0, 1 << 30, 0, session, epoch, len(topics))
    for name, count in topics:
        writer.put("sl", name, count)
        writer.frame += b"".join(struct.pack(">iqqi", index, 0, 0, 1 << 20) for index in range(count))
    return bytes(writer.put("l", 0).done())


def produce(topic: str, producer: int) -> bytes:
    """One record of an idempotent producer."""
    now_ms = time.time_ns() // 1_000_000
    tail = struct.pack(">hiqqqhii", 0, 0, now_ms, now_ms, producer, 0, 0, 1) + b"\x0c\0\0\0\x01\0\0"
    batch = struct.pack(">qiibI", 0, len(tail) + 9, -1, 2, crc32c(tail)) + tail
    return bytes(produce_frame(topic, [batch]))


def produce_frame(topic: str, batches: list[bytes]) -> bytearray:
    """Produce v7, acks=1; a batch for each partition from 0 on."""
    writer = Writer(ApiKey.PRODUCE, 7, flexible=False)
    writer.put("shilsl", None, 1, 30_000, 1, topic, len(batches))
    for partition, batch in enumerate(batches):
        writer.put("ix", partition, batch)
    return writer.done()


def commit(group: str, topic: str, partitions: Iterable[int], metadata: str) -> bytes:
    """OffsetCommit v2."""
    named = list(partitions)
    writer = Writer(ApiKey.OFFSET_COMMIT, 2, flexible=False)
    writer.put("sisqlsl", group, -1, "", -1, 1, topic, len(named))
    for index in named:
        writer.put("iqs", index, 1, metadata)
    return bytes(writer.done())


def transactional(key: ApiKey, name: str, producer: int, epoch: int) -> Writer:
    return Writer(key, 0, flexible=False).put("sqh", name, producer, epoch)


def transactions_listed(producers: Iterable[int], pattern: str | None = None) -> bytes:
    ids = list(producers)
    writer = Writer(ApiKey.LIST_TRANSACTIONS, 2, flexible=True).put("ll", 0, len(ids))
    return bytes(writer.put("q" * len(ids), *ids).put("qst", -1, pattern).done())


def heartbeat(
    group: str, member: str, *, epoch: int = 0, names: list[str] | None = None, regex: str | None = None
) -> bytes:
    """ConsumerGroupHeartbeat v1."""
    writer = Writer(ApiKey.CONSUMER_GROUP_HEARTBEAT, 1, flexible=True)
    writer.put("ssissi", group, member, epoch, None, None, -1 if epoch else 60_000)
    strings(writer, names)
    return bytes(writer.put("sslt", regex, None, -1 if epoch else 0).done())


def joining(group: str, member: str, process: str, subtopologies: list[dict[str, Any]]) -> bytes:
    """StreamsGroupHeartbeat v0."""
    writer = Writer(ApiKey.STREAMS_GROUP_HEARTBEAT, 0, flexible=True)
    writer.frame += encode(
        "streams_group_heartbeat",
        0,
        {
            "group_id": group,
            "member_id": member,
            "member_epoch": 0,
            "rebalance_timeout": 60_000,
            "topology": {"epoch": 0, "subtopologies": subtopologies},
            "process_id": process,
            "client_tags": [],
            **{f"{kind}_tasks": [] for kind in ("active", "standby", "warmup")},
        },
    )
    return bytes(writer.done())


def subscriptions(instance: uuid.UUID) -> bytes:
    writer = Writer(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS, 0, flexible=True)
    writer.frame += instance.bytes
    return bytes(writer.put("t").done())


def strings(writer: Writer, names: list[str] | None) -> None:
    """An array of them; None for null."""
    writer.length(-1 if names is None else len(names))
    for name in names or ():
        writer.string(name)


def topic(writer: Writer, name: str, partitions: Iterable[int]) -> None:
    indexes = list(partitions)
    writer.put("sl", name, len(indexes))
    writer.frame += b"".join(struct.pack(">i", index) for index in indexes)
    writer.tags()

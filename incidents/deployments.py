"""Incidents of applications that were deployed with something wrong: another group id, a codec that readers
lack, times of tomorrow, offsets of another cluster."""

import time
from typing import Any, Final

import trio

from .memberships import meanwhile
from .readers import begin, read
from .stage import IncidentStage, StoryError, story

_DAY_MS: Final = 86_400_000
_FOREIGN: Final = 5_000
_PACE_S: Final = 2.0


@story("group-renamed", brokers=1, libraries=("confluent-kafka", "kafkajs"), twin={})
async def group_renamed(stage: IncidentStage) -> None:
    """Applications are deployed with a new group id, and auto.offset.reset=latest: nobody gets what was
    written meanwhile."""
    groups = {"billing": "confluent-kafka", "shipping": "kafkajs"}
    await stage.create("orders")
    await read(stage, groups, 100)
    await stage.clients.send("kafkajs", "orders", 0, 50)
    names = {f"{group}-v2" if stage.caused else group: library for group, library in groups.items()}
    await begin(stage, names, auto_offset_reset="latest")
    stage.did("the applications were deployed again", groups=list(names))
    while any(not stage.clients.at.get(group, {}).get(("orders", 0), 0) > 150 for group in names):
        await stage.clients.send("kafkajs", "orders", 0, 1)
        await trio.sleep(0.5)
    await meanwhile(stage, "kafkajs", "orders", 0, seconds=10)
    await stage.caught_up("orders", groups=names)
    for member in stage.clients.members if stage.caused else ():
        first = member.began["orders", 0]
        old = member.group.removesuffix("-v2")
        stage.noticed(
            "records-skipped",
            group=member.group,
            before=old,
            topic="orders",
            partition=0,
            offset=100,
            end_offset=first,
        )


@story("records-invalid", brokers=1, libraries=("kafka-python",), since=(4, 0), twin={})
async def timestamps_ahead(stage: IncidentStage) -> None:
    """A producer writes times of tomorrow: since 4.0 these records are refused
    (message.timestamp.after.max.ms)."""
    await stage.create("orders")
    await stage.clients.member("kafka-python", "billing", ["orders"])
    await stage.clients.send("kafka-python", "orders", 0, 50)
    producer = await stage.clients.producer("kafka-python")
    with trio.move_on_after(35 if stage.caused else _PACE_S):
        while True:
            ahead = time.time_ns() // 1_000_000 + (_DAY_MS if stage.caused else 0)
            await producer.send("orders", 0, 2, timestamp_ms=ahead)
            await stage.clients.send("kafka-python", "orders", 0, 1)
            await trio.sleep(_PACE_S)
    if bool(producer.failed) != stage.caused:
        raise StoryError(f"{producer.failed}")
    if stage.caused:
        stage.refused(producer)
        stage.noticed("producer-refused", topic="orders", partition=0)
    await stage.caught_up("orders", groups=["billing"])


@story("commit-past-log-end", brokers=1, libraries=("kafka-python",), twin={})
async def foreign_offsets(stage: IncidentStage) -> None:
    """Somebody commits a group's offsets of another cluster, which are above the log end: the group is set
    back to the first record."""
    await stage.create("orders")
    await read(stage, {"billing": "kafka-python"}, 100)
    await stage.clients.send("kafka-python", "orders", 0, 20)
    offset = _FOREIGN if stage.caused else 100
    script = await stage.clients.joined("kafka-python", "billing", ["orders"], max_poll_records=1)
    while not await script.read():
        pass
    await script.commit_at([("orders", 0, offset)])
    await script.close()
    stage.did("a script committed offsets", group="billing", topic="orders", partition=0, offset=offset)
    stage.clients.at["billing"].clear()
    back = await stage.clients.member("kafka-python", "billing", ["orders"])
    await stage.caught_up("orders", groups=["billing"])
    await stage.clients.send("kafka-python", "orders", 0, 20)
    await stage.caught_up("orders", groups=["billing"])
    first = back.began["orders", 0]
    if first != (0 if stage.caused else 100):
        raise StoryError(f"it began at {first}")
    if stage.caused:
        where: dict[str, Any] = {"group": "billing", "topic": "orders", "partition": 0}
        stage.did("a group was set back", **where, from_offset=offset, offset=0)
        stage.noticed("position-back", **where, offset=0, end_offset=offset)


@story("codec-unknown", brokers=1, libraries=("kafkajs", "java"), twin={})
async def codec_unknown(stage: IncidentStage) -> None:
    """A producer begins to compress with a codec that the group's client does not have: the group stands
    still."""
    await stage.create("orders", 2)
    await stage.clients.member("kafkajs", "billing", ["orders"])
    for partition in (0, 1):
        await stage.clients.send("kafkajs", "orders", partition, 30)
    await stage.caught_up("orders", groups=["billing"])
    codec = "zstd" if stage.caused else "gzip"
    producer = await stage.clients.producer("java", compression_type=codec)
    at = await producer.send("orders", 1, 1, value=b"order " * 100)
    stage.did("a producer began to compress", topic="orders", partition=1, offset=at, codec=codec)
    await meanwhile(stage, "kafkajs", "orders", 0, 1)
    if stage.caused:
        if stage.clients.at["billing"].get(("orders", 1), 0) > at:
            raise StoryError("billing read what was compressed")
        stage.noticed("codec-unknown", group="billing")
    else:
        await stage.caught_up("orders", groups=["billing"])

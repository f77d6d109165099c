"""Incidents of what groups did not get: partitions that they found late, records that compaction or retention
removed, a reset by an administrator."""

import re
import time
from typing import Any, Final

import trio

from mockbroker.rig.batches import Record, batch

from .admin import EARLIEST
from .groups import reset
from .stage import IncidentStage, StoryError, story

_YEAR_MS: Final = 365 * 86_400_000
_OFTEN: Final = {"log.cleaner.backoff.ms": "1000"}
_AGE_MS: Final = 15_000


def skipped(stage: IncidentStage, topic: str) -> None:
    """Notes what groups did not get of a topic."""
    stage.jumps(topic)
    for event in stage.truth.events:
        if event["did"] == "a group was set on":
            where = {name: event[name] for name in ("group", "topic", "partition")}
            gap = {"offset": event["from_offset"], "end_offset": event["offset"]}
            stage.noticed("records-skipped", **where, **gap)


async def read(stage: IncidentStage, groups: dict[str, str], count: int, **config: str) -> None:
    """One member of each group, by group and library, reads `orders`-0, and goes."""
    await begin(stage, groups, **config)
    await stage.clients.send(next(iter(groups.values())), "orders", 0, count)
    await stage.caught_up("orders", groups=groups)
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(groups), topic="orders", partition=0, offset=count)


async def begin(stage: IncidentStage, groups: dict[str, str], **config: str) -> None:
    for group, library in groups.items():
        await stage.clients.member(library, group, ["orders"], **config)


@story(
    "partitions-found-late",
    brokers=1,
    libraries=("aiokafka", "confluent-kafka", "kafkajs"),
    twin={},
)
async def partitions_found_late(stage: IncidentStage) -> None:
    """A topic gets a partition. Until consumers with auto.offset.reset=latest know of it, records are written
    to it that they never get."""
    groups = {"billing": "aiokafka", "shipping": "confluent-kafka"}
    await stage.create("orders")
    config = {"metadata_max_age_ms": _AGE_MS, "auto_offset_reset": "latest" if stage.caused else "earliest"}
    members = {
        group: await stage.clients.member(library, group, ["orders"], **config)
        for group, library in groups.items()
    }
    while any(stage.clients.at[group].get(("orders", 0), 0) < 10 for group in groups):
        # Who begins at the latest offset reads only what is written after it has asked for that.
        await stage.clients.send("kafkajs", "orders", 0, 10)
        await trio.sleep(0.5)
    await stage.do(stage.admin.add_partitions, "orders", 2)
    stage.did("a topic got a partition", topic="orders", partition=1)
    await stage.until("its leader", lambda: stage.admin.state("orders", 1).leader > 0)
    producer = await stage.clients.producer("kafkajs")
    while await producer.send("orders", 1, 20) < 99:
        producer.failed.clear()  # its metadata are older
    while any(("orders", 1) not in stage.clients.at[group] for group in groups):
        await producer.send("orders", 1, 1)
        await trio.sleep(1)
    await producer.send("orders", 1, 20)
    await stage.caught_up("orders", groups=groups)
    for group, member in members.items() if stage.caused else ():
        first = member.began["orders", 1]
        if first == 0:
            raise StoryError(f"{group} knew of the partition at once")
        where: dict[str, Any] = {"group": group, "topic": "orders", "partition": 1}
        stage.did("a group began after the first records", **where, offset=first)
        stage.noticed("records-skipped", **where, offset=0, end_offset=first)


@story("compacted-before-read", config=_OFTEN, brokers=1, libraries=("franz-go", "kafka-go"), twin={})
async def compacted_before_read(stage: IncidentStage) -> None:
    """Compaction removes records that a group has not read yet, since later ones have the same keys."""
    groups = {"billing": "franz-go", "shipping": "kafka-go"}
    lag = "0" if stage.caused else "86400000"
    await stage.create(
        "orders",
        cleanup_policy="compact",
        segment_ms="1000",
        min_cleanable_dirty_ratio="0.01",
        min_compaction_lag_ms=lag,
    )
    await begin(stage, groups)
    producer = await stage.clients.producer("franz-go")
    for number in range(50):
        await producer.send("orders", 0, 1, key=f"first {number}")
    await stage.caught_up("orders", groups=groups)
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(groups), topic="orders", partition=0, offset=50)
    for key in [f"next {number % 10}" for number in range(100)]:
        await producer.send("orders", 0, 1, key=key)
    await trio.sleep(1.5)
    await producer.send("orders", 0, 1, key="last")  # begins a segment: only those before it are cleaned
    if stage.caused:
        await stage.until("the cleaner", lambda: _cleaned(stage) >= 150)
        stage.did("a log was compacted", topic="orders", partition=0, offset=50, end_offset=_cleaned(stage))
    await begin(stage, groups)
    await stage.caught_up("orders", groups=groups)
    skipped(stage, "orders")


def _cleaned(stage: IncidentStage) -> int:
    """The offset up to which `orders`-0 is cleaned."""
    file = stage.cluster.data(1) / "cleaner-offset-checkpoint"
    found = re.search(r"^orders 0 (\d+)$", file.read_text() if file.exists() else "", re.MULTILINE)
    return int(found[1]) if found else 0


@story(
    "timestamps-too-old",
    config={"log.retention.check.interval.ms": "30000"},
    brokers=1,
    libraries=("sarama", "kafka-python"),
    twin={},
)
async def timestamps_too_old(stage: IncidentStage) -> None:
    """An import writes records with timestamps of a year ago: retention deletes them at once, before groups
    have read them."""
    groups = {"billing": "sarama", "shipping": "kafka-python"}
    await stage.create("orders", retention_ms=str(7 * 86_400_000))
    at = time.time_ns() // 1_000_000 - (_YEAR_MS if stage.caused else 0)
    await stage.do(_import, stage, at, 50)
    if stage.caused:
        await stage.until("retention", lambda: _start(stage) == 50)  # the next is half a minute away
    await begin(stage, groups)
    await stage.do(_import, stage, at, 50)
    await stage.caught_up("orders", groups=groups)
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(groups), topic="orders", partition=0, offset=100)
    await stage.do(_import, stage, at, 400)
    if stage.caused:
        where: dict[str, Any] = {"topic": "orders", "partition": 0}
        old = {"offset": 100, "end_offset": 500, "timestamp_ms": at}
        stage.did("records were written with timestamps of long ago", **where, **old)
        await stage.until("retention", lambda: _start(stage) == 500)
        stage.did("retention deleted segments", **where, offset=500, lost=400)
    await begin(stage, groups)
    await stage.clients.send("sarama", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    skipped(stage, "orders")


def _start(stage: IncidentStage) -> int:
    return stage.admin.offset("orders", 0, EARLIEST)


def _import(stage: IncidentStage, at: int, count: int) -> None:
    for _ in range(0, count, 50):
        records = [Record(f"an old order {number}".encode(), timestamp=at) for number in range(50)]
        parts = [{"index": 0, "records": batch(records)}]
        fields = {"acks": -1, "timeout": 10_000, "topic_data": [{"name": "orders", "partition_data": parts}]}
        answer = stage.admin.ask(1, "produce", 8, fields)
        error = answer["responses"][0]["partition_responses"][0]["error_code"]
        if error != "NONE":
            raise StoryError(f"the import was refused: {error}")


@story("admin-reset", brokers=1, libraries=("kafkajs", "kafka-go"), twin={})
async def admin_reset_on(stage: IncidentStage) -> None:
    """`kafka-consumer-groups --reset-offsets --to-latest` sets groups on while they are away: they never get
    what lies between."""
    groups = {"billing": "kafkajs", "shipping": "kafka-go"}
    await stage.create("orders")
    await read(stage, groups, 300)
    await stage.clients.send("kafkajs", "orders", 0, 700)
    for group in groups if stage.caused else ():
        await reset(stage, group, "orders", 1000, "--to-latest")
        stage.did("an operator set offsets on", group=group, topic="orders", partition=0, offset=1000)
    await begin(stage, groups)
    await stage.clients.send("kafkajs", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    skipped(stage, "orders")

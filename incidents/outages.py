"""Incidents of brokers: the controller is away, the only replica of a partition is lost or away, a disk is
full, a segment is damaged."""

import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Final

import trio

from mockbroker.rig.real_broker import CONTROLLER

from .memberships import meanwhile, stands
from .readers import begin
from .stage import INTERNAL, LIMIT_S, IncidentStage, StoryError, story

_LONG_S: Final = 45
_HEAD: Final = struct.Struct(">qi")
_SMALL_MB: Final = 8


@story("controller-away", brokers=2, libraries=("kafkajs", "franz-go"), twin={})
async def controller_away(stage: IncidentStage) -> None:
    """While the only controller is down, a broker dies: nobody elects leaders for its partitions until the
    controller is back."""
    groups = {"billing": "kafkajs", "shipping": "franz-go"}
    await stage.create("orders", replicas=[2, 1])
    await begin(stage, groups)
    await stage.clients.send("franz-go", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    if stage.caused:
        await stage.do(stage.cluster.kill_broker, CONTROLLER)
        stage.did("the controller was killed")
    await stage.do(stage.cluster.kill_broker, 2)
    stage.did("a broker was killed", broker=2)
    if stage.caused:
        await trio.sleep(_LONG_S)
        if stage.admin.states("orders", 1)[0].leader != 2:
            raise StoryError("there is another leader")
        await stage.do(stage.cluster.start_controller)
        stage.did("the controller was started")
        stage.noticed("no-leader", topic="orders", partition=0)
    await stage.led("orders", 1)
    await stage.clients.send("franz-go", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    await stage.start(2)
    await stage.until("all in sync", lambda: stage.admin.state("orders").in_sync == (1, 2))


@story(
    "coordinator-away",
    config={"offsets.topic.replication.factor": "1", "offsets.topic.num.partitions": "1"},
    brokers=2,
    libraries=("kafkajs", "aiokafka"),
    twin={"offsets.topic.replication.factor": "2"},
)
async def coordinator_away(stage: IncidentStage) -> None:
    """The offsets topic has one replica. While its broker is down, groups can not commit."""
    groups = {"billing": "kafkajs", "shipping": "aiokafka"}
    await stage.create("orders", replicas=[1, 2])
    await begin(stage, groups)
    await stage.clients.send("kafkajs", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    coordinator = stage.admin.state(INTERNAL[0]).leader
    await stage.do(stage.cluster.kill_broker, coordinator)
    stage.did("a broker was killed", broker=coordinator, topic=INTERNAL[0], partition=0)
    await stage.until("another leader", lambda: stage.admin.state("orders").leader not in (-1, coordinator))
    await meanwhile(stage, "kafkajs", "orders", 0, seconds=_LONG_S)
    if stage.caused:
        stage.noticed("no-leader", topic=INTERNAL[0], partition=0)
    else:
        await stage.caught_up("orders", groups=groups)
    await stage.start(coordinator)
    await stage.clients.send("kafkajs", "orders", 0, 50)
    await stage.caught_up("orders", groups=groups)
    stage.jumps("orders")


@story("only-replica-lost", brokers=2, libraries=("sarama", "aiokafka"), twin={})
async def only_replica_lost(stage: IncidentStage) -> None:
    """The disk of a broker is replaced that had the only replica of a partition: its records are gone, and
    groups have committed offsets above its log's end."""
    groups = {"billing": "sarama", "shipping": "aiokafka"}
    await stage.create("orders", replicas=[2])
    await begin(stage, groups)
    await stage.clients.send("sarama", "orders", 0, 300)
    await stage.caught_up("orders", groups=groups)
    await stage.stop(2)
    if stage.caused:
        await stage.do(wipe, stage.cluster.data(2))
        stage.did("the disk of a broker was lost", broker=2, topic="orders", partition=0, lost=300)
    await stage.start(2)
    await stage.led("orders", 2)
    for group in groups if stage.caused else ():
        stage.clients.at[group].clear()
    await stage.clients.send("sarama", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    if stage.caused:
        stage.noticed("acknowledged-missing", topic="orders", partition=0, offset=0, end_offset=300)


def wipe(data: Path) -> None:
    """Leaves what `kafka-storage format` makes."""
    for each in data.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        elif each.name.endswith("-checkpoint") and "bootstrap" not in each.name:
            each.unlink()


@story(
    "disk-full",
    config={"log.segment.bytes": "1048576"},
    brokers=2,
    libraries=("kafka-go", "kafkajs"),
    twin={},
)
async def disk_full(stage: IncidentStage) -> None:
    """A broker shuts down because its disk is full. Partitions whose only replica it has are without a leader
    until there is room again."""
    await stage.stop(2)
    with _small(stage.cluster.data(2)) if stage.caused else nullcontext():
        await stage.start(2)
        await stage.create("orders", replicas=[2, 1])
        await stage.create("audit", replicas=[2])
        await stage.create("pictures", replicas=[2])
        await stage.clients.member("kafkajs", "billing", ["orders"])
        for topic in ("orders", "audit"):
            await stage.clients.send("kafkajs", topic, 0, 50)
        pictures = await stage.clients.producer("kafka-go", request_timeout_ms=5_000)
        with trio.move_on_after(LIMIT_S if stage.caused else 5):
            while stage.cluster.runs(2):
                await pictures.send("pictures", 0, 4, value=os.urandom(50_000))
        if stage.caused:
            await stage.until("the broker to be down", lambda: not stage.cluster.runs(2))
            stage.did("a disk was full", broker=2)
            await stage.led("orders", 1)
            writer = await stage.clients.producer("kafkajs")
            while await writer.send("orders", 0, 10) < 0:
                await trio.sleep(1)  # it may still be told that there is no leader
            await trio.sleep(_LONG_S)
            stage.noticed("no-leader", topic="audit", partition=0)
            await stage.do(_enlarge, stage.cluster.data(2))
            stage.did("the disk was enlarged", broker=2)
            await stage.do(stage.cluster.start_broker, 2)
            stage.did("a broker was started", broker=2)
        await stage.until("all in sync", lambda: stage.admin.state("orders").in_sync == (1, 2))
        await stage.led("audit", 2)
        await stage.clients.send("kafkajs", "orders", 0, 50)
        await stage.caught_up("orders", groups=["billing"])
        await stage.do(stage.copy)
        if stage.caused:
            await stage.stop(2)  # whose file system goes


@contextmanager
def _small(data: Path) -> Iterator[None]:
    """The folder lies on a file system of its own for a while (Linux, as root)."""
    kept = data.rename(data.with_name("kept"))
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_SMALL_MB}m", "none", str(data)], check=True)
    try:
        subprocess.run(["cp", "-a", "--sparse=always", f"{kept}/.", str(data)], check=True)
        yield
    finally:
        subprocess.run(["umount", "-l", str(data)], check=True)


def _enlarge(data: Path) -> None:
    subprocess.run(["mount", "-o", f"remount,size={2 * _SMALL_MB}m", str(data)], check=True)


@story("record-corrupt", brokers=1, libraries=("java", "franz-go", "sarama"), twin={})
async def record_corrupt(stage: IncidentStage) -> None:
    """A disk changes a byte of a segment: consumers that check get no further than the batch before it."""
    groups = {"billing": "java", "shipping": "franz-go", "reports": "sarama"}
    await stage.create("orders")
    await begin(stage, groups)
    await stage.clients.send("java", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    await stage.clients.leave(*stage.clients.members)
    await stage.clients.send("java", "orders", 0, 100)
    await stage.clients.send("sarama", "orders", 0, 20)
    offset = await stage.do(_damage if stage.caused else _first, stage.cluster.data(1) / "orders-0", 150)
    if stage.caused:
        stage.did("a segment was damaged", topic="orders", partition=0, offset=offset)
    await begin(stage, groups)
    await meanwhile(stage, "sarama", "orders", 0)
    for group in groups if stage.caused else ():
        await stands(stage, group, "orders", 0, offset)
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)


def _first(partition: Path, offset: int) -> int:
    """The base offset of the batch that has an offset."""
    return _batch(partition, offset)[0]


def _damage(partition: Path, offset: int) -> int:
    base, end = _batch(partition, offset)
    with (partition / f"{0:020}.log").open("r+b") as segment:
        segment.seek(end - 1)
        last = segment.read(1)[0]
        segment.seek(end - 1)
        segment.write(bytes([last ^ 0xFF]))
    return base


def _batch(partition: Path, offset: int) -> tuple[int, int]:
    """The base offset of the last batch that begins at or before an offset, and where the batch ends."""
    data = (partition / f"{0:020}.log").read_bytes()
    at, found = 0, (0, 0)
    while at + _HEAD.size < len(data):
        base, length = _HEAD.unpack_from(data, at)
        if base > offset:
            break
        at += _HEAD.size + length
        found = base, at
    return found

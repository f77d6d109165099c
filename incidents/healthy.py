"""What operators do every day: nothing of it is an incident."""

from collections.abc import Sequence
from functools import partial

from .admin import EARLIEST
from .cluster import BROKERS
from .stage import GROUPS, IncidentStage, story

_PARTITIONS = 3


async def _begin(stage: IncidentStage) -> None:
    await stage.create("orders", _PARTITIONS)
    await stage.groups(["orders"])


@story()
async def restart(stage: IncidentStage) -> None:
    """A broker is shut down and started again, while everybody writes and reads."""
    await _restarts(stage, (2,), 100)


@story()
async def rolling_restart(stage: IncidentStage) -> None:
    """Each broker in turn is shut down and started again, once all replicas are in sync."""
    await _restarts(stage, BROKERS, 50)


async def _restarts(stage: IncidentStage, nodes: Sequence[int], between: int) -> None:
    """Brokers in turn, each of which is away for so many records."""
    await _begin(stage)
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        for node in nodes:
            await stage.stop(node)
            await stage.more("orders", between)
            await stage.start(node)
            await stage.in_sync("orders")
        await stage.more("orders")
    await stage.caught_up("orders")


@story()
async def rebalance(stage: IncidentStage) -> None:
    """Members join and leave groups."""
    await _begin(stage)
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        joined = []
        for library, group in GROUPS.items():
            joined.append(await stage.clients.member(library, group, ["orders"]))
            stage.did("a member joined", group=group)
            await stage.more("orders", 60)
        for one in joined:
            await stage.clients.leave(one)
            stage.did("a member left", group=one.group)
            await stage.more("orders", 60)
    await stage.caught_up("orders")


@story()
async def preferred_election(stage: IncidentStage) -> None:
    """Leaders that moved when a broker was shut down are moved back by kafka-leader-election."""
    await _begin(stage)
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        before = await stage.do(stage.admin.states, "orders")
        await stage.stop(1)
        await stage.more("orders", 50)
        await stage.start(1)
        await stage.in_sync("orders")
        await stage.do(stage.admin.elect_preferred, "orders", *range(_PARTITIONS))
        stage.did("the preferred leaders were elected", topic="orders")
        for partition, state in before.items():
            await stage.led("orders", state.leader, partition)
        await stage.more("orders")
    await stage.caught_up("orders")


@story()
async def retention(stage: IncidentStage) -> None:
    """Segments are deleted after all groups have read them."""
    await stage.create("orders", 1, segment_ms="2000", retention_ms="3000")
    await stage.groups(["orders"])
    async with stage.traffic("orders"):
        await stage.until("retention", lambda: stage.admin.offset("orders", 0, EARLIEST) > 500)
        start = await stage.do(stage.admin.offset, "orders", 0, EARLIEST)
        stage.did("retention deleted segments", topic="orders", partition=0, offset=start)
        await stage.more("orders")
    await stage.caught_up("orders")


@story()
async def topics_come_and_go(stage: IncidentStage) -> None:
    """Topics are created and deleted, which nobody reads any more by then."""
    await _begin(stage)
    async with stage.traffic("orders", _PARTITIONS):
        for topic in ("invoices", "returns"):
            await stage.create(topic, 2)
            stage.did("a topic was created", topic=topic)
            await stage.clients.send("java", topic, 0, 50)
            reader = await stage.clients.member("java", f"{topic}-readers", [topic])
            await stage.until("its group", partial(_read, stage, topic))
            await stage.clients.leave(reader)
            await stage.do(stage.admin.delete, topic)
            stage.did("a topic was deleted", topic=topic)
            await stage.more("orders", 60)
    await stage.caught_up("orders")


def _read(stage: IncidentStage, topic: str) -> bool:
    return stage.clients.at[f"{topic}-readers"].get((topic, 0), 0) >= 50

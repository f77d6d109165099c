"""Incidents of logs: retention, DeleteRecords, a disk, a clock, a topic that is created again."""

from .admin import EARLIEST
from .outages import wipe
from .stage import GROUPS, IncidentStage, story


async def _away(stage: IncidentStage, read: int, *, replicas: tuple[int, ...] = (2, 3, 1)) -> None:
    """The groups have read and committed that many records of `orders`-0, and have gone."""
    await stage.create("orders", replicas=replicas)
    await stage.groups(["orders"])
    await stage.clients.send("java", "orders", 0, read)
    await stage.caught_up("orders")
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(GROUPS.values()), topic="orders", partition=0, offset=read)


async def _back(stage: IncidentStage) -> None:
    """They come back, and read on."""
    await stage.groups(["orders"])
    stage.did("the groups have come back", groups=list(GROUPS.values()))
    await stage.clients.send("java", "orders", 0, 100)
    await stage.caught_up("orders")
    stage.jumps("orders")


@story("retention-lowered", twin={})
async def retention_below_commit(stage: IncidentStage) -> None:
    """Somebody lowers the retention: what groups have not read is deleted while they are away. In the twin
    they have come back before."""
    await _away(stage, 300)
    await stage.clients.send("confluent-kafka", "orders", 0, 700)
    if not stage.caused:
        await _back(stage)
    end = await stage.do(stage.admin.offset, "orders")
    await stage.do(stage.admin.alter, "orders", retention_ms="1000")
    await stage.until("retention", lambda: stage.admin.offset("orders", 0, EARLIEST) == end)
    lost = end - 300 if stage.caused else 0
    stage.did("retention deleted segments", topic="orders", partition=0, offset=end, lost=lost)
    await stage.do(stage.admin.alter, "orders", retention_ms="86400000")
    if stage.caused:
        await _back(stage)


@story("records-deleted", twin={})
async def delete_records_past_a_follower(stage: IncidentStage) -> None:
    """DeleteRecords moves the log start past the end of a follower that is down, and past the groups; in the
    twin up to where these are."""
    await _away(stage, 500)
    await stage.stop(3)
    await stage.clients.send("confluent-kafka", "orders", 0, 500)
    first = 900 if stage.caused else 500
    await stage.do(stage.admin.delete_records, "orders", 0, first)
    stage.did("records were deleted by request", topic="orders", partition=0, offset=first, lost=first - 500)
    await stage.start(3)
    await stage.in_sync("orders")
    if stage.caused:
        stage.did("a follower began anew", topic="orders", partition=0, broker=3, offset=first)
    await _back(stage)


@story("follower-log-lost", twin={})
async def follower_disk_lost(stage: IncidentStage) -> None:
    """A broker comes back with an empty disk, and copies all it had from the leaders. Nothing is lost."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"])
    async with stage.traffic("orders"):
        await stage.more("orders", 500)
        await stage.stop(3)
        if stage.caused:
            await stage.do(wipe, stage.cluster.data(3))
            stage.did("the disk of a broker was lost", broker=3)
        await stage.more("orders", 100)
        await stage.start(3)
        await stage.in_sync("orders")
        await stage.more("orders", 100)
    await stage.caught_up("orders")
    stage.jumps("orders")


@story("clock-stepped", stepped=2, twin={})
async def clock_stepped(stage: IncidentStage) -> None:
    """The clock of a leader jumps two hours ahead: it deletes new records, to be kept for an hour."""
    await _away(stage, 300)
    await stage.do(stage.admin.alter, "orders", retention_ms="3600000")
    await stage.clients.send("confluent-kafka", "orders", 0, 700)
    if stage.caused:
        stage.cluster.step_clock(7200)
        stage.did("the clock of a broker was stepped", broker=2, seconds=7200)
        await stage.until("retention", lambda: stage.admin.offset("orders", 0, EARLIEST) == 1000)
        stage.did("retention deleted segments", topic="orders", partition=0, offset=1000, lost=700)
        stage.cluster.step_clock(0)
        stage.did("the clock of a broker was stepped", broker=2, seconds=-7200)
    await _back(stage)


@story("topic-recreated", twin={})
async def topic_recreated(stage: IncidentStage) -> None:
    """A topic is deleted and created again, with fewer records, while groups read it."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"])
    await stage.clients.send("java", "orders", 0, 1000)
    await stage.caught_up("orders")
    if stage.caused:
        await stage.do(stage.admin.delete, "orders")
        stage.did("a topic was deleted", topic="orders", lost=1000)
        await stage.until("the topic to be gone", lambda: not stage.admin.states("orders"))
        await stage.create("orders", replicas=[3, 1, 2])
        stage.did("a topic was created", topic="orders")
        for group in GROUPS.values():
            stage.clients.at[group].clear()
    await stage.clients.send("confluent-kafka", "orders", 0, 200)
    await stage.caught_up("orders")

"""Incidents of what is held up with nobody refused: a partition that an application pauses, a quota on a
consumer, a transaction whose coordinator is away."""

import os
from typing import Any, Final

import trio

from .memberships import meanwhile, read_all, stands
from .readers import begin
from .refusals import transaction
from .stage import INTERNAL, IncidentStage, StoryError, story

_LONG_S: Final = 75
_RATE: Final = 500
_PACE_S: Final = 0.5
_LARGE: Final = os.urandom(2_000)


@story("partition-paused", brokers=1, libraries=("aiokafka", "java"), twin={})
async def partition_paused(stage: IncidentStage) -> None:
    """An application pauses a partition until it has worked off what it has, and forgets to resume it."""
    groups = {"billing": "aiokafka", "shipping": "java"}
    await stage.create("orders", 2)
    members = [await stage.clients.joined(library, group, ["orders"]) for group, library in groups.items()]
    for partition in (0, 1):
        await stage.clients.send("java", "orders", partition, 60)
    for member in members:
        await read_all(stage, member, "orders", 0, 1)
        await member.hold_back("orders", 1)
        if stage.caused:
            stage.did("a partition was paused", group=member.group, topic="orders", partition=1, offset=60)
        else:
            await member.go_on("orders", 1)
        stage.clients.begin(member)
    await meanwhile(stage, "java", "orders", 0, 1, seconds=_LONG_S)
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)
    for group in groups if stage.caused else ():
        await stands(stage, group, "orders", 1, 60)
        if stage.clients.at[group]["orders", 0] <= 60:
            raise StoryError(f"{group} reads nothing")


@story("consumer-throttled", brokers=1, libraries=("java", "franz-go"), twin={})
async def consumer_throttled(stage: IncidentStage) -> None:
    """A quota lets a group read less than is written: its lag grows, though it works all the while. Another
    group keeps up."""
    groups = {"billing": "java", "shipping": "franz-go"}
    await stage.create("orders")
    await begin(stage, groups)
    producer = await stage.clients.producer("franz-go")
    await producer.send("orders", 0, 20, value=_LARGE)
    await stage.caught_up("orders", groups=groups)
    (slow,) = (each for each in stage.clients.members if each.group == "billing")
    name = slow.handle if stage.caused else "archive"
    await stage.do(stage.admin.limit_consumers, name, _RATE)
    stage.did("a quota was set", client=name, bytes_a_second=_RATE)
    with trio.move_on_after(_LONG_S + 30 if stage.caused else 3):
        while True:
            await producer.send("orders", 0, 3, value=_LARGE)
            await trio.sleep(_PACE_S)
    await stage.caught_up("orders", groups=["shipping"] if stage.caused else groups)
    if stage.caused:
        at, end = stage.clients.at["billing"]["orders", 0], await stage.do(stage.admin.offset, "orders")
        if not 20 < at < end - 100:
            raise StoryError(f"the group is at {at} of {end}")
        where: dict[str, Any] = {"group": "billing", "topic": "orders", "partition": 0}
        stage.noticed("lag-grows", **where, offset=at, end_offset=end)


@story(
    "transactions-away",
    config={
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.num.partitions": "1",
    },
    brokers=2,
    libraries=("java", "confluent-kafka"),
    twin={"transaction.state.log.replication.factor": "2"},
)
async def transactions_away(stage: IncidentStage) -> None:
    """The topic of transactions has one replica. While its broker is down nobody can end a transaction, and
    read_committed waits behind one that is open."""
    await stage.create("orders", replicas=[1, 2])
    await stage.clients.member("confluent-kafka", "billing", ["orders"], isolation_level="read_committed")
    producer = await stage.clients.producer("java", transactional_id="payments")
    await transaction(producer, 0)
    await stage.in_sync("orders")
    coordinator = stage.admin.state(INTERNAL[1]).leader
    stable = await stage.do(stage.admin.offset, "orders", committed=True)
    await stage.until(
        "the first records", lambda: stage.clients.at["billing"].get(("orders", 0), 0) >= stable - 1
    )
    await producer.do("begin")
    await producer.send("orders", 0, 20)
    await stage.do(stage.cluster.kill_broker, coordinator)
    stage.did("a broker was killed", broker=coordinator, topic=INTERNAL[1], partition=0)
    await stage.until("another leader", lambda: stage.admin.state("orders").leader not in (-1, coordinator))
    done = None
    if not stage.caused:
        done = await producer.do("commit-transaction")
    await meanwhile(stage, "confluent-kafka", "orders", 0, seconds=_LONG_S)
    if stage.caused:
        stage.did(
            "a transaction is open", topic="orders", partition=0, offset=stable, transactional_id="payments"
        )
        stage.noticed("no-leader", topic=INTERNAL[1], partition=0)
        await stands(stage, "billing", "orders", 0, stable)
        await stage.start(coordinator)
        done = await producer.do("commit-transaction")
    if done is None or done.error is not None:
        raise StoryError(f"the transaction failed: {done}")
    end = await stage.do(stage.admin.offset, "orders", committed=True)
    await stage.until(
        "a group that has read all", lambda: stage.clients.at["billing"].get(("orders", 0), 0) >= end - 1
    )
    if not stage.caused:
        await stage.start(coordinator)

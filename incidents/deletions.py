"""Incidents of what administrators delete or alter while it is in use: a topic, a group, which replicas may
be elected, how large batches may be."""

import os
from typing import Any, Final

import trio

from .groups import ask_tool
from .readers import begin, read
from .refusals import GIVES_UP, in_vain
from .stage import IncidentStage, StoryError, story

_PACE_S: Final = 1.0
_LONG_S: Final = 35
_LARGE: Final = os.urandom(5_000)


@story("topic-deleted", brokers=1, libraries=("java", "franz-go", "confluent-kafka"), twin={})
async def topic_deleted(stage: IncidentStage) -> None:
    """Somebody deletes a topic that is in use: its producers are refused, its groups get nothing any more."""
    groups = {"billing": "java", "shipping": "confluent-kafka"}
    for topic in ("orders", "archive"):
        await stage.create(topic)
    await begin(stage, groups)
    await stage.clients.send("franz-go", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    topic = "orders" if stage.caused else "archive"
    producer = await stage.clients.producer("franz-go", **GIVES_UP)
    await producer.send("orders", 0, 1)
    await stage.do(stage.admin.delete, topic)
    stage.did("a topic was deleted", topic=topic)
    await in_vain(stage, [producer], "producer-refused")
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)


@story("group-deleted", brokers=1, libraries=("kafka-python", "kafka-go"), twin={})
async def group_deleted(stage: IncidentStage) -> None:
    """`kafka-consumer-groups --delete` deletes groups while they are away: one skips what was written
    meanwhile, the other one reads all again, as auto.offset.reset says."""
    groups = {"billing": "kafka-python", "shipping": "kafka-go"}
    await stage.create("orders")
    await read(stage, groups, 300)
    await stage.clients.send("kafka-go", "orders", 0, 200)
    if stage.caused:
        for group in groups:
            said = await ask_tool(stage, "--delete", "--group", group)
            if "successful" not in said:
                raise StoryError(said)
            stage.did("a group was deleted", group=group)
        stage.clients.at["shipping"].clear()
    late = await stage.clients.member("kafka-python", "billing", ["orders"], auto_offset_reset="latest")
    early = await stage.clients.member("kafka-go", "shipping", ["orders"])
    while ("orders", 0) not in late.began or ("orders", 0) not in early.began:
        await stage.clients.send("kafka-go", "orders", 0, 1)
        await trio.sleep(_PACE_S)
    await stage.caught_up("orders", groups=groups)
    began = late.began["orders", 0], early.began["orders", 0]
    if (began != (300, 300)) != stage.caused:
        raise StoryError(f"the groups began at {began}")
    if stage.caused:
        where: dict[str, Any] = {"topic": "orders", "partition": 0}
        stage.noticed("records-skipped", group="billing", **where, offset=300, end_offset=began[0])
        stage.noticed("position-back", group="shipping", **where, offset=began[1], end_offset=300)


@story(
    "unclean-election",
    config={"unclean.leader.election.interval.ms": "5000"},
    libraries=("sarama", "confluent-kafka"),
    twin={},
)
async def unclean_allowed(stage: IncidentStage) -> None:
    """The last replica in sync has died. Somebody sets unclean.leader.election.enable of the topic rather
    than wait for it: another replica leads at once, without the last records."""
    groups = {"billing": "sarama", "shipping": "confluent-kafka"}
    await stage.create("orders", replicas=[2, 3])
    await begin(stage, groups)
    kept = await stage.clients.send("sarama", "orders", 0, 200) + 1
    await stage.caught_up("orders", groups=groups)
    await stage.stop(3)
    await stage.until("an ISR of broker 2", lambda: stage.admin.state("orders").in_sync == (2,))
    end = await stage.clients.send("sarama", "orders", 0, 150) + 1
    await stage.caught_up("orders", groups=groups)
    await stage.do(stage.cluster.kill_broker, 2)
    stage.did("a broker was killed", broker=2)
    await stage.start(3)
    if stage.caused:
        await stage.until("no leader", lambda: stage.admin.states("orders", 3)[0].leader == -1)
        await trio.sleep(_LONG_S)
        await stage.do(stage.admin.alter, "orders", unclean_leader_election_enable="true")
        stage.did(
            "a topic was altered", topic="orders", setting="unclean.leader.election.enable", value="true"
        )
        await stage.led("orders", 3)
        state = await stage.do(stage.admin.state, "orders")
        if await stage.do(stage.admin.offset, "orders") != kept:
            raise StoryError("the log does not end where broker 3 was stopped")
        where: dict[str, Any] = {"topic": "orders", "partition": 0}
        lost = {"offset": kept, "lost": end - kept}
        stage.did("an out-of-sync replica was elected", **where, broker=3, leader_epoch=state.epoch, **lost)
        stage.noticed("no-leader", **where)
        stage.noticed("acknowledged-missing", **where, offset=kept, end_offset=end)
        for group in groups:
            stage.clients.at[group].clear()
    await stage.start(2)
    await stage.until("both in sync", lambda: stage.admin.state("orders").in_sync == (2, 3))
    await stage.clients.send("sarama", "orders", 0, 200)
    await stage.caught_up("orders", groups=groups)


@story("record-too-large", brokers=1, libraries=("java", "kafka-go"), twin={})
async def max_bytes_lowered(stage: IncidentStage) -> None:
    """Somebody lowers max.message.bytes of a topic below what its producers write: they are refused until it
    is raised again."""
    await stage.create("orders", 2)
    await stage.clients.member("kafka-go", "billing", ["orders"])
    producers = [await stage.clients.producer(each, **GIVES_UP) for each in ("java", "kafka-go")]
    for each in producers:
        for partition in (0, 1):
            await each.send("orders", partition, 10, value=_LARGE)
    size = "2000" if stage.caused else "20000"
    await stage.do(stage.admin.alter, "orders", max_message_bytes=size)
    stage.did("a topic was altered", topic="orders", setting="max.message.bytes", value=size)
    await in_vain(stage, producers, "producer-refused", value=_LARGE)
    await stage.do(stage.admin.alter, "orders", max_message_bytes="1048588")
    again = await stage.clients.producer("kafka-go")
    await again.send("orders", 0, 5, value=_LARGE)
    if again.failed:
        raise StoryError(f"records are still refused: {again.failed[0]}")
    await stage.caught_up("orders", groups=["billing"])

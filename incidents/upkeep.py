"""Incidents of a cluster's upkeep: one of several disks, a virtual machine
that is suspended, a password, a topic that brokers create anew, a limit of a topic's size."""

import os
from typing import Any, Final

import trio

from .admin import EARLIEST
from .memberships import meanwhile
from .readers import begin, skipped
from .refusals import GIVES_UP
from .stage import IncidentStage, StoryError, story

_LONG_S: Final = 75
_PACE_S: Final = 2.0
_QUICK: Final = {"delivery_timeout_ms": 3_000, "request_timeout_ms": 2_000, "linger_ms": 0}


@story(
    "disk-failed",
    brokers=2,
    libraries=("kafkajs", "kafka-python"),
    topics=("orders", "audit"),
    twin={},
)
async def disk_failed(stage: IncidentStage) -> None:
    """One of two disks of a broker fails, and the broker goes on without it. What had its only replica there
    has no leader until the disk is back."""
    await stage.create("first")
    await stage.clients.member("kafka-python", "archive", ["first"])
    await stage.clients.send("kafkajs", "first", 0, 5)
    await stage.caught_up("first", groups=["archive"])
    disk = stage.cluster.add_disk(2)
    await stage.stop(2)
    await stage.start(2)
    await stage.create("orders", replicas=[2, 1])
    await stage.create("audit", replicas=[2])
    for topic in ("orders", "audit"):
        if not (disk / f"{topic}-0").exists():
            raise StoryError(f"{topic}-0 is on the other disk")
    groups = {"billing": "kafkajs", "shipping": "kafka-python"}
    await begin(stage, groups)
    producers = {topic: await stage.clients.producer("kafkajs") for topic in ("orders", "audit")}
    for topic, each in producers.items():
        await each.send(topic, 0, 50)
    if stage.caused:
        away = disk.rename(disk.with_name("away"))
        stage.did("a disk failed", broker=2)
        await stage.until("another leader", lambda: stage.admin.state("orders").leader == 1)
        writer = await stage.clients.producer("kafkajs")
        while await writer.send("orders", 0, 10) < 0:
            await trio.sleep(1)  # it may still be told of the old leader
        with trio.move_on_after(_LONG_S):
            while True:
                await producers["audit"].send("audit", 0, 2)
                await trio.sleep(_PACE_S)
        if not producers["audit"].failed or not stage.cluster.runs(2):
            raise StoryError("audit was written, or the broker is down")
        stage.noticed("no-leader", topic="audit", partition=0)
        await stage.stop(2)
        away.rename(disk)
        await stage.start(2)
    await stage.until("all in sync", lambda: stage.admin.state("orders").in_sync == (1, 2))
    await stage.led("audit", 2)
    await stage.clients.send("kafkajs", "orders", 0, 50)
    await stage.caught_up("orders", groups=groups)


@story("broker-suspended", libraries=("java", "confluent-kafka"), twin={})
async def broker_suspended(stage: IncidentStage) -> None:
    """The virtual machine of a broker is suspended for twenty seconds, as for a snapshot. Others lead after
    five seconds, but producers that wait for three only give their records up."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.clients.member("java", "billing", ["orders"])
    producers = [await stage.clients.producer(each, **_QUICK) for each in ("java", "confluent-kafka")]
    for each in producers:
        await each.send("orders", 0, 50)
    if any(each.failed for each in producers):
        raise StoryError("the machine is too slow: records timed out before")
    if stage.caused:
        stage.cluster.hold(2)
        stage.did("a broker was suspended", broker=2)
    with trio.move_on_after(20 if stage.caused else _PACE_S):
        while True:
            for each in producers:
                await each.send("orders", 0, 2)
            await trio.sleep(0.5)
    if stage.caused:
        stage.cluster.let_go(2)
        stage.did("it went on", broker=2)
        for each in producers:
            if not each.failed:
                raise StoryError(f"{each.handle} was not held up")
            stage.refused(each)
            stage.noticed("producer-refused", client=each.handle)
        if stage.admin.state("orders").leader == 2:
            raise StoryError("nobody else leads")
    await stage.in_sync("orders")
    await stage.clients.send("java", "orders", 0, 100)
    await stage.caught_up("orders", groups=["billing"])


@story("login-refused", brokers=1, libraries=("java", "franz-go", "kafkajs"), login=True, twin={})
async def password_changed(stage: IncidentStage) -> None:
    """The password of a user is changed (SCRAM) before that of its applications is: once their sessions end,
    they are refused. In the twin it is set to what it was."""
    groups = {"billing": "java", "shipping": "franz-go", "reports": "kafkajs"}
    await stage.do(stage.admin.set_password, "payments", "first")
    login: dict[str, Any] = {
        "bootstrap_servers": stage.cluster.login_servers[0],
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "payments",
        "sasl_password": "first",
    }
    await stage.create("orders")
    members = {
        group: await stage.clients.member(library, group, ["orders"], **login)
        for group, library in groups.items()
    }
    await stage.clients.send("java", "orders", 0, 50)
    await stage.caught_up("orders", groups=groups)
    await stage.do(stage.admin.set_password, "payments", "second" if stage.caused else "first")
    stage.did("a password was set", user="payments")
    await meanwhile(stage, "java", "orders", 0, seconds=130)
    if not stage.caused:
        await trio.sleep(65)  # all have logged in again
        await stage.clients.send("java", "orders", 0, 10)
        await stage.caught_up("orders", groups=groups)
        return
    end = await stage.do(stage.admin.offset, "orders")
    for group, member in members.items():
        if stage.clients.at[group]["orders", 0] >= end:
            raise StoryError(f"{group} goes on")
        told = member.refused[0] if member.refused else ""
        stage.did("a member was refused", group=group, client=member.handle, error=told)
        stage.noticed("member-refused", group=group, client=member.handle)


@story(
    "topic-recreated",
    config={"auto.create.topics.enable": "true"},
    libraries=("java", "confluent-kafka"),
    twin={},
)
async def topic_created_anew(stage: IncidentStage) -> None:
    """Somebody deletes a topic that is in use, and brokers create it for those who ask for it, with one
    partition in place of three: producers that write to the others are refused."""
    groups = {"billing": "java", "shipping": "confluent-kafka"}
    await stage.create("orders", 3)
    await begin(stage, groups)
    producers = [
        await stage.clients.producer("java", **GIVES_UP, max_block_ms=5_000),
        await stage.clients.producer("confluent-kafka", **GIVES_UP),
    ]
    for each in producers:
        for partition in range(3):
            await each.send("orders", partition, 20)
    await stage.caught_up("orders", groups=groups)
    if stage.caused:
        await stage.do(stage.admin.delete, "orders")
        stage.did("a topic was deleted", topic="orders", lost=120)
        for group in groups:
            stage.clients.at[group].clear()
        await stage.until("the topic to be back", lambda: len(stage.admin.states("orders")) == 1)
        stage.did("a broker created the topic", topic="orders", partitions=1)
    for each in producers:
        with trio.move_on_after(45 if stage.caused else _PACE_S):
            while True:
                for partition in range(3):
                    await each.send("orders", partition, 2)
                await trio.sleep(_PACE_S)
        if bool(each.failed) != stage.caused:
            raise StoryError(f"{each.handle}: {each.failed}")
        if stage.caused:
            told: dict[str, Any] = {
                "client": each.handle,
                "count": len(each.failed),
                "error": each.failed[-1],
            }
            stage.did("records were refused", topic="orders", partition=2, **told)
            stage.noticed("producer-refused", client=each.handle)
    if not stage.caused:
        await stage.caught_up("orders", groups=groups)
        return
    end = await stage.do(stage.admin.offset, "orders")
    for group in groups:
        at = stage.clients.at[group].get(("orders", 0), 0)
        if at < end - 20:
            stage.did("a group stands still", group=group, topic="orders", partition=0, offset=at)


@story("retention-by-size", brokers=1, libraries=("franz-go", "kafkajs"), twin={})
async def retention_by_size(stage: IncidentStage) -> None:
    """More is written while groups are away than retention.bytes keeps, which nobody has altered: what they
    have not read is deleted. In the twin there is no such limit."""
    groups = {"billing": "franz-go", "shipping": "kafkajs"}
    limit = "3000" if stage.caused else "-1"
    await stage.create("orders", retention_bytes=limit, segment_ms="1000")
    await begin(stage, groups)
    await stage.clients.send("kafkajs", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(groups), topic="orders", partition=0, offset=100)
    producer = await stage.clients.producer("franz-go")
    for _ in range(14):
        await producer.send("orders", 0, 50, value=os.urandom(150))
        await trio.sleep(1.2)
    await producer.send("orders", 0, 1)
    if stage.caused:
        await stage.until("retention", lambda: stage.admin.offset("orders", 0, EARLIEST) > 500)
        await trio.sleep(3)
        start = await stage.do(stage.admin.offset, "orders", 0, EARLIEST)
        await trio.sleep(3)
        if start != await stage.do(stage.admin.offset, "orders", 0, EARLIEST):
            raise StoryError("retention goes on")
        stage.did(
            "retention by size deleted segments", topic="orders", partition=0, offset=start, lost=start - 100
        )
    await begin(stage, groups)
    await stage.caught_up("orders", groups=groups)
    skipped(stage, "orders")

"""Incidents of groups whose members don't go together: one id for two applications, an assignor that others
lack, an instance id that two have, a group that is full, members that pause, a record that can't be read."""

import re
from typing import Any, Final

import trio

from .clients import Member
from .stage import IncidentStage, StoryError, story

_LONG_S: Final = 66
"""What stands still for longer than a minute, nobody takes for a pause."""
_PACE_S: Final = 2.0


async def meanwhile(
    stage: IncidentStage, library: str, topic: str, *partitions: int, seconds: float = _LONG_S
) -> None:
    """Somebody writes on for so long; in a twin, in which nothing stands still, for a moment."""
    with trio.move_on_after(seconds if stage.caused else _PACE_S):
        while True:
            for partition in partitions:
                await stage.clients.send(library, topic, partition, 5)
            await trio.sleep(_PACE_S)


async def stands(stage: IncidentStage, group: str, topic: str, partition: int, offset: int) -> None:
    """Notes that a group did not get past an offset. StoryError if it did."""
    if stage.clients.at[group].get((topic, partition), 0) > offset:
        raise StoryError(f"{group} got past {offset} of {topic}-{partition}")
    end = await stage.do(stage.admin.offset, topic, partition)
    stage.noticed("lag-stands", group=group, topic=topic, partition=partition, offset=offset, end_offset=end)


async def read_all(stage: IncidentStage, member: Member, topic: str, *partitions: int) -> None:
    """By a member that reads only when it is told to."""
    for partition in partitions:
        end = await stage.do(stage.admin.offset, topic, partition)
        while member.at.get((topic, partition), 0) < end:
            if records := await member.read():
                await member.commit(records)


async def refused(stage: IncidentStage, member: Member, seconds: float = 40.0) -> str:
    """The error that a member gets again and again for so long."""
    with trio.move_on_after(seconds):
        while True:
            if await member.read() is None:
                await trio.sleep(_PACE_S)
    if not member.refused:
        raise StoryError(f"{member.handle} was not refused")
    return member.refused[0]


@story("applications-share-a-group", brokers=1, libraries=("kafkajs",), twin={})
async def applications_share_a_group(stage: IncidentStage) -> None:
    """Two applications that read other topics have one group id: the leader assigns partitions of its own
    topic to both, and the other application does not read them."""
    for topic in ("orders", "invoices"):
        await stage.create(topic, 2)
    await stage.clients.member("kafkajs", "office", ["orders"])
    for topic in ("orders", "invoices"):
        for partition in (0, 1):
            await stage.clients.send("kafkajs", topic, partition, 50)
    await stage.caught_up("orders", groups=["office"])
    other = "office" if stage.caused else "archive"
    await stage.clients.member("kafkajs", other, ["invoices"])
    stage.did("another application joined", group=other, topics=["invoices"])
    if not stage.caused:
        await stage.caught_up("invoices", groups=["archive"])
        await meanwhile(stage, "kafkajs", "orders", 0, 1)
        await stage.caught_up("orders", groups=["office"])
        return
    log = stage.logs / "kafkajs.log"
    await stage.until("a warning", lambda: "received unsubscribed topics" in log.read_text())
    await meanwhile(stage, "kafkajs", "orders", 0, 1)
    at = stage.clients.at["office"]
    for topic in ("orders", "invoices"):
        for partition in (0, 1):
            end = await stage.do(stage.admin.offset, topic, partition)
            read = at.get((topic, partition), 0)
            if read < end:
                stage.did("a partition is read by nobody", group="office", topic=topic, partition=partition)
                if read:  # of what it has never read it has no commit
                    await stands(stage, "office", topic, partition, read)
    if not stage.truth.symptoms:
        raise StoryError(f"all is read: {at}")


@story("assignors-differ", brokers=1, libraries=("sarama", "kafkajs"), twin={})
async def assignors_differ(stage: IncidentStage) -> None:
    """A member joins a group with none of the assignors that its members have, and is refused."""
    await stage.create("orders", 2)
    await stage.clients.member("sarama", "billing", ["orders"])
    await stage.clients.send("sarama", "orders", 0, 50)
    await stage.caught_up("orders", groups=["billing"])
    if stage.caused:
        late = await stage.clients.joined("kafkajs", "billing", ["orders"])
        error = await refused(stage, late)
        stage.did("a member was refused", group="billing", client=late.handle, error=error)
        stage.noticed("member-refused", group="billing", client=late.handle)
    else:
        await stage.clients.member("kafkajs", "shipping", ["orders"])
        await stage.caught_up("orders", groups=["shipping"])
    await meanwhile(stage, "sarama", "orders", 0, 1, seconds=5)
    await stage.caught_up("orders", groups=["billing"])


@story("record-unreadable", brokers=1, libraries=("aiokafka",), twin={})
async def record_unreadable(stage: IncidentStage) -> None:
    """A member fails on one record again and again: its partition stands still, the other one does not."""
    await stage.create("orders", 2)
    await stage.clients.member("aiokafka", "billing", ["orders"], fails_on="{")
    for partition in (0, 1):
        await stage.clients.send("aiokafka", "orders", partition, 30)
    await stage.caught_up("orders", groups=["billing"])
    producer = await stage.clients.producer("aiokafka")
    if stage.caused:
        at = await producer.send("orders", 1, 1, value=b'{"order": 31}')
        stage.did("a record was written that the group can't read", topic="orders", partition=1, offset=at)
    await meanwhile(stage, "aiokafka", "orders", 0, 1)
    if stage.caused:
        await stands(stage, "billing", "orders", 1, at)
    else:
        await stage.caught_up("orders", groups=["billing"])


@story("instance-id-shared", brokers=1, libraries=("franz-go", "java"), twin={})
async def instance_id_shared(stage: IncidentStage) -> None:
    """Two members of a group have the same group.instance.id: the second takes the place of the first."""
    await stage.create("orders", 2)
    for library, group in (("franz-go", "billing"), ("java", "shipping")):
        first = await stage.clients.joined(library, group, ["orders"], group_instance_id=f"{group}-0")
        for partition in (0, 1):
            await stage.clients.send("franz-go", "orders", partition, 30)
        await read_all(stage, first, "orders", 0, 1)
        instance = f"{group}-{0 if stage.caused else 1}"
        await stage.clients.member(library, group, ["orders"], group_instance_id=instance)
        if stage.caused:
            stage.did(
                "a second member joined with the instance id of the first", group=group, instance=instance
            )
            error = await refused(stage, first)
            stage.did("a member was fenced", group=group, client=first.handle, error=error)
            stage.noticed("member-refused", group=group, client=first.handle)
        await first.close()
    await meanwhile(stage, "franz-go", "orders", 0, 1, seconds=5)
    await stage.caught_up("orders", groups=["billing", "shipping"])


@story(
    "group-full",
    config={"group.max.size": "2"},
    brokers=1,
    libraries=("kafka-go",),
    twin={"group.max.size": "10"},
)
async def group_full(stage: IncidentStage) -> None:
    """A group has as many members as group.max.size allows: the next one is refused."""
    await stage.create("orders", 3)
    for _ in range(2):
        await stage.clients.member("kafka-go", "billing", ["orders"])
    for partition in range(3):
        await stage.clients.send("kafka-go", "orders", partition, 30)
    await stage.caught_up("orders", groups=["billing"])
    third = await stage.clients.joined("kafka-go", "billing", ["orders"])
    stage.did("a third member joins", group="billing", client=third.handle)
    with trio.move_on_after(40 if stage.caused else 10):
        while True:
            if records := await third.read():
                await third.commit(records)
    told = re.search(r"\[81\].*", (stage.logs / "kafka-go.log").read_text())
    if stage.caused:
        if told is None:
            raise StoryError("the third member was not refused")
        stage.did("a member was refused", group="billing", client=third.handle, error=told[0])
        stage.noticed("member-refused", group="billing")
    for partition in range(3):
        await stage.clients.send("kafka-go", "orders", partition, 30)
    await third.close()
    await stage.caught_up("orders", groups=["billing"])


@story("session-timeout", brokers=1, libraries=("sarama",), twin={})
async def session_timeout_short(stage: IncidentStage) -> None:
    """A member's process stands still for longer than its session timeout, again and again: each time it is
    put out, and another member takes its partitions over."""
    own: dict[str, Any] = {"session_timeout_ms": 6_000 if stage.caused else 45_000}
    await stage.create("orders", 2)
    await stage.clients.start("sarama", "sarama-pausing")
    await stage.clients.member("sarama-pausing", "billing", ["orders"], **own)
    await stage.clients.member("sarama", "billing", ["orders"], **own)
    for turn in range(1, 4):
        for partition in (0, 1):
            await stage.clients.send("sarama", "orders", partition, 30)
        await stage.caught_up("orders", groups=["billing"])
        stage.clients.hold("sarama-pausing")
        if stage.caused:
            await stage.until("a member to be put out", lambda turn=turn: _put_out(stage) >= turn)  # type: ignore[misc]
            stage.did("a member was put out for its silence", group="billing")
            await stage.clients.send("sarama", "orders", 0, 10)
        else:
            await trio.sleep(8)
        stage.clients.let_go("sarama-pausing")
        await stage.caught_up("orders", groups=["billing"])
    await stage.clients.send("sarama", "orders", 1, 10)
    await stage.caught_up("orders", groups=["billing"])


def _put_out(stage: IncidentStage) -> int:
    return len(re.findall(r"has failed, removing it from the group", stage.cluster.log(1)))

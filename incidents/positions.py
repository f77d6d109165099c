"""Incidents of groups that lose their place: their offsets lie where nobody looks any more, were deleted, or
were overwritten by the application itself."""

import time
from collections.abc import Iterable
from typing import Any, Final

import trio

from .clients import Member
from .memberships import read_all
from .readers import begin, read, skipped
from .stage import INTERNAL, IncidentStage, StoryError, story

_LIVES_S: Final = 5.0
_LONG_S: Final = 75
_PACE_S: Final = 2.0
_RETENTION: Final = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"}


def set_back(stage: IncidentStage, group: str, topic: str, partition: int, was: int, now: int) -> None:
    """Notes that a group is given records again."""
    where: dict[str, Any] = {"group": group, "topic": topic, "partition": partition}
    stage.did("a group was set back", **where, from_offset=was, offset=now)
    stage.noticed("position-back", **where, offset=now, end_offset=was)


def jumped(stage: IncidentStage, *expected: tuple[str, int, int]) -> None:
    """Notes where members of groups began in `orders`-0: group, where it had committed, where it begins
    (as far as that is known: -1). StoryError if it is not so."""
    skipped(stage, "orders")
    for group, was, now in expected:
        (member,) = (each for each in stage.clients.members if each.group == group)
        came = member.began["orders", 0]
        if came == was or now not in (-1, came):
            raise StoryError(f"{group} began at {came}")
        if came < was:
            place: dict[str, Any] = {"group": group, "topic": "orders", "partition": 0}
            stage.noticed("position-back", **place, offset=came, end_offset=was)


async def restart(stage: IncidentStage, *nodes: int) -> None:
    """Brokers in turn."""
    for node in nodes:
        await stage.in_sync("orders")
        await stage.stop(node)
        await stage.start(node)
    await stage.in_sync("orders")


async def read_more(stage: IncidentStage, library: str, groups: Iterable[str], end: int) -> None:
    """Writes until groups have read more than `end` records of `orders`-0: who begins at the latest offset
    reads only what is written after it has asked for that."""
    while any(stage.clients.at[group].get(("orders", 0), 0) <= end for group in groups):
        await stage.clients.send(library, "orders", 0, 5)
        await trio.sleep(0.5)
    await stage.caught_up("orders", groups=groups)


@story(
    "offsets-topic-expanded",
    config={"offsets.topic.num.partitions": "1"},
    brokers=2,
    libraries=("confluent-kafka", "franz-go"),
    since=(4, 0),
    twin={},
)
async def offsets_topic_expanded(stage: IncidentStage) -> None:
    """Somebody adds partitions to __consumer_offsets. From the next restart on, groups belong to others of
    them, in which they have no offsets (told of KoP in streamnative/kop#795). With a broker of 3.9.2 a group
    went on where it was."""
    groups = {"billing": "confluent-kafka", "shipping": "franz-go"}
    await stage.create("orders")
    await read(stage, groups, 200)
    await stage.clients.send("franz-go", "orders", 0, 100)
    if stage.caused:
        await stage.do(stage.admin.add_partitions, INTERNAL[0], 6)
        stage.did("a topic got partitions", topic=INTERNAL[0], partitions=6)
    await restart(stage, *stage.cluster.nodes)
    await begin(stage, groups)
    await stage.caught_up("orders", groups=groups)
    if stage.caused:
        jumped(stage, ("billing", 200, 0), ("shipping", 200, 0))


@story(
    "offsets-topic-retention",
    config={"offsets.topic.num.partitions": "1"},
    brokers=2,
    libraries=("java", "kafkajs"),
    twin={},
)
async def offsets_topic_retention(stage: IncidentStage) -> None:
    """Somebody sets cleanup.policy of __consumer_offsets to delete, with a short retention. The coordinator
    remembers the offsets until it is restarted; then one group reads all again, and the other one skips what
    was written meanwhile."""
    resets = {"billing": "earliest", "reports": "latest"}
    libraries = {"billing": "java", "reports": "kafkajs"}
    await stage.create("orders")
    await read(stage, libraries, 200)
    policy = "delete" if stage.caused else "compact"
    altered = {"cleanup_policy": policy, "retention_ms": "1000"}
    await stage.do(stage.admin.alter, INTERNAL[0], **altered)
    stage.did("a topic was altered", topic=INTERNAL[0], setting="cleanup.policy", value=policy)
    if stage.caused:
        await stage.until("retention", lambda: _begins_late(stage))
        stage.did("retention deleted segments", topic=INTERNAL[0], partition=0)
    await stage.clients.send("java", "orders", 0, 100)
    await restart(stage, stage.admin.state(INTERNAL[0]).leader)
    for group, library in libraries.items():
        await stage.clients.member(library, group, ["orders"], auto_offset_reset=resets[group])
    await read_more(stage, "java", libraries, 300)
    if stage.caused:
        jumped(stage, ("billing", 200, 0), ("reports", 200, -1))


def _begins_late(stage: IncidentStage) -> bool:
    """Whether all that was in the offsets topic is deleted."""
    folders = [stage.cluster.data(node) / f"{INTERNAL[0]}-0" for node in stage.cluster.nodes]
    return all(not each.stat().st_size for folder in folders for each in folder.glob("*.log"))


@story("seeks-to-beginning", brokers=1, libraries=("java", "aiokafka"), twin={})
async def seeks_to_beginning(stage: IncidentStage) -> None:
    """An application seeks to the beginning whenever it is given its partition, as its first version had to:
    each restart reads all again (as asked for in dpkp/kafka-python#1191)."""
    groups = {"billing": "java", "shipping": "aiokafka"}
    await stage.create("orders")
    for turn in range(3):
        await stage.clients.send("java", "orders", 0, 60)
        for group, library in groups.items():
            before = stage.clients.at.get(group, {}).get(("orders", 0), 0)
            member = await stage.clients.joined(library, group, ["orders"], max_poll_records=20)
            if stage.caused:
                await member.go_to_beginning("orders", 0)
            await read_all(stage, member, "orders", 0)
            lives = time.monotonic() + _LIVES_S
            while time.monotonic() < lives:
                await member.read()
            if turn and stage.caused:
                if member.began["orders", 0]:
                    raise StoryError(f"{group} began at {member.began}")
                set_back(stage, group, "orders", 0, before, 0)
            await member.close()


@story("commits-out-of-order", brokers=1, libraries=("kafka-python", "kafkajs"), twin={})
async def commits_out_of_order(stage: IncidentStage) -> None:
    """An application has workers, each of which commits its own records when it is done with them: the
    slowest one overwrites the offset of the others with a lower one, and after a restart records come again
    (akka/alpakka-kafka#1285)."""
    groups = {"billing": "kafka-python", "shipping": "kafkajs"}
    await stage.create("orders")
    for group, library in groups.items():
        await stage.clients.send("kafkajs", "orders", 0, 100 if group == "billing" else 20)
        first = await stage.clients.joined(library, group, ["orders"])
        end = await stage.do(stage.admin.offset, "orders")
        await _commit(stage, first, end, (40, end, 60) if stage.caused else (40, 60, end))
        lives = time.monotonic() + _LIVES_S
        while time.monotonic() < lives:
            await first.read()
        await first.close()
        if stage.caused:
            stage.did("a commit went back", group=group, topic="orders", partition=0, offset=60)
    await stage.clients.send("kafkajs", "orders", 0, 30)
    await begin(stage, groups)
    await stage.caught_up("orders", groups=groups)
    if stage.caused:
        jumped(stage, ("billing", 100, 60), ("shipping", 120, 60))


async def _commit(stage: IncidentStage, member: Member, end: int, offsets: Iterable[int]) -> None:
    """Reads all, and commits what the workers say."""
    while member.at.get(("orders", 0), 0) < end:
        await member.read()
    for offset in offsets:
        await member.commit_at([("orders", 0, offset)])


@story(
    "offsets-expired",
    config=_RETENTION,
    brokers=1,
    libraries=("java", "kafka-python"),
    twin={"offsets.retention.minutes": "10080"},
)
async def unsubscribed_for_a_while(stage: IncidentStage) -> None:
    """Applications read two topics, for a while only one of them, and then both again. Their groups had
    members all the while, yet the offsets of the other topic have expired (KIP-211, KAFKA-8338)."""
    groups = {"billing": "java", "shipping": "kafka-python"}
    for topic in ("orders", "invoices"):
        await stage.create(topic)
    for topics in (["orders", "invoices"], ["invoices"], ["orders", "invoices"]):
        await stage.clients.leave(*stage.clients.members)
        for group, library in groups.items():
            await stage.clients.member(library, group, topics)
        stage.did("the applications were deployed", groups=list(groups), topics=topics)
        await stage.clients.send("java", "invoices", 0, 30)
        if topics != ["invoices"]:
            await stage.clients.send("java", "orders", 0, 100)
        await stage.caught_up(*topics, groups=groups)
        if topics == ["invoices"]:
            await _write_on(stage, 80 if stage.caused else 5)
    if stage.caused:
        jumped(stage, ("billing", 100, 0), ("shipping", 100, 0))


async def _write_on(stage: IncidentStage, seconds: float) -> None:
    with trio.move_on_after(seconds):
        while True:
            await stage.clients.send("java", "invoices", 0, 1)
            await trio.sleep(3)


@story(
    "never-committed",
    config={"broker.session.timeout.ms": "18000"},
    brokers=1,
    libraries=("confluent-kafka", "sarama"),
    twin={},
)
async def never_committed(stage: IncidentStage) -> None:
    """A partition was empty for as long as groups with auto.offset.reset=latest had read it, so that they
    have no offset in it. What is first written to it while they are restarted they never get
    (confluentinc/librdkafka#1059)."""
    groups = {"billing": "confluent-kafka", "shipping": "sarama"}
    config = {"auto_offset_reset": "latest" if stage.caused else "earliest"}
    await stage.create("orders", 2)
    await begin(stage, groups, **config)
    await read_more(stage, "sarama", groups, 20)
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(groups))
    for partition in (0, 1):
        await stage.clients.send("sarama", "orders", partition, 30)
    await begin(stage, groups, **config)
    # Nobody writes to it for a while.
    with trio.move_on_after(_LONG_S if stage.caused else 0):
        while True:
            await stage.clients.send("sarama", "orders", 0, 1)
            await trio.sleep(_PACE_S)
    while any(("orders", 1) not in stage.clients.at[group] for group in groups):
        for partition in (0, 1):
            await stage.clients.send("sarama", "orders", partition, 1)
        await trio.sleep(0.5)
    await stage.caught_up("orders", groups=groups)
    for member in stage.clients.members if stage.caused else ():
        first = member.began["orders", 1]
        if first < 30 or member.jumps:
            raise StoryError(f"{member.group} began at {first}, and has {member.jumps}")
        where: dict[str, Any] = {"group": member.group, "topic": "orders", "partition": 1}
        stage.did("a group began after the first records", **where, offset=first)
        stage.noticed("records-skipped", **where, offset=0, end_offset=first)

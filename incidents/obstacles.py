"""Incidents of what stands in the way: a member that everybody waits for, a response that is too large, a
volume of another cluster, and one that was restored from a backup."""

import re
import shutil
from pathlib import Path
from typing import Any, Final

from .clients import Member
from .memberships import meanwhile, read_all, stands
from .positions import read_more
from .readers import begin, read
from .stage import IncidentStage, StoryError, story

_LONG_S: Final = 80
_FAULT_S: Final = 45
_LARGE: Final = b"x" * 30_000
_NARROW: Final = {"message_max_bytes": 10_000, "fetch_max_bytes": 10_000, "receive_message_max_bytes": 12_000}


@story("rebalance-held-up", brokers=1, libraries=("java", "confluent-kafka"), twin={})
async def rebalance_held_up(stage: IncidentStage) -> None:
    """A member works for a minute and more on what it has read, as its max.poll.interval.ms allows. When
    another one joins, the rebalance waits for it, and with it the whole group
    (confluentinc/kafka-rest#611)."""
    groups = {"billing": "java", "shipping": "confluent-kafka"}
    own: dict[str, Any] = {"max_poll_interval_ms": 300_000}
    await stage.create("orders", 2)
    for partition in (0, 1):
        await stage.clients.send("java", "orders", partition, 30)
    busy: dict[str, Member] = {}
    for group, library in groups.items():
        busy[group] = await stage.clients.joined(library, group, ["orders"], **own)
        await read_all(stage, busy[group], "orders", 0, 1)
        if not stage.caused:
            stage.clients.begin(busy[group])
    for group, library in groups.items():
        await stage.clients.member(library, group, ["orders"], **own)
        stage.did("a member joined", group=group)
    await meanwhile(stage, "java", "orders", 0, 1, seconds=_LONG_S)
    if stage.caused:
        for group in groups:
            for partition in (0, 1):
                await stands(stage, group, "orders", partition, 30)
        for group, each in busy.items():
            stage.clients.begin(each)
            stage.did("a member polls again", group=group)
    await stage.caught_up("orders", groups=groups)


@story("response-too-large", brokers=1, libraries=("confluent-kafka", "kafkajs"), twin={})
async def response_too_large(stage: IncidentStage) -> None:
    """A record is larger than receive.message.max.bytes of librdkafka allows responses to be: its group does
    not get past it, while a group of another client does (confluentinc/librdkafka#4915)."""
    await stage.create("orders", 2)
    narrow = dict(_NARROW)
    if not stage.caused:
        narrow["receive_message_max_bytes"] = 1_000_000
    await stage.clients.member("confluent-kafka", "billing", ["orders"], **narrow)
    await stage.clients.member("kafkajs", "shipping", ["orders"])
    for partition in (0, 1):
        await stage.clients.send("kafkajs", "orders", partition, 30)
    await stage.caught_up("orders", groups=["billing", "shipping"])
    producer = await stage.clients.producer("kafkajs")
    at = await producer.send("orders", 1, 1, value=_LARGE)
    stage.did("a large record was written", topic="orders", partition=1, offset=at, bytes=len(_LARGE))
    await meanwhile(stage, "kafkajs", "orders", 0, 1)
    await stage.caught_up("orders", groups=["shipping"] if stage.caused else ["billing", "shipping"])
    if stage.caused:
        await stands(stage, "billing", "orders", 1, at)


@story("disk-of-another-cluster", brokers=2, libraries=("kafkajs", "aiokafka"), twin={})
async def disk_of_another_cluster(stage: IncidentStage) -> None:
    """After maintenance a broker is given a volume of another cluster, and does not start: what has its only
    replica there has no leader until the mistake is found (strimzi/strimzi-kafka-operator#10722)."""
    groups = {"billing": "kafkajs", "shipping": "aiokafka"}
    await stage.create("orders", replicas=[2, 1])
    await stage.create("audit", replicas=[2])
    await begin(stage, groups)
    for topic in ("orders", "audit"):
        await stage.clients.send("kafkajs", topic, 0, 50)
    await stage.caught_up("orders", groups=groups)
    await stage.stop(2)
    if stage.caused:
        file = stage.cluster.data(2) / "meta.properties"
        own = file.read_text()
        file.write_text(re.sub(r"(?<=cluster.id=).*", "5L6g3nShT-eMCtK--X86sw", own))
        for _ in range(2):
            await stage.do(stage.cluster.start_in_vain, 2)
            stage.did("a broker did not start", broker=2)
            await meanwhile(stage, "aiokafka", "orders", 0, seconds=_FAULT_S / 2)
        file.write_text(own)
        stage.noticed("no-leader", topic="audit", partition=0)
    await stage.start(2)
    await stage.led("audit", 2)
    for topic in ("orders", "audit"):
        await stage.clients.send("kafkajs", topic, 0, 50)
    await stage.caught_up("orders", groups=groups)


@story("restored-from-backup", brokers=2, libraries=("sarama", "kafkajs"), twin={})
async def restored_from_backup(stage: IncidentStage) -> None:
    """The volume of a broker is restored from a backup, which lacks the last records of what had its only
    replica there. Others are written with their offsets, and a group that was past them never gets those
    (osodevops/kafka-backup-docs tells of such offsets)."""
    groups = {"billing": "sarama", "shipping": "kafkajs"}
    await stage.create("orders", replicas=[2])
    await stage.clients.send("sarama", "orders", 0, 200)
    await stage.stop(2)
    backup = Path(f"{stage.cluster.data(2)}-backup")
    await stage.do(shutil.copytree, stage.cluster.data(2), backup)
    stage.did("a backup was made", broker=2)
    await stage.start(2)
    await stage.led("orders", 2)
    await read(stage, groups, 100)
    await stage.stop(2)
    if stage.caused:
        await stage.do(shutil.rmtree, stage.cluster.data(2))
        await stage.do(shutil.copytree, backup, stage.cluster.data(2))
        stage.did("a broker was restored from a backup", broker=2, topic="orders", partition=0, lost=100)
    await stage.start(2)
    await stage.led("orders", 2)
    await stage.clients.send("sarama", "orders", 0, 150)
    if stage.caused:
        stage.noticed("acknowledged-missing", topic="orders", partition=0, offset=200, end_offset=300)
        end = await stage.do(stage.admin.offset, "orders")
        if end != 350:
            raise StoryError(f"the log ends at {end}")
    await begin(stage, groups)
    await read_more(stage, "sarama", groups, 350 if stage.caused else 450)
    for member in stage.clients.members if stage.caused else ():
        if member.began["orders", 0] != 300:
            raise StoryError(f"{member.group} began at {member.began}")
        where: dict[str, Any] = {"group": member.group, "topic": "orders", "partition": 0}
        stage.noticed("records-skipped", **where, offset=200, end_offset=300)

"""Incidents of what stands in the way: a member that everybody waits for, a response that is too large."""

from typing import Any, Final

from .clients import Member
from .memberships import meanwhile, read_all, stands
from .stage import IncidentStage, story

_LONG_S: Final = 80
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

"""Incidents of share groups (KIP-932)."""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from mockbroker.rig.setup import SHARE_CONFIG

from .admin import EARLIEST
from .clients import Says, Sharer
from .cluster import BROKERS
from .groups import ask_tool
from .stage import IncidentStage, StoryError, story

_TOOL: Final = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
_CONFIG: Final = {
    **SHARE_CONFIG,
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "500",
    "group.share.record.lock.duration.ms": "5000",
}
_LIBRARIES: Final = ("java", "confluent-kafka")
_GROUPS: Final = {"billing": "java", "shipping": "confluent-kafka"}
_LIMIT: Final = 5
"""The default of `group.share.delivery.count.limit`."""
_SINCE: Final = (4, 2)
_PLACE: Final = ("orders", 0)
_WHERE: Final[Mapping[str, Any]] = {"topic": "orders", "partition": 0}
Members = dict[str, Sharer]


def _accepts(_: Mapping[str, Any]) -> str:
    return "accept"


async def _begin(stage: IncidentStage, says: Mapping[str, Says] | None = None) -> Members:
    """A topic, and a member of each group, which reads it from its first record on."""
    await stage.create("orders")
    for group in _GROUPS:
        await stage.do(stage.admin.configure_group, group, share_auto_offset_reset="earliest")
    return await _join(stage, says)


async def _join(stage: IncidentStage, says: Mapping[str, Says] | None = None) -> Members:
    return {
        group: await stage.clients.sharer(library, group, ["orders"], (says or {}).get(group, _accepts))
        for group, library in _GROUPS.items()
    }


async def _accepted(
    stage: IncidentStage,
    members: Members,
    first: int,
    end: int,
    but: Mapping[str, int] = MappingProxyType({}),
) -> None:
    """Until each member was told that it has accepted these records, `but` one of each group."""

    def done() -> bool:
        return all(
            {(_PLACE, offset) for offset in range(first, end) if offset != but.get(group)} <= member.done
            for group, member in members.items()
        )

    await stage.until(f"groups that have accepted all below {end}", done)


async def _given_up(
    stage: IncidentStage, members: Members, stuck: Mapping[str, int], limit: int, did: str
) -> None:
    """The groups accept what is written. In an incident each gives up one record, the `stuck` one, once it
    was delivered so often: then `did` has happened."""
    stuck = stuck if stage.caused else {}
    await stage.clients.send("java", "orders", 0, 100)
    await _accepted(stage, members, 0, 100, stuck)
    for group, offset in stuck.items():
        await stage.until(
            "the last delivery",
            lambda g=group, o=offset: members[g].given[_PLACE, o] >= limit,  # type: ignore[misc]
        )
        stage.did(did, group=group, **_WHERE, offset=offset)
        stage.noticed("share-records-given-up", group=group, **_WHERE, offset=offset, end_offset=offset + 1)
    for end in (110, 120):
        await stage.clients.send("java", "orders", 0, 10)
        await _accepted(stage, members, end - 10, end)


async def _away(stage: IncidentStage, read: int) -> None:
    """The groups have accepted that many records, and have gone."""
    members = await _begin(stage)
    await stage.clients.send("java", "orders", 0, read)
    await _accepted(stage, members, 0, read)
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(_GROUPS), **_WHERE, offset=read)


async def _back(stage: IncidentStage, first: Mapping[str, int], end: int) -> None:
    """They come back, and accept what there is from a first record of each on."""
    members = await _join(stage)
    stage.did("the groups have come back", groups=list(_GROUPS))
    for group, member in members.items():
        await _accepted(stage, {group: member}, first[group], end)
    # What was accepted last makes the start offset move, which the next write tells.
    await stage.clients.send("java", "orders", 0, 10)
    await _accepted(stage, members, end, end + 10)


@story("delivery-limit-reached", config=_CONFIG, since=_SINCE, brokers=1, libraries=_LIBRARIES, twin={})
async def share_records_given_up(stage: IncidentStage) -> None:
    """In each of two share groups there is a record that its member can't process. It releases it each time,
    until it was delivered as often as it may be."""
    poison = {"billing": 40, "shipping": 60}

    def fails(group: str) -> Says:
        def says(record: Mapping[str, Any]) -> str:
            stuck = record["offset"] == poison[group]
            return "release" if stuck and (stage.caused or record["delivery_count"] == 1) else "accept"

        return says

    members = await _begin(stage, {group: fails(group) for group in _GROUPS})
    await _given_up(stage, members, poison, _LIMIT, "a record was released for the last time")


@story("delivery-limit-reached", config=_CONFIG, since=_SINCE, brokers=1, libraries=_LIBRARIES, twin={})
async def share_delivery_limit_lowered(stage: IncidentStage) -> None:
    """In each of two share groups the member can process one of the records only when it has it for the third
    time. Somebody lowers how often they are given a record to two times, of which no leader warns."""
    slow, limit = {"billing": 40, "shipping": 60}, 2

    def hesitates(group: str) -> Says:
        def says(record: Mapping[str, Any]) -> str:
            stuck = record["offset"] == slow[group] and record["delivery_count"] <= limit
            return "release" if stuck else "accept"

        return says

    members = await _begin(stage, {group: hesitates(group) for group in _GROUPS})
    for group in _GROUPS if stage.caused else ():
        await stage.do(stage.admin.configure_group, group, share_delivery_count_limit=str(limit))
    await _given_up(stage, members, slow, limit, "a lowered limit was reached")


@story("records-deleted", config=_CONFIG, since=_SINCE, brokers=1, libraries=_LIBRARIES, twin={})
async def share_records_deleted(stage: IncidentStage) -> None:
    """DeleteRecords removes what share groups have not got while they are away."""
    await _away(stage, 300)
    await stage.clients.send("java", "orders", 0, 700)
    if stage.caused:
        await stage.do(stage.admin.delete_records, "orders", 0, 900)
        stage.did("records were deleted by request", **_WHERE, offset=900, lost=600)
        _missed(stage, 300, 900)
    await _back(stage, dict.fromkeys(_GROUPS, 900 if stage.caused else 300), 1000)


@story("retention-lowered", config=_CONFIG, since=_SINCE, brokers=1, libraries=_LIBRARIES, twin={})
async def share_retention_lowered(stage: IncidentStage) -> None:
    """Somebody lowers the retention: what share groups have not got is deleted while they are away. In the
    twin they have got all."""
    await _away(stage, 300)
    if stage.caused:
        await stage.clients.send("java", "orders", 0, 700)
    end = 1000 if stage.caused else 300
    await stage.do(stage.admin.alter, "orders", retention_ms="1000")
    await stage.until("retention", lambda: stage.admin.offset("orders", 0, EARLIEST) == end)
    stage.did("retention deleted segments", **_WHERE, offset=end, lost=end - 300)
    await stage.do(stage.admin.alter, "orders", retention_ms="86400000")
    if stage.caused:
        _missed(stage, 300, 1000)
    await stage.clients.send("java", "orders", 0, 100)
    await _back(stage, dict.fromkeys(_GROUPS, end), end + 100)


@story("share-offsets-reset", config=_CONFIG, since=_SINCE, brokers=1, libraries=_LIBRARIES, twin={})
async def share_offsets_reset(stage: IncidentStage) -> None:
    """`kafka-share-groups --reset-offsets` sets one share group back to the first record, and another one on
    to the last, while they are away."""
    await _away(stage, 300)
    await stage.clients.send("java", "orders", 0, 700)
    first = dict.fromkeys(_GROUPS, 300)
    if stage.caused:
        await _reset(stage, "billing", "--to-earliest", 0)
        stage.noticed("share-offset-back", group="billing", **_WHERE, offset=0, end_offset=300)
        await _reset(stage, "shipping", "--to-latest", 1000)
        stage.noticed("share-records-skipped", group="shipping", **_WHERE, offset=300, end_offset=1000)
        first = {"billing": 0, "shipping": 1000}
    await stage.clients.send("java", "orders", 0, 100)
    await _back(stage, first, 1100)


@story(config=_CONFIG, since=_SINCE, brokers=1, libraries=_LIBRARIES)
async def share_member_died(stage: IncidentStage) -> None:
    """A member of a share group stands still with the records that it has acquired, and dies. Another one
    gets them when their locks have ended: nothing is lost."""
    await stage.create("orders")
    await stage.do(stage.admin.configure_group, "billing", share_auto_offset_reset="earliest")
    process = "confluent-kafka-2"
    await stage.clients.start("confluent-kafka", process)
    stuck = await stage.clients.shared(process, "billing", ["orders"], _accepts)
    await stage.clients.send("java", "orders", 0, 100)
    while not (records := await stuck.read()):
        pass
    stage.clients.hold(process)
    stage.did("a member stands still", group="billing", **_WHERE, offset=records[0]["offset"])
    other = await stage.clients.sharer("java", "billing", ["orders"], _accepts)
    await _accepted(stage, {"billing": other}, 0, 100)
    stage.clients.kill(process)
    await stage.clients.send("java", "orders", 0, 10)
    await _accepted(stage, {"billing": other}, 100, 110)


@story(
    config={**_CONFIG, "share.coordinator.state.topic.replication.factor": "3"},
    since=_SINCE,
    libraries=_LIBRARIES,
)
async def share_rolling_restart(stage: IncidentStage) -> None:
    """Brokers are restarted in turn while share groups work. Their members release some records, and reject
    some. Some transactions are aborted, whose records one of the groups does not get."""
    partitions = range(3)
    await stage.create("orders", len(partitions))
    for group, isolation in zip(_GROUPS, ("read_uncommitted", "read_committed"), strict=True):
        own = {"share_auto_offset_reset": "earliest", "share_isolation_level": isolation}
        await stage.do(stage.admin.configure_group, group, **own)
    members = [await _join(stage, dict.fromkeys(_GROUPS, _differs)) for _ in range(2)]
    payments = await stage.clients.producer("java", transactional_id="payments")
    async with stage.traffic("orders", len(partitions), _LIBRARIES):
        for node in BROKERS:
            for end in ("commit-transaction", "abort-transaction"):
                await payments.do("begin")
                await payments.send("orders", node - 1, 20)
                await payments.do(end)
            await stage.more("orders", 50)
            await stage.stop(node)
            await stage.more("orders", 50)
            await stage.start(node)
            await stage.in_sync("orders", "__share_group_state", transactions=True)
        await stage.more("orders")
    last = {
        (("orders", partition), await stage.clients.send("java", "orders", partition, 10))
        for partition in partitions
    }

    def done() -> bool:
        return all(last <= set.union(*(each[group].done for each in members)) for group in _GROUPS)

    await stage.until("groups that have got all", done)


def _differs(record: Mapping[str, Any]) -> str:
    first = record["delivery_count"] == 1
    if record["offset"] % 7 == 0 and first:
        return "release"
    return "reject" if record["offset"] % 11 == 0 else "accept"


def _missed(stage: IncidentStage, first: int, end: int) -> None:
    for group in _GROUPS:
        stage.noticed("share-records-deleted", group=group, **_WHERE, offset=first, end_offset=end)


async def _reset(stage: IncidentStage, group: str, how: str, offset: int) -> None:
    """StoryError."""
    options = ("--group", group, "--topic", "orders", "--reset-offsets", how, "--execute")
    said = await ask_tool(stage, *options, main=_TOOL)
    if not re.search(rf"{group}\s+orders\s+0\s+{offset}", said):
        raise StoryError(said)
    stage.did("an operator set a share group's offset", group=group, **_WHERE, offset=offset)

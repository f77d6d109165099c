"""Incidents of members and what they have committed: one that is too slow, and offsets that expire."""

from typing import Any, Final

from mockbroker.rig.client import Client

from .clients import Member
from .stage import GROUPS, IncidentStage, StoryError, story

_INTERVAL_MS: Final = 7_000
_SLOW: Final[dict[str, Any]] = {"max_poll_interval_ms": _INTERVAL_MS, "session_timeout_ms": 6_000}
_FETCH: Final = 5
"""The version of OffsetFetch that is asked."""


@story("poll-overrun", brokers=1, twin={})
async def poll_overrun(stage: IncidentStage) -> None:
    """A member of each group works longer than max.poll.interval.ms on what it has read. Another one takes
    the partition over, and reads it again from the last commit."""
    await stage.create("orders")
    first: dict[str, Member] = {}
    for library, group in GROUPS.items():
        first[group] = await stage.clients.joined(library, group, ["orders"], **_SLOW)
    committed: dict[str, int] = {}
    for count in (600, 200):
        await stage.clients.send("java", "orders", 0, count)
        for group, member in first.items():
            while stage.clients.at[group].get(("orders", 0), 0) < (600 if count == 600 else 800):
                records = await member.read()
                if records and (count == 600 or not stage.caused):
                    await member.commit(records)
            if count == 600:
                committed[group] = stage.clients.at[group]["orders", 0]
    standby = {
        group: await stage.clients.member(library, group, ["orders"], **_SLOW)
        for library, group in GROUPS.items()
    }
    if stage.caused:
        for group in GROUPS.values():
            stage.did("a member works for longer than max.poll.interval.ms", group=group)
        await stage.until("others to take over", lambda: all(each.jumps for each in standby.values()))
    await stage.clients.send("java", "orders", 0, 100)
    if stage.caused:
        await stage.caught_up("orders")
    for group, member in first.items():
        if stage.caused:
            await member.commit([1])
            if not member.refused:
                raise StoryError(f"{group} was not refused")
            stage.did("a commit was refused", group=group, error=member.refused[-1])
        await member.close()
    await stage.caught_up("orders")
    stage.jumps("orders")


@story(
    "offsets-expired",
    config={"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "1000"},
    brokers=1,
    twin={"offsets.retention.minutes": "10080"},
)
async def offsets_expired(stage: IncidentStage) -> None:
    """Groups are away for longer than their offsets are kept. When they come back they skip what was written
    meanwhile, or read all again, as auto.offset.reset says."""
    resets = dict(zip(GROUPS.values(), ("latest", "earliest", "latest"), strict=True))
    await stage.create("orders")

    async def come() -> None:
        for library, group in GROUPS.items():
            await stage.clients.member(library, group, ["orders"], auto_offset_reset=resets[group])

    await stage.clients.send("java", "orders", 0, 100)
    for library, group in GROUPS.items():
        await stage.clients.member(library, group, ["orders"])
    await stage.clients.send("java", "orders", 0, 200)
    await stage.caught_up("orders")
    await stage.clients.leave(*stage.clients.members)
    stage.did("the groups have gone", groups=list(GROUPS.values()), topic="orders", partition=0, offset=300)
    await stage.clients.send("java", "orders", 0, 700)
    if stage.caused:
        await stage.until(
            "the offsets to expire", lambda: all(_committed(stage, each) < 0 for each in resets)
        )
        stage.did("committed offsets expired", groups=list(GROUPS.values()), topic="orders", partition=0)
    await come()
    while any(stage.clients.at[group]["orders", 0] < 1000 for group in GROUPS.values()):
        # Who begins at the latest offset reads only what is written after it has asked for that.
        await stage.clients.send("java", "orders", 0, 10)
    await stage.caught_up("orders")
    stage.jumps("orders")


def _committed(stage: IncidentStage, group: str) -> int:
    """-1 for none."""
    asked = {"group_id": group, "topics": [{"name": "orders", "partition_indexes": [0]}]}
    with Client("127.0.0.1", stage.cluster.ports[1], "admin") as client:
        (topic,) = client.call("offset_fetch", _FETCH, asked)["topics"]
    return int(topic["partitions"][0]["committed_offset"])

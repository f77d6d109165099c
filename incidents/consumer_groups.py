"""Incidents of the consumer groups of Kafka 4 (KIP-848), and what happens to them every day."""

import re
from collections.abc import Callable
from typing import Any, Final, Self
from uuid import uuid4

import trio

from mockbroker.rig.client import Client
from mockbroker.rig.consumer_scene import FULL, UNCHANGED

from .clients import Member
from .cluster import BROKERS
from .stage import LIMIT_S, IncidentStage, StoryError, story

_PARTITIONS: Final = 3
_NEVER: Final = 40
"""No group that settles needs so many epochs."""
_HEARTBEATS: Final = {
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
}
_QUICK: Final = {
    **_HEARTBEATS,
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
}
_READERS: Final = {"java": "billing", "confluent-kafka": "shipping"}
"""The libraries that have the protocol, and their groups."""
_OF_BOTH: Final = 1
"""The partition of three in which the coordinator keeps either group."""
_PACE_S: Final = 0.3
_NEWEST: Final = 1
_FIND: Final = 3
"""Versions of ConsumerGroupHeartbeat and FindCoordinator."""


@story(config=_HEARTBEATS, since=(4, 0))
async def consumer_groups(stage: IncidentStage) -> None:
    """Members join and leave groups of Kafka 4, also with another assignor, and a coordinator moves."""
    await stage.create("orders", _PARTITIONS)
    for library, group in _READERS.items():
        await _member(stage, library, group)
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        joined = []
        for library, group in _READERS.items():
            own = {"group_remote_assignor": "range"} if library == "java" else {}
            joined += [await _member(stage, library, group, **own) for _ in range(2)]
            await stage.more("orders", 60)
        coordinator = (await stage.do(stage.admin.state, "__consumer_offsets", _OF_BOTH)).leader
        await stage.stop(coordinator)
        await stage.more("orders", 50)
        await stage.start(coordinator)
        await stage.in_sync("orders")
        for one in joined:
            await stage.clients.leave(one)
            stage.did("a member left", group=one.group)
            await stage.more("orders", 30)
    await stage.caught_up("orders", groups=_READERS.values())


@story("rebalance-timeout", config=_QUICK, since=(4, 0), twin={})
async def partitions_not_given_up(stage: IncidentStage) -> None:
    """A member goes on with its heartbeats, but gives up no partition when another member joins."""
    await stage.create("orders", _PARTITIONS)
    async with stage.traffic("orders", _PARTITIONS):
        if stage.caused:
            with _Raw(stage, "billing", rebalance_timeout=3_000) as clinging:
                await clinging.until(lambda: clinging.owned)
                stage.did("a member joined that gives up no partition", group="billing")
                await _member(stage, "java", "billing")
                await clinging.until(lambda: clinging.refused)
            stage.did("it was fenced", group="billing", error=clinging.refused)
        else:
            for _ in range(2):
                await _member(stage, "java", "billing")
                await stage.more("orders", 50)
        await stage.more("orders")
    await stage.caught_up("orders", groups=["billing"])


@story("session-timeout", config=_QUICK, since=(4, 0), twin={})
async def member_silent(stage: IncidentStage) -> None:
    """A member sends no heartbeat any more, as if its process had been killed. In the twin it leaves."""
    await stage.create("orders", _PARTITIONS)
    await _member(stage, "java", "billing")
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        if stage.caused:
            with _Raw(stage, "billing") as silent:
                await silent.until(lambda: silent.owned)
            stage.did("a member fell silent", group="billing")
            await stage.until("its session to expire", lambda: _logged(stage, "session expired") > 0)
        else:
            other = await _member(stage, "java", "billing")
            await stage.more("orders", 50)
            await stage.clients.leave(other)
            stage.did("a member left", group="billing")
        await stage.more("orders", 50)
    await stage.caught_up("orders", groups=["billing"])


@story("group-never-settles", config=_QUICK, since=(4, 4), twin={})
async def two_assignors(stage: IncidentStage) -> None:
    """Of two members, one asks for the assignor `range` and the other one for `uniform`; in the twin both for
    `range`."""
    await stage.create("orders", _PARTITIONS)
    async with stage.traffic("orders", _PARTITIONS):
        for assignor in ("range", "uniform" if stage.caused else "range"):
            await _member(stage, "java", "billing", group_remote_assignor=assignor)
        if stage.caused:
            await stage.until("epochs", lambda: _logged(stage, "Bumped group epoch") >= _NEVER)
            stage.did("the group did not settle", group="billing")
        else:
            await stage.more("orders", 200)


@story(
    "migration-refused",
    config={"group.consumer.migration.policy": "disabled"},
    since=(4, 0),
    twin={"group.consumer.migration.policy": "bidirectional"},
)
async def migration_refused(stage: IncidentStage) -> None:
    """An application with the protocol of Kafka 4 joins its group, whose members have the classic one."""
    await stage.create("orders", _PARTITIONS)
    await stage.clients.member("java", "billing", ["orders"])
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        await stage.caught_up("orders", groups=["billing"])
        if stage.caused:
            with _Raw(stage, "billing") as refused:
                await refused.until(lambda: refused.refused)
            stage.did("a member was refused", group="billing", error=refused.refused)
        else:
            await _member(stage, "java", "billing")
        await stage.more("orders", 50)
    await stage.caught_up("orders", groups=["billing"])


@story("joined-too-early", config={"group.initial.rebalance.delay.ms": "6000"}, since=(4, 0), twin={})
async def joined_too_early(stage: IncidentStage) -> None:
    """A member with the protocol of Kafka 4 joins before its group has a first generation; in the twin
    after."""
    await stage.create("orders", _PARTITIONS)
    await stage.clients.member("java", "billing", ["orders"])
    await stage.until("its member to join", lambda: _logged(stage, "joins group billing") > 0)
    if stage.caused:
        with _Raw(stage, "billing") as early:
            await early.until(lambda: early.refused)
        stage.did("a member was refused", group="billing", error=early.refused)
    async with stage.traffic("orders", _PARTITIONS):
        await stage.more("orders")
        if not stage.caused:
            await stage.caught_up("orders", groups=["billing"])
            await _member(stage, "java", "billing")
            await stage.more("orders")
    await stage.caught_up("orders", groups=["billing"])


async def _member(stage: IncidentStage, library: str, group: str, **config: str) -> Member:
    one = await stage.clients.member(library, group, ["orders"], group_protocol="consumer", **config)
    stage.did("a member joined", group=group)
    return one


def _logged(stage: IncidentStage, text: str) -> int:
    """How often a text is in the logs of brokers."""
    return sum(len(re.findall(text, stage.cluster.log(node))) for node in BROKERS)


class _Raw:
    """A member that only sends heartbeats. `owned` are the partitions that it was given first, which it says
    it has ever after; `refused` is an error that ended its membership."""

    def __init__(self, stage: IncidentStage, group: str, rebalance_timeout: int = 60_000) -> None:
        self._stage = stage
        self._ids = {"group_id": group, "member_id": str(uuid4())}
        self._full = {**FULL, "rebalance_timeout": rebalance_timeout, "subscribed_topic_names": ["orders"]}
        self._epoch = 0
        self._coordinator = BROKERS[0]
        self._clients = {node: Client("127.0.0.1", port, "raw") for node, port in stage.cluster.ports.items()}
        self.owned: list[dict[str, Any]] = []
        self.refused = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._clients.values():
            each.close()

    async def until(self, condition: Callable[[], object]) -> None:
        with trio.move_on_after(LIMIT_S):
            while not condition():
                await self._stage.do(self._beat)
                await trio.sleep(_PACE_S)
            return
        raise StoryError(f"a member waited in vain: {self.refused or 'it was not refused'}")

    def _beat(self) -> None:
        owned = {"topic_partitions": self.owned}
        said = {**UNCHANGED, **owned} if self._epoch else {**self._full, **owned}
        asked = {**self._ids, **said, "member_epoch": self._epoch}
        coordinator = self._clients[self._coordinator]
        answer = coordinator.call("consumer_group_heartbeat", _NEWEST, asked)
        match answer["error_code"]:
            case "NONE":
                self._epoch = answer["member_epoch"]
                if answer["assignment"] is not None:
                    self.owned = self.owned or answer["assignment"]["topic_partitions"]
            case "NOT_COORDINATOR" | "COORDINATOR_NOT_AVAILABLE" | "COORDINATOR_LOAD_IN_PROGRESS":
                key = {"key": self._ids["group_id"], "key_type": 0}
                found = coordinator.call("find_coordinator", _FIND, key)
                if found["error_code"] == "NONE":
                    self._coordinator = found["node_id"]
            case error:
                self.refused = error

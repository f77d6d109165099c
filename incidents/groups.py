"""Incidents of groups and their coordinator."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from mockbroker.rig.client import Client
from mockbroker.rig.real_tools import Tools

from .cluster import RecordedCluster
from .stage import GROUPS, IncidentStage, StoryError, story

_TOOL = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
_TOOLS = {"4.4.0": "4.3.1"}
"""Of releases whose tools are not on Maven Central, another one."""
_OFFSETS = "__consumer_offsets"


@story("admin-reset", twin={})
async def admin_reset(stage: IncidentStage) -> None:
    """`kafka-consumer-groups --reset-offsets` sets groups back, which then read again."""
    await stage.create("orders", replicas=[2, 3, 1])
    await stage.groups(["orders"])
    await stage.clients.send("java", "orders", 0, 1000)
    await stage.caught_up("orders")
    await stage.clients.leave(*stage.clients.members)
    for group in GROUPS.values() if stage.caused else ():
        await reset(stage, group, "orders", 200, "--to-offset", "200")
        stage.did("an operator reset offsets", group=group, topic="orders", partition=0, offset=200)
    for group in GROUPS.values() if stage.caused else ():
        stage.clients.at[group].clear()
    await stage.groups(["orders"])
    await stage.clients.send("java", "orders", 0, 100)
    await stage.caught_up("orders")


async def reset(stage: IncidentStage, group: str, topic: str, offset: int, *how: str) -> None:
    """By the tool, which has to say that partition 0 is at `offset` then. StoryError."""
    said = await ask_tool(stage, "--group", group, "--topic", topic, "--reset-offsets", *how, "--execute")
    if not re.search(rf"{group}\s+{topic}\s+0\s+{offset}", said):
        raise StoryError(said)


async def ask_tool(stage: IncidentStage, *options: str, main: str = _TOOL) -> str:
    """What kafka-consumer-groups prints, or another tool by its class."""
    release = stage.cluster.release
    tools = await stage.do(Tools, _TOOLS.get(release, release))
    reached = ("--bootstrap-server", stage.cluster.bootstrap_servers, "--timeout", "60000")
    said, error = await stage.do(tools.run, main, *reached, *options)
    return f"{said}{error[-1000:]}"


@story("coordinator-moved-while-loading", config={"offsets.topic.num.partitions": "1"}, twin={})
async def coordinator_moved_while_loading(stage: IncidentStage) -> None:
    """The broker that takes groups over stands still while it loads their offsets, and another takes over."""
    await stage.create("orders", 3)
    await stage.groups(["orders"])
    async with stage.traffic("orders", 3):
        await stage.more("orders", 300)
        first = stage.admin.state(_OFFSETS).leader
        await stage.do(_many_commits, stage, first)
        if stage.caused:
            await _moves_twice(stage, first)
        else:
            await stage.do(stage.cluster.kill_broker, first)
            stage.did("a broker was killed", broker=first)
            await stage.until("another one", lambda: stage.admin.state(_OFFSETS).leader not in (-1, first))
        await stage.start(first)
        await stage.in_sync("orders")
        await stage.more("orders", 100)
    await stage.caught_up("orders")
    stage.jumps("orders")


async def _moves_twice(stage: IncidentStage, first: int) -> None:
    with _Slow(stage.cluster, first) as slow:
        await stage.do(stage.cluster.kill_broker, first)
        stage.did("a broker was killed", broker=first)
        await stage.until("the next coordinator to load", lambda: slow.frozen is not None)
    second = slow.frozen or 0
    stage.did("a coordinator stood still while it loaded", broker=second, topic=_OFFSETS, partition=0)
    await stage.until(
        "a third coordinator", lambda: stage.admin.state(_OFFSETS).leader not in (-1, first, second)
    )
    third = stage.admin.state(_OFFSETS)
    stage.did("another coordinator took over", broker=third.leader, leader_epoch=third.epoch)
    stage.cluster.let_go(second)
    stage.did("it went on", broker=second)


def _many_commits(stage: IncidentStage, coordinator: int, count: int = 2_000, connections: int = 20) -> None:
    """Of groups without members, a record each: loading them takes long enough to be seen."""

    def commit(number: int) -> None:
        place = {"partition_index": 0, "committed_offset": 1, "committed_metadata": ""}
        fields = {
            "group_id": f"batch-{number}",
            "generation_id_or_member_epoch": -1,
            "member_id": "",
            "topics": [{"name": "orders", "partitions": [place]}],
        }
        with Client("127.0.0.1", stage.cluster.ports[coordinator], "batch") as client:
            for _ in range(count // connections):
                client.call("offset_commit", 5, fields)

    with ThreadPoolExecutor(connections) as pool:
        list(pool.map(commit, range(connections)))


class _Slow:
    """Lets the brokers other than `first` run only a tenth of the time, and freezes the one that begins to
    load: `frozen`."""

    def __init__(self, cluster: RecordedCluster, first: int) -> None:
        self._cluster = cluster
        self._others = [node for node in cluster.ports if node != first]
        self._begun = {node: _loads(cluster, node) for node in self._others}
        self._ends = Event()
        self.frozen: int | None = None
        self._thread = Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        while not self._ends.is_set() and self.frozen is None:
            for node in self._others:
                self._cluster.hold(node)
            self.frozen = next(
                (node for node in self._others if _loads(self._cluster, node) > self._begun[node]), None
            )
            self._ends.wait(0.01)
            for node in self._others:
                if node != self.frozen:
                    self._cluster.let_go(node)
            self._ends.wait(0.005)

    def __enter__(self) -> "_Slow":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.set()
        self._thread.join()


def _loads(cluster: RecordedCluster, node: int) -> int:
    """How often a broker has begun to load its groups."""
    return len(re.findall(rf"Scheduling loading of .*{_OFFSETS}-0", cluster.log(node)))

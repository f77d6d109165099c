"""What operators plan for a cluster while clients are at work: an upgrade, a reassignment of partitions, one
more broker, a reset of offsets that is refused."""

from collections.abc import Mapping, Sequence
from typing import Final

from mockbroker.rig.real_broker import CONTROLLER

from .groups import ask_tool
from .readers import begin
from .stage import IncidentStage, StoryError, story

_PARTITIONS: Final = 3
_NEWER: Final = "4.4.0"
_GROUPS: Final = {"billing": "java", "shipping": "kafkajs", "reports": "franz-go"}
_LIBRARIES: Final = (*_GROUPS.values(), "aiokafka")
_PATIENT: Final = {"broker.session.timeout.ms": "18000", "replica.lag.time.max.ms": "30000"}
"""A busy machine is no incident."""


@story(config=_PATIENT, libraries=_LIBRARIES)
async def rolling_upgrade(stage: IncidentStage) -> None:
    """The controller and the brokers become those of 4.4.0, one after the other, and then all features are
    raised."""
    await stage.create("orders", _PARTITIONS)
    await begin(stage, _GROUPS)
    async with stage.traffic("orders", _PARTITIONS, ("aiokafka", "franz-go")):
        await stage.more("orders")
        for node in (CONTROLLER, *stage.cluster.nodes):
            await stage.do(stage.cluster.stop_broker, node)
            await stage.do(stage.cluster.upgrade, node, _NEWER)
            stage.did("a node was shut down", node=node)
            await stage.more("orders", 30)
            if node == CONTROLLER:
                await stage.do(stage.cluster.start_controller)
            else:
                await stage.do(stage.cluster.start_broker, node)
            stage.did("a node was upgraded", node=node, release=_NEWER)
            await stage.in_sync("orders")
            await stage.more("orders", 30)
        levels = await stage.do(stage.admin.raise_features)
        stage.did("features were raised", **{name.replace(".", "_"): level for name, level in levels.items()})
        await stage.more("orders")
    await stage.caught_up("orders", groups=_GROUPS)


async def _move(stage: IncidentStage, wanted: Mapping[int, Sequence[int]]) -> None:
    """Partitions of `orders` to other replicas, the first of which leads then."""
    await stage.do(stage.admin.reassign, "orders", wanted)
    stage.did("partitions were reassigned", topic="orders", partitions=list(wanted))
    await stage.until(
        "their new replicas",
        lambda: all(
            stage.admin.state("orders", partition).in_sync == tuple(sorted(replicas))
            for partition, replicas in wanted.items()
        ),
    )
    await stage.do(stage.admin.elect_preferred, "orders", *wanted)
    stage.did("the preferred leaders were elected", topic="orders")
    for partition, replicas in wanted.items():
        await stage.led("orders", replicas[0], partition)


@story(config=_PATIENT, libraries=_LIBRARIES)
async def reassignment(stage: IncidentStage) -> None:
    """All replicas are on two brokers; they are spread over three."""
    await stage.create("orders", _PARTITIONS, replicas=[1, 2])
    await begin(stage, _GROUPS)
    async with stage.traffic("orders", _PARTITIONS, ("aiokafka", "franz-go")):
        await stage.more("orders")
        await _move(stage, {1: [2, 3], 2: [3, 1]})
        await stage.more("orders")
    await stage.caught_up("orders", groups=_GROUPS)


@story(config=_PATIENT, libraries=_LIBRARIES)
async def expansion(stage: IncidentStage) -> None:
    """A fourth broker joins, and gets replicas of what the others had."""
    await stage.create("orders", 4, replicas=[1, 2, 3])
    await begin(stage, _GROUPS)
    async with stage.traffic("orders", 4, ("aiokafka", "franz-go")):
        await stage.more("orders")
        node = await stage.do(stage.cluster.add_broker)
        stage.did("a broker joined", broker=node)
        await _move(stage, {1: [2, 3, node], 2: [3, node, 1], 3: [node, 1, 2]})
        await stage.more("orders")
    await stage.caught_up("orders", groups=_GROUPS)


@story(brokers=1, libraries=("kafkajs", "franz-go"))
async def reset_refused(stage: IncidentStage) -> None:
    """Somebody wants to reset the offsets of groups that have members: the tool refuses it."""
    groups = {"billing": "kafkajs", "shipping": "franz-go"}
    await stage.create("orders")
    await begin(stage, groups)
    await stage.clients.send("franz-go", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)
    for group in groups:
        options = ("--group", group, "--topic", "orders", "--reset-offsets", "--to-earliest", "--execute")
        said = await ask_tool(stage, *options)
        if "inactive" not in said:
            raise StoryError(said)
        stage.did("a reset was refused", group=group)
    await stage.clients.send("franz-go", "orders", 0, 100)
    await stage.caught_up("orders", groups=groups)

"""Streams groups seen from outside: descriptions, lists, configuration and internal topics."""

from typing import Any, Final

from . import members
from .members import configure
from .world import World

_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("streams.num.standby.replicas", ("0", "1", "2", "1", "3", "-1")),
    ("streams.num.standby.replicas", ("0", "1", "2")),
    ("streams.initial.rebalance.delay.ms", ("0", "-1")),
    ("streams.rack.aware.assignment.tags", ("zone", "zone,k", "", " zone , k", "nobody's")),
    ("streams.heartbeat.interval.ms", ("5000", "6000", "1")),
    ("streams.session.timeout.ms", ("300000", "1")),
)


def configure_group(world: World) -> None:
    configure(world, _CONFIGS)


def _groups(world: World) -> list[str]:
    return [world.group() for _ in world.some((1, 1, 1, 2))]


def streams_group_describe(world: World) -> None:
    fields = {
        "group_ids": _groups(world),
        "include_authorized_operations": world.chance(15),
        "include_topology_description": world.chance(15),
    }
    world.add("streams_group_describe", world.version("streams_group_describe"), fields)


def list_groups(world: World) -> None:
    states = ("Stable", "Empty", "NotReady", "not_ready", "Assigning", "Reconciling", "Dead")
    members.list_groups(world, states, ("classic", "consumer", "streams", "Streams"))


def consumer_group_describe(world: World) -> None:
    fields = {"group_ids": _groups(world), "include_authorized_operations": False}
    world.add("consumer_group_describe", world.version("consumer_group_describe"), fields)


def streams_group_topology_description_update(world: World) -> None:
    member = world.rng.choice(world.streaming) if world.streaming else None
    fields: dict[str, Any] = {
        "group_id": world.group(),
        "member_id": member.id if member else "",
        "topology_epoch": world.rng.choice((0, 1, -1)),
        "topology_description": {"subtopologies": [], "global_stores": []},
    }
    api = "streams_group_topology_description_update"
    world.add(api, world.version(api), fields)


def change_internal_topic(world: World) -> None:
    """An internal topic grows, or is deleted: the next heartbeat has it created again."""
    names = [name for each in world.topologies.values() for name in _internal_topics(each)]
    if not names:
        return
    name = world.rng.choice(names)
    if world.chance(60):
        one: dict[str, Any] = {"name": name, "topic_id": None}
        fields = {"topics": [one], "topic_names": [name], "timeout": 10_000}
        world.add("delete_topics", world.version("delete_topics"), fields)
        return
    grown = {"name": name, "count": world.rng.choice((2, 3, 4)), "assignments": None}
    fields = {"topics": [grown], "timeout": 10_000, "validate_only": False}
    world.add("create_partitions", world.version("create_partitions"), fields)


def _internal_topics(topology: dict[str, Any]) -> list[str]:
    return [
        topic["name"]
        for each in topology["subtopologies"]
        for kind in ("repartition_source_topics", "state_changelog_topics")
        for topic in each[kind]
    ]

"""Share groups seen from outside: their offsets, states and configuration."""

from typing import Any, Final

from . import members
from .members import GROUP
from .world import World

_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("share.auto.offset.reset", ("earliest", "latest", "by_duration:PT1H", "by_duration:P1D", "nonsense")),
    ("share.isolation.level", ("read_committed", "read_uncommitted", "READ_COMMITTED", "nonsense")),
    ("share.isolation.level", ("read_committed", "read_uncommitted")),
    ("share.delivery.count.limit", ("2", "3", "5", "1", "100")),
    ("share.partition.max.record.locks", ("100", "2000", "1", "99999")),
    ("share.renew.acknowledge.enable", ("true", "false", "perhaps")),
    ("share.record.lock.duration.ms", ("60000", "10", "30000")),
    ("share.session.timeout.ms", ("60000", "1")),
    ("share.no.such.config", ("1",)),
)


def configure_group(world: World) -> None:
    rng = world.rng
    name, values = rng.choice(_CONFIGS)
    changed = {
        "name": name,
        "config_operation": rng.choices((0, 1), (85, 15))[0],
        "value": rng.choice(values),
    }
    resource = {"resource_type": GROUP, "resource_name": world.group(), "configs": [changed]}
    fields = {"resources": [resource], "validate_only": world.chance(8)}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)


def describe_configs(world: World) -> None:
    names = [name for name, _ in _CONFIGS]
    resource = {
        "resource_type": GROUP,
        "resource_name": world.group() or "unheard~",
        "configuration_keys": world.rng.sample(names, 3),
    }
    fields = {
        "resources": [resource],
        "include_synonyms": world.chance(50),
        "include_documentation": False,
    }
    world.add("describe_configs", world.version("describe_configs"), fields)


def _groups(world: World) -> list[str]:
    return [world.group() for _ in world.some((1, 1, 2))]


def share_group_describe(world: World) -> None:
    fields = {"group_ids": _groups(world), "include_authorized_operations": world.chance(20)}
    world.add("share_group_describe", world.version("share_group_describe"), fields)


def consumer_group_describe(world: World) -> None:
    fields = {"group_ids": _groups(world), "include_authorized_operations": False}
    world.add("consumer_group_describe", world.version("consumer_group_describe"), fields)


def list_groups(world: World) -> None:
    states = ("Stable", "Empty", "Dead", "stable")
    members.list_groups(world, states, ("classic", "consumer", "share", "Share"))


def find_coordinator(world: World) -> None:
    def key() -> Any:
        topic = world.topic()
        found = {"$share_key": [world.group(), topic, world.partition(topic)]}
        return found if world.chance(85) else world.rng.choice(("", "g", "g:t:0", "a:b", "::", "g0~:x:0:1"))

    fields = {"key": "g", "key_type": 2, "coordinator_keys": [key() for _ in world.some((1, 1, 2, 0))]}
    world.add("find_coordinator", world.version("find_coordinator", low=4), fields)


# -- offsets


def describe_share_group_offsets(world: World) -> None:
    rng = world.rng

    def topics() -> Any:
        if world.chance(30):
            return None
        found: dict[str, set[int]] = {}
        for _ in world.some((1, 1, 2)):
            # Of a partition that is not there the answer comes after half a minute.
            topic = world.topic()
            count = max(1, world.topics.get(topic, 1))
            found.setdefault(topic, set()).update(rng.randrange(count) for _ in world.some((1, 2, 3)))
        return [{"topic_name": topic, "partitions": sorted(parts)} for topic, parts in found.items()]

    groups = [{"group_id": each, "topics": topics()} for each in dict.fromkeys(_groups(world))]
    world.add(
        "describe_share_group_offsets", world.version("describe_share_group_offsets"), {"groups": groups}
    )


def alter_share_group_offsets(world: World) -> None:
    topics = []
    for topic in dict.fromkeys(world.topic() for _ in world.some((1, 1, 2))):
        indexes = dict.fromkeys(world.partition(topic) for _ in world.some((1, 2)))
        parts = [{"partition_index": index, "start_offset": world.offset(topic, index)} for index in indexes]
        topics.append({"topic_name": topic, "partitions": parts})
    fields = {"group_id": world.group(), "topics": topics}
    world.add("alter_share_group_offsets", world.version("alter_share_group_offsets"), fields)


def delete_share_group_offsets(world: World) -> None:
    topics = dict.fromkeys(world.topic() for _ in world.some((1, 1, 2)))
    fields = {"group_id": world.group(), "topics": [{"topic_name": each} for each in topics]}
    world.add("delete_share_group_offsets", world.version("delete_share_group_offsets"), fields)


# -- states, as brokers ask for them


def _state(world: World, api: str, drawn: Any, group: str | None = None) -> None:
    topics = []
    for topic in dict.fromkeys(world.topic() for _ in world.some((1, 1, 2))):
        indexes = dict.fromkeys(world.partition(topic) for _ in world.some((1, 1, 2)))
        parts = [{"partition": index, **drawn(topic, index)} for index in indexes]
        topics.append({"topic_id": {"$topic_id": topic}, "partitions": parts})
    fields = {"group_id": world.group() if group is None else group, "topics": topics}
    world.add(api, world.version(api), fields)


def _leader_epoch(world: World) -> dict[str, Any]:
    return {"leader_epoch": world.rng.choices((0, -1, 1), (92, 6, 2))[0]}


def read_share_group_state(world: World) -> None:
    _state(world, "read_share_group_state", lambda topic, index: _leader_epoch(world))


def read_share_group_state_summary(world: World) -> None:
    _state(world, "read_share_group_state_summary", lambda topic, index: _leader_epoch(world))


def initialize_share_group_state(world: World) -> None:
    def drawn(topic: str, index: int) -> dict[str, Any]:
        epoch = world.rng.choice((0, 1, 2, -1))
        return {"state_epoch": epoch, "start_offset": world.offset(topic, index)}

    _state(world, "initialize_share_group_state", drawn)


def write_share_group_state(world: World) -> None:
    """Of a group that nobody is in, most of the time."""
    rng = world.rng

    def batch(at: int) -> dict[str, Any]:
        first = at + rng.choice((0, 0, 1, -1))
        return {
            "first_offset": first,
            "last_offset": first + rng.choice((0, 1, 4)),
            "delivery_state": rng.choices((0, 2, 4, 1, 9), (40, 25, 25, 5, 5))[0],
            "delivery_count": rng.choice((1, 1, 2, 5)),
        }

    def drawn(topic: str, index: int) -> dict[str, Any]:
        start = rng.choices((0, 1, 3, -1, 10), (50, 15, 15, 15, 5))[0]
        return {
            "state_epoch": rng.choices((0, 1, -1), (80, 12, 8))[0],
            **_leader_epoch(world),
            "start_offset": start,
            "delivery_complete_count": rng.choice((0, 1, -1)),
            "state_batches": [batch(max(0, start) + 2 * number) for number in world.some((1, 2, 3, 0))],
        }

    _state(world, "write_share_group_state", drawn, "raw~" if world.chance(75) else None)


def delete_share_group_state(world: World) -> None:
    _state(world, "delete_share_group_state", lambda topic, index: {}, "raw~" if world.chance(75) else None)

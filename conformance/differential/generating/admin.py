"""Topics, partitions, configuration and Metadata."""

from typing import Any, Final

from .world import World, topic_to_create

_TOPIC_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("cleanup.policy", ("compact", "delete", "compact,delete", "delete,compact", "nonsense", "")),
    ("max.message.bytes", ("200", "1000", "0", "-1", "abc", "1048588")),
    ("message.timestamp.type", ("LogAppendTime", "CreateTime", "logappendtime")),
    ("retention.ms", ("-1", "604800000", "-2", "1e3", "9223372036854775807")),
    ("message.timestamp.after.max.ms", ("3600000", "60000", "9223372036854775807")),
    ("message.timestamp.before.max.ms", ("3600000", "9223372036854775807")),
    ("min.insync.replicas", ("1", "2", "0")),
    ("compression.type", ("producer", "gzip", "uncompressed", "zstd", "lz4", "snappy", "none")),
    ("flush.messages", ("1", "0")),
    ("no.such.config", ("1",)),
    ("delete.retention.ms", ("0", "86400000", "-1")),
    ("preallocate", ("true", "False", "yes")),
)


def configs(world: World, *, safe: bool = False) -> list[dict[str, Any]]:
    """Some of a topic's configs; those that a broker takes when `safe`."""
    rng = world.rng
    found: dict[str, str | None] = {}
    for _ in range(rng.choices((0, 1, 2), (45, 40, 15))[0]):
        name, values = rng.choice(_TOPIC_CONFIGS[:8])
        if safe:
            found[name] = rng.choice(values[:2])
        else:
            name, values = rng.choice(_TOPIC_CONFIGS)
            found[name] = rng.choice((*values, None)) if world.chance(8) else rng.choice(values)
    if "message.timestamp.before.max.ms" in found and world.era != "now" and safe:
        del found["message.timestamp.before.max.ms"]
    if safe and found.get("min.insync.replicas") and not world.chance(20):
        del found["min.insync.replicas"]
    return [{"name": key, "value": value} for key, value in found.items()]


def first_topics(world: World) -> None:
    """The topics that a sequence begins with."""
    topics: list[dict[str, Any]] = []
    for number in range(world.rng.choice((1, 2, 2))):
        name = f"t{number}~"
        count = world.rng.choice((1, 1, 2, 3))
        world.topics[name] = count
        given = configs(world, safe=True) if world.chance(35) else []
        topics.append(topic_to_create(name, given, count, factor=1))
    world.create(topics)


def create_topics(world: World) -> None:
    rng = world.rng
    topics: list[dict[str, Any]] = []
    for _ in range(rng.choices((1, 2, 0), (80, 18, 2))[0]):
        name = rng.choice(
            ("n0~", "n1~", "n0~", "t0~", "", "a b~", ".", "dot.ted~", "dot_ted~", "x" * 240 + "~")
        )
        count = rng.choices((1, 2, -1, 0, -2), (60, 20, 12, 4, 4))[0]
        one: dict[str, Any] = {
            "name": name,
            "num_partitions": count,
            "replication_factor": rng.choices((1, -1, 2, 0, -2), (70, 18, 6, 3, 3))[0],
            "assignments": [],
            "configs": configs(world) if world.chance(40) else [],
        }
        if world.chance(10):
            one |= {"num_partitions": -1, "replication_factor": -1}
            one["assignments"] = [
                {
                    "partition_index": rng.choice((0, 0, 1)),
                    "broker_ids": rng.choice(([1], [1], [7], [], [1, 1])),
                }
                for _ in range(rng.choice((1, 1, 2)))
            ]
        topics.append(one)
        if name.startswith("n") and one["replication_factor"] in (1, -1):
            world.topics.setdefault(name, max(1, count))
    fields = {
        "topics": topics,
        "timeout": rng.choices((10_000, 0, -1), (96, 2, 2))[0],
        "validate_only": world.chance(12),
    }
    world.add("create_topics", world.version("create_topics"), fields)


def delete_topics(world: World) -> None:
    names = [world.topic() for _ in range(world.rng.choices((1, 2, 0), (90, 8, 2))[0])]
    topics: list[dict[str, Any]] = [
        {"name": name, "topic_id": None}
        if world.chance(60)
        else {"name": None, "topic_id": {"$topic_id": name}}
        for name in names
    ]
    if topics and world.chance(3):
        topics[0] = {"name": names[0], "topic_id": {"$topic_id": names[0]}}
    fields = {"topics": topics, "topic_names": names, "timeout": 10_000}
    world.add("delete_topics", world.version("delete_topics"), fields)
    if world.chance(60):
        for name in names:
            world.topics.pop(name, None)


def create_partitions(world: World) -> None:
    rng = world.rng
    topic = world.topic()
    count = world.topics.get(topic, 1) + rng.choice((1, 1, 2, 0, -1))
    assignments: Any = (
        None
        if world.chance(85)
        else rng.choice(
            ([{"broker_ids": [1]}], [{"broker_ids": [7]}], [], [{"broker_ids": [1, 1]}], [{"broker_ids": []}])
        )
    )
    one = {"name": topic, "count": rng.choice((count, count, count, 0, -1)), "assignments": assignments}
    asked = [one, dict(one)] if world.chance(4) else [one]
    fields = {"topics": asked, "timeout": 10_000, "validate_only": world.chance(15)}
    world.add("create_partitions", world.version("create_partitions"), fields)


def _resource(world: World) -> dict[str, Any]:
    kind = world.rng.choices((2, 4, 0, 99, 32, 8), (80, 12, 2, 2, 2, 2))[0]
    name = world.topic() if kind == 2 else world.rng.choice(("1", "1", "", "7", "abc"))
    return {"resource_type": kind, "resource_name": name}


def describe_configs(world: World) -> None:
    rng = world.rng
    found: list[dict[str, Any]] = []
    for _ in range(rng.choice((1, 1, 2))):
        resource = _resource(world)
        names = [name for name, _ in _TOPIC_CONFIGS]
        keys: Any = rng.sample(names, rng.choice((1, 2, 3)))
        if resource["resource_type"] == 2 and world.chance(40):
            keys = rng.choice((None, []))
        found.append({**resource, "configuration_keys": keys})
    fields = {"resources": found, "include_synonyms": world.chance(50), "include_documentation": False}
    world.add("describe_configs", world.version("describe_configs"), fields)


def alter_configs(world: World) -> None:
    resource = _resource(world)
    if resource["resource_type"] == 4:
        resource = {"resource_type": 2, "resource_name": world.topic()}
    fields = {"resources": [{**resource, "configs": configs(world)}], "validate_only": world.chance(20)}
    world.add("alter_configs", world.version("alter_configs"), fields)


def incremental_alter_configs(world: World) -> None:
    resource = _resource(world)
    if resource["resource_type"] == 4:
        resource = {"resource_type": 2, "resource_name": world.topic()}
    changes = [
        {**each, "config_operation": world.rng.choices((0, 1, 2, 3, 4), (60, 18, 10, 10, 2))[0]}
        for each in configs(world)
    ]
    if changes and world.chance(4):
        changes.append(dict(changes[0]))
    fields = {"resources": [{**resource, "configs": changes}], "validate_only": world.chance(20)}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)


def metadata(world: World) -> None:
    rng = world.rng
    version = world.version("metadata")
    topics: Any = []
    for _ in range(rng.choice((1, 1, 2))):
        name = world.topic() if world.chance(85) else rng.choice(("auto~", "a b~", ""))
        topics.append(
            {"name": name, "topic_id": None}
            if version < 12 or world.chance(60)
            else {"name": None, "topic_id": {"$topic_id": name}}
        )
    fields = {
        "topics": topics,
        "allow_auto_topic_creation": world.chance(25),
        "include_topic_authorized_operations": world.chance(15),
        "include_cluster_authorized_operations": world.chance(15),
    }
    if version < 4:
        known = [each for each in topics if each["name"] in world.topics]
        fields["topics"] = known or [{"name": next(iter(world.topics), "auto~"), "topic_id": None}]
    world.add("metadata", version, fields)


def describe_topic_partitions(world: World) -> None:
    rng = world.rng
    topic = world.topic()
    cursor = (
        None
        if world.chance(75)
        else {"topic_name": world.topic(), "partition_index": rng.choice((0, 1, -1, 5))}
    )
    fields = {
        "topics": [{"name": topic}],
        "response_partition_limit": rng.choice((2000, 1, 2, 0, -1)),
        "cursor": cursor,
    }
    world.add("describe_topic_partitions", world.version("describe_topic_partitions"), fields)


def describe_cluster(world: World) -> None:
    fields = {
        "include_cluster_authorized_operations": world.chance(30),
        "endpoint_type": world.rng.choices((1, 2, 3), (90, 5, 5))[0],
        "include_fenced_brokers": world.chance(20),
    }
    world.add("describe_cluster", world.version("describe_cluster"), fields)

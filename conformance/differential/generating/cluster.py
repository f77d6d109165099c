"""The cluster itself: its quorum, features and brokers, directories of logs, and what has a configuration."""

from typing import Any, Final

from .members import GROUP
from .world import World

_METADATA: Final = "__cluster_metadata"
CLIENT_METRICS: Final = 16
_FEATURES: Final[tuple[tuple[str, int], ...]] = (
    ("metadata.version", 34),
    ("group.version", 2),
    ("transaction.version", 3),
    ("eligible.leader.replicas.version", 2),
    ("share.version", 2),
    ("streams.version", 2),
    ("kraft.version", 2),
    ("no.such.version", 1),
    ("", 1),
)
"""Names of features, each with a level that is at least the newest."""
_REFUSED: Final = (99, 32_767, -1, -32_768)
"""Levels that no feature has."""
_GROUP_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("consumer.session.timeout.ms", ("50000", "45000", "1", "abc")),
    ("consumer.heartbeat.interval.ms", ("5000", "6000", "1", "70000")),
    ("no.such.config", ("1",)),
)
_METRICS_CONFIGS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("metrics", ("org.apache.kafka.", "*", "", "a.,b.", "a.,a.")),
    ("interval.ms", ("60000", "100", "99", "3600000", "3600001", "abc", "-1")),
    ("match", ("client_id=nobody~", "client_id=[~", "nonsense", "client_source_port=1", "no_such=a")),
    ("no.such.config", ("1",)),
)


def describe_quorum(world: World) -> None:
    rng = world.rng
    topics = [
        {
            "topic_name": rng.choices((_METADATA, world.topic(), ""), (90, 7, 3))[0],
            "partitions": [
                {"partition_index": rng.choices((0, 1, -1), (92, 4, 4))[0]}
                for _ in world.some((1, 2, 0), (90, 6, 4))
            ],
        }
        for _ in world.some((1, 2, 0), (88, 8, 4))
    ]
    world.add("describe_quorum", world.version("describe_quorum"), {"topics": topics})


def update_features(world: World) -> None:
    """Nothing is changed: what could be is only validated."""
    rng = world.rng
    version = world.version("update_features")
    only_tried = version > 0 and world.chance(80)

    def update() -> dict[str, Any]:
        feature, newest = rng.choice(_FEATURES)
        tried = only_tried and world.chance(85)
        return {
            "feature": feature,
            "max_version_level": rng.randint(0, newest) if tried else rng.choice(_REFUSED),
            "upgrade_type": rng.choices((1, 2, 3, 0, 4, -1), (50, 22, 22, 2, 2, 2))[0],
            "allow_downgrade": world.chance(50),
        }

    fields = {
        "timeout": rng.choices((10_000, 0, -1), (96, 2, 2))[0],
        "feature_updates": [update() for _ in world.some((1, 2, 3, 0), (62, 24, 10, 4))],
        "validate_only": only_tried,
    }
    world.add("update_features", version, fields)


def unregister_broker(world: World) -> None:
    """One that there is not."""
    fields = {"broker_id": world.rng.choice((7, 99, -1, 2**31 - 1))}
    world.add("unregister_broker", world.version("unregister_broker"), fields)


def alter_replica_log_dirs(world: World) -> None:
    """To the directory in which replicas are, or to one that there is not."""
    rng = world.rng
    dirs = []
    for _ in world.some((1, 2, 0), (78, 18, 4)):
        named = world.of_partitions(
            world.some((1, 2, 0), (74, 20, 6)), lambda: world.some((1, 2, 0), (60, 34, 6)), world.partition
        )
        topics = [{"name": name, "partitions": partitions} for name, partitions in named]
        path = rng.choices(
            ({"$log_dir": ""}, {"$log_dir": "/"}, {"$log_dir": "/below"}, "/nowhere", "nowhere", ""),
            (70, 6, 6, 8, 5, 5),
        )[0]
        dirs.append({"path": path, "topics": topics})
    world.add("alter_replica_log_dirs", world.version("alter_replica_log_dirs"), {"dirs": dirs})


def list_config_resources(world: World) -> None:
    rng = world.rng
    kinds = [
        rng.choices((2, 4, 8, 16, 32, 0, 99), (20, 15, 10, 25, 25, 3, 2))[0] for _ in world.some((1, 2, 0))
    ]
    world.add("list_config_resources", world.version("list_config_resources"), {"resource_types": kinds})


def _resource(world: World) -> tuple[dict[str, Any], tuple[tuple[str, tuple[str, ...]], ...]]:
    """A group or a subscription to metrics, and what it may be configured with."""
    if world.chance(50):
        return {"resource_type": GROUP, "resource_name": world.group()}, _GROUP_CONFIGS
    name = world.rng.choices(("m0~", "m1~", ""), (70, 26, 4))[0]
    return {"resource_type": CLIENT_METRICS, "resource_name": name}, _METRICS_CONFIGS


def _values(world: World, configs: tuple[tuple[str, tuple[str, ...]], ...]) -> list[dict[str, Any]]:
    chosen = world.rng.sample(configs, len(world.some((1, 2, 3, 0), (56, 30, 10, 4))))
    return [{"name": name, "value": world.rng.choice(values)} for name, values in chosen]


def alter_configs(world: World) -> None:
    resource, configs = _resource(world)
    asked = [{**resource, "configs": _values(world, configs)}]
    fields = {"resources": asked, "validate_only": world.chance(15)}
    world.add("alter_configs", world.version("alter_configs"), fields)


def incremental_alter_configs(world: World) -> None:
    resource, configs = _resource(world)
    changes = [
        {**each, "config_operation": world.rng.choices((0, 1, 2, 3), (70, 20, 6, 4))[0]}
        for each in _values(world, configs)
    ]
    fields = {"resources": [{**resource, "configs": changes}], "validate_only": world.chance(15)}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)


def describe_configs(world: World) -> None:
    resource, configs = _resource(world)
    names = [name for name, _ in configs]
    keys = None if world.chance(50) else world.rng.sample(names, 2)
    fields = {
        "resources": [{**resource, "configuration_keys": keys}],
        "include_synonyms": world.chance(50),
        "include_documentation": False,
    }
    world.add("describe_configs", world.version("describe_configs"), fields)

"""Brokers that are killed, too few replicas in sync, and reassignments that can't end."""

from typing import Any

from ..steps import KILL
from . import replicas
from .world import World, topic_to_create

_SOON_MS, _LATE_MS = 500, 12_000
"""Before and after the session of a broker that was killed times out."""


def first_topics(world: World) -> None:
    """Mostly with several replicas, of which more than one has to be in sync."""
    topics = []
    for number in range(2):
        name, count = f"t{number}~", world.rng.choice((1, 1, 2))
        placed = replicas.placed(world, name, count, (5, 35, 60))
        least = world.rng.choices(("1", "2", "3"), (20, 55, 25))[0]
        given = [{"name": "min.insync.replicas", "value": least}]
        topics.append(topic_to_create(name, given, placed=placed))
    world.create(topics)


def kill_broker(world: World) -> None:
    """Not the first: it is the controller. Sometimes the next request comes before anybody knows of it."""
    left = [rank for rank in range(1, len(replicas.BROKERS)) if rank not in world.down]
    if not left:
        return
    rank = world.rng.choice(left)
    world.down.append(rank)
    at_once = world.chance(50)
    world.add(KILL, 0, {"at_once": True} if at_once else {}, broker=rank)
    if at_once:
        acknowledged(world)


def acknowledged(world: World) -> None:
    """A Produce that waits for all in sync."""
    topics: list[dict[str, Any]] = []
    for topic in world.rng.sample(sorted(world.topics), min(len(world.topics), world.rng.choice((1, 1, 2)))):
        records = [{"time": world.time()} for _ in range(world.rng.choice((1, 2)))]
        index = world.rng.randrange(world.topics[topic])
        place = topic, index
        world.ends[place] = world.ends.get(place, 0) + len(records)
        part = {"index": index, "records": {"$batches": [{"records": records}]}}
        topics.append({**world.refer(topic), "partition_data": [part]})
    fields = {
        "transactional_id": None,
        "acks": -1 if world.chance(90) else 1,
        "timeout": world.rng.choice((_SOON_MS, _LATE_MS)) if world.down else _LATE_MS,
        "topic_data": topics,
    }
    world.impatient = True
    world.add("produce", world.version("produce", low=3), fields)
    world.impatient = False


def cancel_reassignments(world: World) -> None:
    topics = [
        {
            "name": topic,
            "partitions": [
                {"partition_index": index, "replicas": None} for index in range(count) if world.chance(80)
            ],
        }
        for topic, count in world.topics.items()
    ]
    fields = {"timeout": 10_000, "allow_replication_factor_change": True, "topics": topics}
    world.add("alter_partition_reassignments", world.version("alter_partition_reassignments"), fields)


def require_in_sync(world: World) -> None:
    """Changes how many replicas have to be in sync."""
    changed = {
        "name": "min.insync.replicas",
        "config_operation": world.rng.choice((0, 0, 0, 1)),
        "value": world.rng.choice(("1", "2", "3")),
    }
    resource = {"resource_type": 2, "resource_name": world.topic(), "configs": [changed]}
    fields = {"resources": [resource], "validate_only": False}
    world.add("incremental_alter_configs", world.version("incremental_alter_configs"), fields)

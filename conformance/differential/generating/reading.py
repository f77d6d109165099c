"""Fetch with and without sessions, ListOffsets, OffsetForLeaderEpoch, DeleteRecords."""

from typing import Any, Final

from ....rig.batches import OLD
from .world import World

_SESSIONS_SINCE = 7
_IDS_SINCE = 13
_NEAR_NOW: Final = ({"$now": 0}, {"$now": -1000}, {"$now": 10**9})
_TIMESTAMPS: Final = (*range(-1, -7, -1), 0, OLD, OLD + 1, OLD + 1000, OLD - 1, -7, *_NEAR_NOW)


def fetch(world: World) -> None:
    """One request, in a session or without one."""
    rng = world.rng
    version = world.version("fetch")
    fields: dict[str, Any] = {
        "replica_id": -1 if world.chance(97) else rng.choice((-2, 1, 5, -3)),
        "max_wait": rng.choice((0, 0, 0, 5, 20)),
        "min_bytes": rng.choice((0, 1, 1, 10_000, -1)),
        "max_bytes": rng.choices((1_000_000, 2**31 - 1, 200, 0, 1, -1), (60, 15, 12, 6, 5, 2))[0],
        "isolation_level": rng.choices((0, 1, 2, -1), (60, 36, 3, 1))[0],
        "topics": _topics(world),
        "forgotten_topics_data": [],
        "rack_id": rng.choice(("", "", "r1")),
    }
    binds = None
    choice = rng.random()
    if version < _SESSIONS_SINCE or choice < 0.35:
        fields |= {"session_id": 0, "session_epoch": -1}
        if world.chance(3):
            fields["session_epoch"] = rng.choice((1, -2, 5))
    elif choice < 0.55 or not world.fetch_sessions:
        binds = world.slot()
        fields |= {"session_id": 0, "session_epoch": 0}
        world.fetch_sessions.append({"slot": binds, "epoch": 1, "ids": version >= _IDS_SINCE})
    else:
        session = rng.choice(world.fetch_sessions)
        version = (
            world.version("fetch", low=_IDS_SINCE)
            if session["ids"]
            else world.version("fetch", low=_SESSIONS_SINCE, high=_IDS_SINCE - 1)
        )
        if world.chance(5):
            version = world.version("fetch", low=_SESSIONS_SINCE)
        fields |= {"session_id": {"$session": session["slot"]}, "session_epoch": session["epoch"]}
        session["epoch"] += 1
        if world.chance(60):
            fields["topics"] = []
        if world.chance(25):
            topic = world.topic()
            fields["forgotten_topics_data"] = [
                {**world.refer(topic, "topic"), "partitions": [world.partition(topic)]}
            ]
        if world.chance(10):
            fields["session_epoch"] = rng.choice((0, -1, session["epoch"] + 1, 1, 2**31 - 1))
            binds = session["slot"]
        if world.chance(4):
            fields["session_id"] = rng.choice((5, -1, 2**31 - 1))
    world.add("fetch", version, fields, binds=binds)


def _topics(world: World) -> list[dict[str, Any]]:
    rng = world.rng

    def part(topic: str) -> dict[str, Any]:
        index = world.partition(topic)
        return {
            "partition": index,
            "fetch_offset": world.offset(topic, index),
            "partition_max_bytes": rng.choices((1_000_000, 100, 1, 0, -1), (75, 12, 6, 6, 1))[0],
            "current_leader_epoch": rng.choices((-1, 0, 1, -2), (75, 18, 5, 2))[0],
            "last_fetched_epoch": rng.choices((-1, 0, 1, -2), (88, 8, 3, 1))[0],
            "log_start_offset": rng.choice((-1, -1, 0, 3)),
        }

    found = []
    for _ in world.some((1, 2, 3, 0), (65, 25, 6, 4)):
        topic = world.topic()
        parts = [part(topic) for _ in world.some((1, 2, 0), (75, 23, 2))]
        found.append({**world.refer(topic, "topic"), "partitions": parts})
    return found


def list_offsets(world: World) -> None:
    rng = world.rng

    def part(topic: str) -> dict[str, Any]:
        timestamp = rng.choice(_TIMESTAMPS)
        return {
            "partition_index": world.partition(topic),
            "current_leader_epoch": rng.choices((-1, 0, 1, -2), (78, 15, 5, 2))[0],
            "timestamp": timestamp,
        }

    topics = [
        {"name": topic, "partitions": parts}
        for topic, parts in world.of_partitions(world.some((1, 1, 1, 2)), lambda: world.some((1, 1, 2)), part)
    ]
    fields = {
        "replica_id": rng.choices((-1, -2, 1, 0), (92, 5, 2, 1))[0],
        "isolation_level": rng.choices((0, 1, 2), (60, 37, 3))[0],
        "topics": topics,
        "timeout": rng.choice((0, 1000)),
    }
    world.add("list_offsets", world.version("list_offsets"), fields)


def offset_for_leader_epoch(world: World) -> None:
    rng = world.rng
    topics = []
    for _ in range(rng.choice((1, 1, 2))):
        topic = world.topic()
        part = {
            "partition": world.partition(topic),
            "current_leader_epoch": rng.choices((-1, 0, 1, -2), (65, 25, 7, 3))[0],
            "leader_epoch": rng.choice((0, 0, 0, 1, -1, -2, 5)),
        }
        topics.append({"topic": topic, "partitions": [part]})
    fields = {"replica_id": rng.choice((-1, -2, 1)), "topics": topics}
    world.add("offset_for_leader_epoch", world.version("offset_for_leader_epoch"), fields)


def delete_records(world: World) -> None:
    def part(topic: str) -> dict[str, Any]:
        index = world.partition(topic)
        return {"partition_index": index, "offset": world.offset(topic, index)}

    topics = [
        {"name": topic, "partitions": parts}
        for topic, parts in world.of_partitions(world.some((1, 1, 1, 2)), lambda: world.some((1, 1, 2)), part)
    ]
    fields = {"topics": topics, "timeout": world.rng.choice((1000, 1000, 0, -1))}
    world.add("delete_records", world.version("delete_records"), fields)

"""Replicas on several brokers: where they are put and moved to, who leads, and who is asked.

Whatever a sequence asks of later is placed by the request: Kafka draws other placements at random.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from ..coordinating import GROUPS, SHARES, TRANSACTIONS
from ..steps import ASIDE, MOVE, RESTARTS, START, STOP, Fields, Step
from .admin import configs
from .world import World, topic_to_create

BROKERS: Final = (1, 2, 3)
_NO_BROKER: Final = 7
_LEADERS: Final = frozenset(
    {
        "produce",
        "fetch",
        "list_offsets",
        "offset_for_leader_epoch",
        "delete_records",
        "describe_producers",
        "write_txn_markers",
        "share_acknowledge",
        "share_fetch",
    }
)
_GROUP_APIS: Final = (
    "alter_share_group_offsets",
    "consumer_group_describe",
    "delete_groups",
    "delete_share_group_offsets",
    "describe_groups",
    "describe_share_group_offsets",
    "heartbeat",
    "join_group",
    "leave_group",
    "list_groups",
    "offset_commit",
    "offset_delete",
    "offset_fetch",
    "share_group_describe",
    "share_group_heartbeat",
    "streams_group_describe",
    "streams_group_heartbeat",
    "sync_group",
    "txn_offset_commit",
)
_TRANSACTION_APIS: Final = (
    "add_offsets_to_txn",
    "add_partitions_to_txn",
    "describe_transactions",
    "end_txn",
    "init_producer_id",
    "list_transactions",
)
_SHARE_APIS: Final = (
    "delete_share_group_state",
    "initialize_share_group_state",
    "read_share_group_state",
    "read_share_group_state_summary",
    "write_share_group_state",
)
_COORDINATED: Final = (
    dict.fromkeys(_GROUP_APIS, GROUPS)
    | dict.fromkeys(_TRANSACTION_APIS, TRANSACTIONS)
    | dict.fromkeys(_SHARE_APIS, SHARES)
)
_SHORTEST_MS, _LONG_MS = 6_000, 300_000
_NAMES: Final = ("name", "topic")
_LISTS: Final = ("topics", "topic_data", "partitions", "partition_data")
_INDEXES: Final = ("partition_index", "partition", "index")
_FORBIDS_CREATION: Final = 4


def first_topics(world: World) -> None:
    """The topics that a sequence begins with."""
    topics = []
    for number in world.some((1, 2, 2)):
        given = configs(world, safe=True) if world.chance(30) else []
        topics.append(_created(world, f"t{number}~", world.rng.choice((1, 1, 2, 3)), given))
    world.create(topics)


def _created(world: World, name: str, count: int, given: list[dict[str, Any]]) -> dict[str, Any]:
    return topic_to_create(name, given, placed=placed(world, name, count, (15, 35, 50)))


def placed(world: World, name: str, count: int, factors: Sequence[int]) -> list[list[int]]:
    """Where the replicas of a new topic are; `factors` are the weights of one, two and three."""
    factor = world.rng.choices((1, 2, 3), factors)[0]
    world.topics[name] = count
    world.replicas[name] = [world.rng.sample(BROKERS, factor) for _ in range(count)]
    return world.replicas[name]


def create_topics(world: World) -> None:
    rng = world.rng
    topics: list[dict[str, Any]] = []
    for _ in range(rng.choices((1, 2, 0), (80, 18, 2))[0]):
        given = configs(world) if world.chance(30) else []
        if world.chance(35):
            free = [each for each in ("n0~", "n1~", "n2~") if each not in world.topics]
            topics.append(_created(world, rng.choice(free or ["t0~"]), rng.choice((1, 2, 3)), given))
            continue
        one: dict[str, Any] = {
            "name": rng.choice(("p0~", "p1~", "p2~", "t0~", "", "p b~", ".")),
            "num_partitions": rng.choices((1, 2, 3, -1, 0), (40, 20, 20, 12, 8))[0],
            "replication_factor": rng.choices((1, 2, 3, 4, -1, 0, 100), (20, 20, 20, 15, 10, 10, 5))[0],
            "assignments": [],
            "configs": given,
        }
        if world.chance(50):
            one |= {"num_partitions": -1, "replication_factor": -1, "assignments": _wrong_assignments(world)}
            one["name"] = rng.choice(("q0~", "q1~", "t0~"))
        topics.append(one)
    fields = {
        "topics": topics,
        "timeout": rng.choices((10_000, 0, -1), (96, 2, 2))[0],
        "validate_only": world.chance(12),
    }
    world.add("create_topics", world.version("create_topics"), fields)


def _wrong_assignments(world: World) -> list[dict[str, Any]]:
    """Mostly wrong in one way or two."""
    return [
        {
            "partition_index": index if world.chance(88) else world.rng.choice((0, 2, -1)),
            "broker_ids": _any_replicas(world),
        }
        for index in range(world.rng.choice((1, 1, 2, 3)))
    ]


def _any_replicas(world: World) -> list[int]:
    rng = world.rng
    if world.chance(60):
        return rng.sample(BROKERS, rng.choice((1, 2, 2, 3)))
    return rng.choice(
        ([], [_NO_BROKER], [1, 1], [1, _NO_BROKER], [2, 3, 2], [-1], [1, 2, 3, 1], [3, 2, 1, _NO_BROKER])
    )


def create_partitions(world: World) -> None:
    rng = world.rng
    asked = []
    for _ in range(rng.choices((1, 2), (90, 10))[0]):
        topic = world.topic()
        now = world.topics.get(topic, 1)
        more = rng.choice((1, 1, 2))
        if world.chance(60):
            factor = len(world.replicas[topic][0]) if topic in world.replicas else 1
            assigned: Any = [{"broker_ids": rng.sample(BROKERS, factor)} for _ in range(more)]
        else:
            assigned = [
                {"broker_ids": _any_replicas(world)}
                for _ in range(rng.choice((more, more, more - 1, more + 1)))
            ]
        one = {"name": topic, "count": now + more, "assignments": assigned}
        if world.chance(15):
            one |= {"count": rng.choice((now, now - 1, 0, -1)), "assignments": rng.choice((None, assigned))}
        asked.append(one)
    only = world.chance(12)
    if not only and world.chance(5):
        only, asked[0]["assignments"] = True, None
    fields = {"topics": asked, "timeout": 10_000, "validate_only": only}
    world.add("create_partitions", world.version("create_partitions"), fields)


def _partitions(world: World, most: int) -> list[tuple[str, list[int]]]:
    found: dict[str, list[int]] = {}
    for _ in range(world.rng.randint(1, most)):
        topic = world.topic()
        indexes = found.setdefault(topic, [])
        if (index := world.partition(topic)) not in indexes or world.chance(10):
            indexes.append(index)
    return list(found.items())


def elect_leaders(world: World) -> None:
    rng = world.rng
    asked: Any = [{"topic": topic, "partitions": indexes} for topic, indexes in _partitions(world, 3)]
    if world.chance(10):
        asked = rng.choice((None, []))
    fields = {
        "election_type": rng.choices((0, 1, 2, -1), (80, 15, 3, 2))[0],
        "topic_partitions": asked,
        "timeout": rng.choices((10_000, 0, -1), (94, 3, 3))[0],
    }
    world.add("elect_leaders", world.version("elect_leaders"), fields)


def alter_partition_reassignments(world: World) -> None:
    rng = world.rng
    topics = []
    for topic, indexes in _partitions(world, 3):
        parts = []
        for index in indexes:
            replicas: Any = rng.sample(BROKERS, rng.choices((1, 2, 3), (25, 35, 40))[0])
            if world.chance(10):
                replicas = None
            elif world.chance(12):
                replicas = _any_replicas(world)
            parts.append({"partition_index": index, "replicas": replicas})
        topics.append({"name": topic, "partitions": parts})
    fields = {
        "timeout": rng.choices((10_000, 0, -1), (96, 2, 2))[0],
        "allow_replication_factor_change": world.chance(80),
        "topics": topics if world.chance(97) else [],
    }
    world.add("alter_partition_reassignments", world.version("alter_partition_reassignments"), fields)


def list_partition_reassignments(world: World) -> None:
    asked: Any = [{"name": topic, "partition_indexes": indexes} for topic, indexes in _partitions(world, 3)]
    if world.chance(25):
        asked = world.rng.choice((None, []))
    fields = {"timeout": world.rng.choices((10_000, 0, -1), (90, 5, 5))[0], "topics": asked}
    world.add("list_partition_reassignments", world.version("list_partition_reassignments"), fields)


def stop_broker(world: World) -> None:
    """Not the first: it is the controller and has the coordinators."""
    left = [rank for rank in range(1, len(BROKERS)) if rank not in world.down]
    wanted = world.rng.choices((1, 2), (65, 35))[0]
    for rank in world.rng.sample(left, min(wanted, len(left))):
        world.down.append(rank)
        world.add(STOP, 0, {}, broker=rank)


def start_broker(world: World) -> None:
    if world.down:
        started = world.down.pop(world.rng.randrange(len(world.down)))
        world.add(START, 0, {}, broker=started)


def move_coordinator(world: World) -> None:
    fields = {"topic": world.rng.choices((GROUPS, TRANSACTIONS), (75, 25))[0]}
    world.add(MOVE, 0, fields, broker=world.rng.randrange(len(BROKERS)))


def move_share_coordinator(world: World) -> None:
    """Of share groups, or of the states of their partitions."""
    if not world.has(MOVE):
        return
    fields = {"topic": world.rng.choices((GROUPS, SHARES), (40, 60))[0]}
    world.add(MOVE, 0, fields, broker=world.rng.randrange(len(BROKERS)))


# -- what holds for any request where there are several brokers


def addressed(world: World, step: Step) -> Step:
    """A request as it is put to one of several brokers, mostly to the one that it is for."""
    if step.api in RESTARTS or step.api == MOVE:
        return step
    if step.api in ASIDE:
        return replace(step, broker=world.rng.randrange(len(BROKERS)))
    fields = _placed_by_request(world, step)
    version = step.version
    if step.api == "metadata":
        version = max(version, min(each for each in world.versions["metadata"] if each >= _FORBIDS_CREATION))
    if step.api in ("fetch", "list_offsets", "offset_for_leader_epoch"):
        fields = _epochs(world, fields)
    return Step(
        step.api, version, fields, step.client, step.binds, step.mutations, _asked(world, step, fields)
    )


def _asked(world: World, step: Step, fields: Fields) -> int | tuple[str, int]:
    session = fields.get("session_id")
    if isinstance(session, dict) and world.chance(92):
        return world.asked_of_session.get(session["$session"], 0)
    rank: int | tuple[str, int] = world.rng.randrange(len(BROKERS))
    if rank in world.down and world.chance(80):
        rank = 0
    if step.api in _COORDINATED:
        rank = (_COORDINATED[step.api], 0) if world.chance(90) else rank
    elif step.api in _LEADERS and world.chance(65):
        rank = _first_partition(fields) or rank
    if step.api in ("share_fetch", "share_acknowledge") and step.binds is not None:
        # A request without topics goes on with the session that the member used last.
        if not fields["topics"]:
            return world.asked_of_session.get(step.binds, rank)
        world.asked_of_session[step.binds] = rank
    if step.api == "fetch" and step.binds is not None:
        world.asked_of_session[step.binds] = rank
    return rank


def _first_partition(fields: Fields) -> tuple[str, int] | None:
    """The first topic and partition that a request names."""
    if "markers" in fields:
        fields = fields["markers"][0]
    for topic in fields.get("topics") or fields.get("topic_data") or ():
        name = topic.get("name") or topic.get("topic") or topic["topic_id"]["$topic_id"]
        for part in topic.get("partitions") or topic.get("partition_data") or ():
            index = next(part[key] for key in _INDEXES if key in part)
            return (name, index)
        for index in topic.get("partition_indexes") or ():
            return (name, index)
    return None


def _placed_by_request(world: World, step: Step) -> Fields:
    """Without what takes effect at random, or later or sooner by chance."""
    fields = dict(step.fields)
    if step.api == "metadata":
        fields["allow_auto_topic_creation"] = False
    elif step.api in ("produce", "delete_records") and fields["timeout"] < 5000 and not world.impatient:
        # Followers come in their own time.
        fields["timeout"] = 5000
    elif step.api == "join_group":
        # A move takes seconds, a restart ten: nobody is to be thrown out meanwhile.
        for key in ("session_timeout", "rebalance_timeout"):
            if _SHORTEST_MS <= fields[key] < _LONG_MS:
                fields[key] = _LONG_MS
    elif step.api == "fetch" and fields["replica_id"] in BROKERS:
        # A follower that is there already.
        fields["replica_id"] = 5
    return fields


def _epochs(world: World, value: Any, topic: str = "") -> Any:
    """With leader epochs near the one that a partition has by now."""
    if isinstance(value, list):
        return [_epochs(world, each, topic) for each in value]
    if not isinstance(value, dict):
        return value
    topic = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), topic)
    made = {key: _epochs(world, each, topic) if key in _LISTS else each for key, each in value.items()}
    index = next((value[key] for key in _INDEXES if isinstance(value.get(key), int)), None)
    if index is None:
        return made
    for key in ("current_leader_epoch", "last_fetched_epoch", "leader_epoch"):
        if key in made and made[key] != -2 and (made[key] >= 0 or world.chance(25)):
            plus = world.rng.choices((0, -1, 1, -2, -3), (60, 15, 10, 10, 5))[0]
            near = {"$leader_epoch": [topic, index, plus]}
            made[key] = near if world.chance(85) else world.rng.randrange(6)
    return made

"""Producer ids and transactions."""

from typing import Any

from .members import claim, has_epochs
from .world import BoundProducer, World


def init_producer_id(world: World) -> None:
    """A producer without a transactional id, one with, or one of those once more."""
    rng = world.rng
    version = world.version("init_producer_id")
    fields: dict[str, Any] = {
        "transaction_timeout": rng.choices((60_000, 900_000, 900_001, 0, -1, 2**31 - 1), (88, 4, 2, 2, 2, 2))[
            0
        ],
        "producer_id": -1,
        "producer_epoch": -1,
    }
    if world.chance(35):
        producer = BoundProducer(world.slot(), None)
        world.producers.append(producer)
        if world.chance(5):
            fields |= {"producer_id": 5, "producer_epoch": rng.choice((0, -1))}
        world.add("init_producer_id", version, {"transactional_id": None, **fields}, binds=producer.slot)
        return
    name = world.transactional_id()
    known = next((each for each in world.producers if each.transactional_id == name), None)
    if known is None:
        known = BoundProducer(world.slot(), name)
        world.producers.append(known)
        if world.chance(4):
            fields |= {"producer_id": 77, "producer_epoch": 3}
    elif world.chance(30):
        fields |= {
            "producer_id": known.id if world.chance(92) else 987_654,
            "producer_epoch": known.epoch(rng.choices((0, -1, 1, -2), (70, 15, 10, 5))[0]),
        }
    known.next_sequence.clear()
    world.add("init_producer_id", version, {"transactional_id": name, **fields}, binds=known.slot)


def _transactional(world: World) -> BoundProducer | None:
    found = [each for each in world.producers if each.transactional_id]
    return world.rng.choice(found) if found else None


def _ids(world: World, producer: BoundProducer, prefix: str = "") -> dict[str, Any]:
    """Which producer asks: right most of the time."""
    rng = world.rng
    ids: dict[str, Any] = {
        "transactional_id": producer.transactional_id,
        "producer_id": producer.id,
        "producer_epoch": producer.epoch(),
    }
    if world.chance(10):
        match rng.randrange(3):
            case 0:
                ids["transactional_id"] = rng.choice(("", "unheard~", *world.transactional_ids))
            case 1:
                ids["producer_id"] = rng.choice((-1, 987_654, 0))
            case 2:
                ids["producer_epoch"] = rng.choice((producer.epoch(1), producer.epoch(-1), -1, 32767))
    return {prefix + key: value for key, value in ids.items()}


def _or_new(world: World) -> BoundProducer | None:
    producer = _transactional(world)
    if producer is None:
        init_producer_id(world)
        producer = _transactional(world)
    return producer


def add_partitions_to_txn(world: World) -> None:
    producer = _or_new(world)
    if producer is None:
        return
    rng = world.rng
    topics = []
    for _ in range(rng.choices((1, 2, 0), (80, 18, 2))[0]):
        topic = world.topic()
        count = world.topics.get(topic, 1)
        topics.append(
            {
                "name": topic,
                "partitions": sorted({world.partition(topic) for _ in range(rng.randint(1, count + 1))}),
            }
        )
    version = world.version("add_partitions_to_txn", high=3)
    if world.chance(15):
        version = world.version("add_partitions_to_txn", low=4)
    fields: dict[str, Any] = {**_ids(world, producer, "v3_and_below_"), "v3_and_below_topics": topics}
    one = {**_ids(world, producer), "verify_only": world.chance(50), "topics": topics}
    fields["transactions"] = [one]
    world.add("add_partitions_to_txn", version, fields)


def add_offsets_to_txn(world: World) -> None:
    producer = _or_new(world)
    if producer is not None:
        fields = {**_ids(world, producer), "group_id": world.own_group()}
        world.add("add_offsets_to_txn", world.version("add_offsets_to_txn"), fields)


def txn_offset_commit(world: World) -> None:
    producer = _or_new(world)
    if producer is None:
        return
    rng = world.rng
    fields = {**_ids(world, producer), "group_id": world.own_group(), **_membership(world)}
    if has_epochs(world) and world.chance(70):
        fields |= claim(world)
    topic = world.topic()
    part = {
        "partition_index": world.partition(topic),
        "committed_offset": rng.choice((0, 1, 5, -1, 2**63 - 1)),
        "committed_leader_epoch": rng.choice((-1, 0, 3)),
        "committed_metadata": rng.choice(("", "m", None, "x" * 5000)) if world.chance(30) else "",
    }
    fields["topics"] = [{"name": topic, "partitions": [part]}] if world.chance(97) else []
    world.add("txn_offset_commit", world.version("txn_offset_commit"), fields)


def _membership(world: World) -> dict[str, Any]:
    if world.members and world.chance(30):
        member = world.rng.choice(world.members)
        return {
            "generation_id": {"$generation": [member.slot, world.rng.choice((0, 0, 1))]},
            "member_id": {"$member": member.slot},
            "group_instance_id": member.instance,
        }
    if world.chance(6):
        return {"generation_id": world.rng.choice((0, 3)), "member_id": "stranger", "group_instance_id": None}
    return {"generation_id": -1, "member_id": "", "group_instance_id": None}


def end_txn(world: World) -> None:
    producer = _or_new(world)
    if producer is not None:
        fields = {**_ids(world, producer), "committed": world.chance(60)}
        # From v5 on the answer hands out the next epoch.
        world.add("end_txn", world.version("end_txn"), fields, binds=producer.slot)
        if world.steps[-1].version >= 5:
            producer.next_sequence.clear()


def write_txn_markers(world: World) -> None:
    producer = world.rng.choice(world.producers) if world.producers else None
    rng = world.rng
    topic = world.topic()
    marker = {
        "producer_id": producer.id if producer else 4242,
        "producer_epoch": producer.epoch(rng.choice((0, 0, 0, 1, -1))) if producer else 0,
        "transaction_result": world.chance(50),
        "topics": [{"name": topic, "partition_indexes": [world.partition(topic)]}],
        "coordinator_epoch": rng.choice((0, 0, 0, 1, -1)),
        "transaction_version": rng.choice((0, 0, 2, 1)),
    }
    world.add("write_txn_markers", world.version("write_txn_markers"), {"markers": [marker]})


def transaction(world: World) -> None:
    """A whole transaction as a client has it, in up to six steps."""
    from .producing import produce

    if _or_new(world) is None:
        return
    if world.chance(80):
        add_partitions_to_txn(world)
    for _ in range(world.rng.randint(1, 2)):
        produce(world)
    if world.chance(30):
        add_offsets_to_txn(world)
        txn_offset_commit(world)
    if world.chance(75):
        end_txn(world)


def offsets_in_transaction(world: World) -> None:
    """Offsets are committed in a transaction, which may be left open."""
    if _or_new(world) is None:
        return
    add_offsets_to_txn(world)
    txn_offset_commit(world)
    if world.chance(60):
        end_txn(world)


def describe_transactions(world: World) -> None:
    names = [world.transactional_id() for _ in range(world.rng.choice((1, 1, 2)))]
    world.add("describe_transactions", world.version("describe_transactions"), {"transactional_ids": names})


def list_transactions(world: World) -> None:
    rng = world.rng
    states = ("Ongoing", "Empty", "CompleteCommit", "CompleteAbort", "PrepareEpochFence", "Nonsense")
    fields = {
        "state_filters": rng.sample(states, rng.choice((0, 0, 1, 2))),
        "producer_id_filters": [rng.choice(world.producers).id]
        if world.producers and world.chance(25)
        else [],
        "duration_filter": rng.choice((-1, -1, 0, 100_000)),
        "transactional_id_pattern": rng.choice((None, None, "tx0.*", "nothing", "(")),
    }
    world.add("list_transactions", world.version("list_transactions"), fields)


def describe_producers(world: World) -> None:
    topic = world.topic()
    fields = {"topics": [{"name": topic, "partition_indexes": [world.partition(topic)]}]}
    world.add("describe_producers", world.version("describe_producers"), fields)

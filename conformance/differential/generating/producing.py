"""Produce, with batches right and wrong."""

from typing import Any

from ....rig.batches import CONTROL, LOG_APPEND_TIME, OLD, TRANSACTIONAL
from .world import BoundProducer, World


def produce(world: World) -> None:
    """One request to one to three partitions."""
    rng = world.rng
    producer = rng.choice(world.producers) if world.producers and world.chance(60) else None
    transactional = producer is not None and producer.transactional_id is not None and world.chance(92)
    topics: list[dict[str, Any]] = []
    for _ in range(rng.choices((1, 2, 3, 0), (84, 10, 5, 1))[0]):
        topic = world.topic()
        parts = []
        for _ in range(rng.choices((1, 2, 0), (92, 7, 1))[0]):
            index = world.partition(topic)
            parts.append({"index": index, "records": _records(world, producer, transactional, topic, index)})
        topics.append({**world.refer(topic), "partition_data": parts})
    transactional_id: str | None = None
    if producer is not None and transactional:
        transactional_id = producer.transactional_id
        if world.chance(4):
            transactional_id = rng.choice([None, world.transactional_id(), "", "unheard~"])
    elif world.chance(2):
        transactional_id = world.transactional_id()
    fields = {
        "transactional_id": transactional_id,
        "acks": rng.choices((-1, 1, 0, 2, -2, 32767), (62, 24, 8, 3, 2, 1))[0],
        "timeout": rng.choice((1000, 5000, 0, -1, 30_000)),
        "topic_data": topics,
    }
    world.add("produce", world.version("produce", low=3), fields)


def _records(
    world: World, producer: BoundProducer | None, transactional: bool, topic: str, index: int
) -> Any:
    if world.chance(1):
        return None
    if world.chance(1.5):
        return {"$hex": world.rng.choice(("", "00", "00" * 11, "00" * 12, "00" * 17, "ff" * 61, "00" * 61))}
    made = [_batch(world, producer, transactional, topic, index)]
    while world.chance(3):
        made.append(_batch(world, producer, transactional, topic, index))
    if world.chance(2):
        made.append({"kind": "bytes", "hex": world.rng.choice(("00", "00" * 20, "ff" * 13))})
    return {"$batches": made}


def _batch(
    world: World, producer: BoundProducer | None, transactional: bool, topic: str, index: int
) -> dict[str, Any]:
    rng = world.rng
    count = rng.choices((1, 2, 3, 5, 0), (45, 25, 18, 11, 1))[0]
    if world.chance(3):
        return _messages(world, max(1, count))
    described: dict[str, Any] = {"records": [_record(world) for _ in range(count)]}
    attributes = 0
    if producer is not None:
        place = (topic, index)
        sequence = producer.next_sequence.get(place, 0)
        if world.chance(16):
            sequence = rng.choice(
                (sequence + 1, max(0, sequence - 1), 0, sequence + 7, -1, 2**31 - 1, max(0, sequence - 2))
            )
        else:
            producer.next_sequence[place] = sequence + count
        described |= {"producer_id": producer.id, "producer_epoch": producer.epoch(), "sequence": sequence}
        if world.chance(8):
            described["producer_epoch"] = rng.choice((producer.epoch(1), producer.epoch(-1), -1, 32767))
        if world.chance(1.5):
            described["producer_id"] = rng.choice((-1, -2, 987_654, 0))
        if transactional:
            attributes |= TRANSACTIONAL
    if world.chance(18):
        described["codec"] = rng.choice((1, 2, 3, 4))
    if world.chance(22):
        attributes = _spoil(world, described, attributes, count)
    if attributes:
        described["attributes"] = attributes
    key = (topic, index)
    if key in world.ends or world.topics.get(topic, 0) > index >= 0:
        world.ends[key] = world.ends.get(key, 0) + count
    return described


def _record(world: World) -> dict[str, Any]:
    rng = world.rng
    made: dict[str, Any] = {"time": world.time()}
    if world.chance(40):
        made["key"] = rng.choice(("k", "k2", ""))
    value = rng.choices(("v", "x" * 30, "", None, "y" * 250), (60, 20, 6, 10, 4))[0]
    if value != "v":
        made["value"] = value
    if world.chance(12):
        made["headers"] = rng.choice(([["h", "1"]], [["h", None], ["", ""]], [["a", "b"], ["a", "c"]]))
    return made


def _messages(world: World, count: int) -> dict[str, Any]:
    """A message set of an older format."""
    rng = world.rng
    made: dict[str, Any] = {
        "kind": "messages",
        "magic": rng.choice((0, 1)),
        "records": [_record(world) for _ in range(count)],
    }
    made["codec"] = rng.choices((0, 1, 2, 3), (70, 15, 10, 5))[0]
    if world.chance(15):
        made["bad_crc"] = True
    return made


def _spoil(world: World, described: dict[str, Any], attributes: int, count: int) -> int:
    """Breaks a batch in one way, sometimes in two, since the order of checks shows then."""
    rng = world.rng
    for _ in range(2 if world.chance(35) else 1):
        match rng.randrange(19):
            case 0:
                described["bad_crc"] = True
            case 1:
                described["count"] = rng.choice((0, -1, count + 1, max(0, count - 1), 2**31 - 1))
            case 2:
                described["last_offset_delta"] = rng.choice((-1, count, max(0, count - 2), 2**31 - 1, 0))
            case 3:
                described["base_offset"] = rng.choice((1, -1, 5, 2**62))
            case 4:
                described["magic"] = rng.choice((0, 1, 3, -1, 127))
            case 5:
                described["codec_bits"] = rng.choice((0, 1, 2, 3, 4, 5, 6, 7))
            case 6:
                attributes |= CONTROL
            case 7:
                attributes ^= TRANSACTIONAL
            case 8:
                attributes |= LOG_APPEND_TIME
            case 9:
                attributes |= rng.choice((0x40, 0x80, 0x100, 0x4000))
            case 10:
                described["max_timestamp"] = rng.choice(
                    (-1, 0, OLD - 5, OLD + 10**9, {"$now": 0}, {"$now": 7_200_000})
                )
            case 11:
                described["base_timestamp"] = rng.choice((-1, 0, OLD, {"$now": 0}, 2**62))
            case 12:
                described["length_error"] = rng.choice((1, -1, 5, -5, 1000, -10_000))
            case 13:
                described["extra"] = rng.choice(("00", "01", "0000000000", "ffffffff0f", "0c0000000101"))
            case 14:
                described["cut"] = rng.choice((1, 2, 5, 20, 61))
            case 15:
                if described["records"]:
                    rng.choice(described["records"])["delta"] = rng.choice((-1, 1, 5, 2**31 - 1, 0))
            case 16:
                described["poke"] = [[rng.randrange(12), rng.choice((0, 1, 2, 0x7F, 0x80, 0xFF))]]
            case 17:
                if described["records"]:
                    times = ({"$now": 7_200_000}, {"$now": 1_800_000}, -1, 0, -2, {"$now": 3_590_000})
                    rng.choice(described["records"])["time"] = rng.choice(times)
            case 18:
                described["sequence"] = rng.choice((-1, 3, 2**31 - 1, -2))
                described["partition_leader_epoch"] = rng.choice((-1, 0, 5))
    return attributes

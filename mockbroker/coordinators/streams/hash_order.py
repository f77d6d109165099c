"""The orders in which Java iterates over a `HashMap`, and Kafka over a `TimelineHashMap`."""

from collections.abc import Iterable, Sequence
from itertools import chain

from ...java_hash import buckets, java_hash, spread, spread_hash
from ...portions import MANY, Parts, portions
from .member import Task

_LOAD = 3 / 4
_FIBONACCI = -7046029254386353131


def ordering(names: Iterable[str]) -> Parts[list[str]]:
    """As `in_hash_order`, where there may be many names, each of them once."""
    hashes: dict[str, int] = {}
    for some in portions(names, MANY):
        hashes.update((each, spread_hash(each)) for each in some)
        if len(some) == MANY:
            yield
    room = buckets(16, len(hashes))
    return sorted(hashes, key=lambda each: hashes[each] & (room - 1))


def tasks_in_hash_order(subtopologies: Sequence[tuple[str, int]]) -> Parts[list[Task]]:
    """Those of subtopologies with so many tasks, as keys: records of a text and a number (`TaskId.java`)."""
    room = buckets(16, sum(tasks for _, tasks in subtopologies))
    places: dict[int, list[Task]] = {}
    for name, tasks in subtopologies:
        base = 31 * java_hash(name)
        for some in portions(range(tasks), MANY):
            for index in some:
                bucket = spread(base + index & 0xFFFFFFFF) & (room - 1)
                places.setdefault(bucket, []).append((name, index))
            yield
    found = list[Task]()
    for some_places in portions(sorted(places), MANY):
        found += chain.from_iterable(places[each] for each in some_places)
        yield
    return found


def in_order_of_computing(names: Iterable[str], capacity: int) -> list[str]:
    """With keys that came by `computeIfAbsent`: the map grows one key later, and keys in the same bucket are
    in reverse order."""
    listed = list(names)
    room = buckets(capacity, len(listed) - 1)
    listed.reverse()
    return sorted(listed, key=lambda each: spread_hash(each) & (room - 1))


def in_timeline_order(names: Iterable[str], entries: int) -> list[str]:
    """With these among so many keys in a `TimelineHashMap`, which never had more (`BaseHashTable.java`)."""
    listed, room = list(names), 2
    while (entries + 1) * _LOAD > room:  # which is looked at also where a value is replaced
        room *= 2
    shift = 65 - room.bit_length()

    def slot(name: str) -> int:
        value = java_hash(name)
        signed = value - (1 << 32) if value >> 31 else value
        return (signed * _FIBONACCI & (1 << 64) - 1) >> shift

    listed.reverse()
    return sorted(listed, key=slot)

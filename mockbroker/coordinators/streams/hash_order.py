"""The order in which Java iterates over a `HashMap`."""

from collections.abc import Iterable

from ...java_hash import spread_hash

_LOAD = 3 / 4


def in_hash_order(names: Iterable[str], capacity: int = 16) -> list[str]:
    """With these keys, put one by one into a map that was made with that capacity."""
    listed, room = list(names), _room(capacity)
    while len(listed) > int(room * _LOAD):
        room *= 2
    return sorted(listed, key=lambda each: spread_hash(each) & (room - 1))


def in_order_of_computing(names: Iterable[str], capacity: int) -> list[str]:
    """With keys that came by `computeIfAbsent`: the map grows one key later, and keys in the same bucket are
    in reverse order."""
    room, ordered = _room(capacity), list[str]()
    for name in names:
        if len(ordered) > int(room * _LOAD):
            room *= 2
        ordered.insert(0, name)
        ordered = sorted(ordered, key=lambda each: spread_hash(each) & (room - 1))
    return ordered


def _room(capacity: int) -> int:
    room = 1
    while room < capacity:
        room *= 2
    return room

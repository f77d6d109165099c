"""Java's hash codes of strings, by which Kafka chooses partitions and orders what it iterates over."""

import functools
from array import array
from collections.abc import Callable, Iterable
from operator import mul
from typing import Final, TypeVar

T = TypeVar("T")

_POWERS: Final = [pow(31, power, 1 << 32) for power in reversed(range(1024))]
_LOAD: Final = 3 / 4
_CACHED_LENGTH: Final = 256
"""The hashes of longer texts are not cached."""


def java_hash(text: str) -> int:
    """`String.hashCode`, as an unsigned 32-bit number."""
    units = array("H", text.encode("utf-16", "surrogatepass"))
    value = 0
    # The first unit is the byte order mark.
    for start in range(1, len(units), len(_POWERS)):
        part = units[start : start + len(_POWERS)]
        powers = _POWERS[len(_POWERS) - len(part) :]
        value = (value * pow(31, len(part), 1 << 32) + sum(map(mul, part, powers))) & 0xFFFFFFFF
    return value


def spread_hash(text: str) -> int:
    """The hash by which `HashMap` chooses a bucket: the upper half mixed into the lower (`HashMap.hash`)."""
    return _spread(text) if len(text) <= _CACHED_LENGTH else _spread.__wrapped__(text)


@functools.lru_cache(maxsize=8192)
def _spread(text: str) -> int:
    return spread(java_hash(text))


def spread(value: int) -> int:
    """A hash code, an unsigned 32-bit number, as `HashMap` uses it."""
    return value ^ value >> 16


def in_hash_order(found: Iterable[T], capacity: int = 16, *, name: Callable[[T], str] = str) -> list[T]:
    """In the order of a `HashMap` that was made with that capacity, with these names as keys, put one by one;
    those in the same bucket stay as they are."""
    listed = list(found)
    room = buckets(capacity, len(listed))
    return sorted(listed, key=lambda each: spread_hash(name(each)) & (room - 1))


def buckets(capacity: int, entries: int) -> int:
    """How many a `HashMap` has with so many entries: each time twice as many as before."""
    room = 1
    while room < capacity or entries > int(room * _LOAD):
        room *= 2
    return room


def positive_hash(text: str) -> int:
    """`Utils.abs(text.hashCode())`, which chooses a group's partition; 0 for the smallest int."""
    return _positive(text) if len(text) <= _CACHED_LENGTH else _positive.__wrapped__(text)


@functools.lru_cache(maxsize=1024)
def _positive(text: str) -> int:
    value = java_hash(text)
    return abs(value - (1 << 32)) & 0x7FFFFFFF if value & 0x80000000 else value

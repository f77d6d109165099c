"""The order in which a controller iterates over its hash tables (`TimelineHashMap.java`,
`BaseHashTable.java`)."""

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

_FIBONACCI: Final = 0x9E3779B97F4A7C15
_LEAST_SLOTS: Final = 2
_SIGN: Final = 1 << 31
_LONG: Final = (1 << 64) - 1
Key = TypeVar("Key")


def in_table_order(keys: Iterable[Key], most: int, hash_code: Callable[[Key], int]) -> list[Key]:
    """`keys` in the order of a table to which they were added one by one; `hash_code` returns 32 bits.

    `most` is how many keys the table has made room for: it never shrinks, and makes room for one more even if
    an existing key gets another value.
    """
    slots = _LEAST_SLOTS
    while most * 3 > slots * 4:
        slots *= 2
    found = list(keys)
    # A slot is read from its end; growing keeps the order in which keys were added.
    found.reverse()
    found.sort(key=lambda key: _slot(hash_code(key), slots))
    return found


def _slot(code: int, slots: int) -> int:
    signed = (code ^ _SIGN) - _SIGN
    return (signed * _FIBONACCI & _LONG) >> 65 - slots.bit_length()

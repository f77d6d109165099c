"""In which order a controller goes through its hash tables (`BaseHashTable.java`)."""

import functools
from typing import Final

_FIBONACCI: Final = 0x9E3779B97F4A7C15
_LEAST_SLOTS: Final = 2
_LONG: Final = (1 << 64) - 1


def _slot(key: int, slots: int) -> int:
    return (key * _FIBONACCI & _LONG) >> 65 - slots.bit_length()


@functools.lru_cache(maxsize=256)
def first_partition(count: int) -> int:
    """The partition that comes first among `count` in a table to which they were added in order."""
    slots = _LEAST_SLOTS
    for size in range(count):
        if (size + 1) * 3 > slots * 4:
            slots *= 2
    # A slot is read from its end; growing keeps the order in which its keys were added.
    return max(key for key in range(count) if not _slot(key, slots))

"""Which partition a record goes to, as in Kafka's own producer (`BuiltInPartitioner.java`)."""

from typing import Final

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF


def partition_for(key: bytes, partitions: int) -> int:
    """The partition of a key, out of a number of partitions."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """`Utils.murmur2` of Kafka, from 0 on: 32 bits without sign."""
    length = len(data)
    found = _SEED ^ length
    whole = length & ~3
    for at in range(0, whole, 4):
        part = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        part = (part ^ part >> 24) * _M & _MASK
        found = (found * _M & _MASK) ^ part
    if length > whole:
        found ^= int.from_bytes(data[whole:], "little")
        found = found * _M & _MASK
    found = (found ^ found >> 13) * _M & _MASK
    return found ^ found >> 15

"""XXH3 with 64 bits, seed 0 and the secret that comes with it (https://github.com/Cyan4973/xxHash,
`doc/xxhash_spec.md`), of data of 4 bytes or more."""

import struct
from typing import Final

_SECRET: Final = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_MASK: Final = (1 << 64) - 1
_LOW: Final = (1 << 32) - 1
_PRIME32: Final = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_PRIME64: Final = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_START: Final = (_PRIME32[2], *_PRIME64[:4], _PRIME32[1], _PRIME64[4], _PRIME32[0])
_MIX: Final = 0x165667919E3779F9
_RRMXMX: Final = 0x9FB21C651E98DF25
_STRIPE, _LANES, _STEP = 64, 8, 8
"""Bytes and numbers of a stripe, and by how many bytes of the secret the next one is further."""
_STRIPES: Final = (len(_SECRET) - _STRIPE) // _STEP
_BLOCK: Final = _STRIPES * _STRIPE
_LAST_KEY: Final = len(_SECRET) - _STRIPE - 7
_MERGE_KEY: Final = 11
_SHORT, _MIDDLE = 16, 240


class Xxh3:
    """Hashes data piece by piece: `update` takes as long as the piece is, `value` next to nothing."""

    def __init__(self) -> None:
        self._size = 0
        self._lanes = list(_START)
        self._last = b""
        """The last stripe of what is in the lanes."""
        self._rest = bytearray()

    def update(self, data: bytes | bytearray) -> None:
        self._size += len(data)
        self._rest += data
        # What comes last is mixed in another way.
        whole = (len(self._rest) - 1) // _BLOCK if self._size > _MIDDLE else 0
        for block in range(whole):
            _accumulate(self._lanes, self._rest[block * _BLOCK : (block + 1) * _BLOCK], 0)
            for lane, key in enumerate(struct.unpack_from("<8Q", _SECRET, len(_SECRET) - _STRIPE)):
                found = self._lanes[lane] & _MASK
                self._lanes[lane] = (found ^ found >> 47 ^ key) * _PRIME32[0]
        if whole > 0:
            end = whole * _BLOCK
            self._last = bytes(self._rest[end - _STRIPE : end])
            del self._rest[:end]

    @property
    def value(self) -> int:
        """The hash, as Java's long. ValueError for less than 4 bytes."""
        found = self._found()
        return found - (1 << 64) if found >> 63 else found

    def _found(self) -> int:
        size, rest = self._size, bytes(self._rest)
        if size < 4:
            raise ValueError(f"{size} bytes are too few to be hashed")
        if size <= 8:
            return _of_eight(rest)
        if size <= _SHORT:
            return _of_sixteen(rest)
        if size <= _MIDDLE:
            return _of_middle(rest)
        lanes = list(self._lanes)
        _accumulate(lanes, rest[: (len(rest) - 1) // _STRIPE * _STRIPE], 0)
        _accumulate(lanes, (self._last + rest)[-_STRIPE:], _LAST_KEY)
        found = size * _PRIME64[0]
        for pair in range(0, _LANES, 2):
            at = _MERGE_KEY + 8 * pair
            found += _folded(lanes[pair] & _MASK ^ _secret(at), lanes[pair + 1] & _MASK ^ _secret(at + 8))
        return _avalanche(found)


def xxh3(data: bytes) -> int:
    """As `Xxh3.value`."""
    hashing = Xxh3()
    hashing.update(data)
    return hashing.value


def _of_eight(data: bytes) -> int:
    first, last = int.from_bytes(data[:4], "little"), int.from_bytes(data[-4:], "little")
    mixed = ((first << 32) + last) ^ _secret(8) ^ _secret(16)
    mixed ^= _rotated(mixed, 49) ^ _rotated(mixed, 24)
    mixed = mixed * _RRMXMX & _MASK
    mixed ^= (mixed >> 35) + len(data)
    mixed = mixed * _RRMXMX & _MASK
    return mixed ^ mixed >> 28


def _of_sixteen(data: bytes) -> int:
    low = _number(data, 0) ^ _secret(24) ^ _secret(32)
    high = _number(data, len(data) - 8) ^ _secret(40) ^ _secret(48)
    swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
    return _avalanche(len(data) + swapped + high + _folded(low, high))


def _of_middle(data: bytes) -> int:
    size = len(data)
    found = size * _PRIME64[0]
    if size <= 128:
        for pair in range((size - 1) // 32 + 1):
            found += _mixed(data, 16 * pair, 32 * pair)
            found += _mixed(data, size - 16 * (pair + 1), 32 * pair + 16)
        return _avalanche(found)
    found = _avalanche(found + sum(_mixed(data, 16 * each, 16 * each) for each in range(8)))
    found += sum(_mixed(data, 16 * each, 16 * (each - 8) + 3) for each in range(8, size // 16))
    return _avalanche(found + _mixed(data, size - 16, 136 - 17))


def _accumulate(lanes: list[int], stripes: bytes | bytearray, key_at: int) -> None:
    """Adds stripes of one block, lane by lane: that is faster here than stripe by stripe."""
    numbers = struct.unpack(f"<{len(stripes) // 8}Q", stripes)
    keys = struct.unpack_from(f"<{_LANES + len(stripes) // _STRIPE}Q", _SECRET[key_at:] + bytes(_STEP))
    for lane in range(_LANES):
        own = numbers[lane::_LANES]
        lanes[lane ^ 1] += sum(own)
        mixed = (number ^ key for number, key in zip(own, keys[lane:], strict=False))
        lanes[lane] += sum((each & _LOW) * (each >> 32) for each in mixed)


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _secret(at: int) -> int:
    return _number(_SECRET, at)


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 64 - bits) & _MASK


def _folded(one: int, other: int) -> int:
    product = one * other
    return product & _MASK ^ product >> 64


def _mixed(data: bytes, at: int, key: int) -> int:
    return _folded(_number(data, at) ^ _secret(key), _number(data, at + 8) ^ _secret(key + 8))


def _avalanche(number: int) -> int:
    number &= _MASK
    number ^= number >> 37
    number = number * _MIX & _MASK
    return number ^ number >> 32

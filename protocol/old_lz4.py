"""LZ4 frames of messages of magic 0, whose header checksum also covers the frame's magic number
(KAFKA-3160)."""

from typing import Final

_FLAGS_AT: Final = 4
_CONTENT_SIZE: Final = 0x08
_MASK: Final = 0xFFFFFFFF
_PRIMES: Final = (2654435761, 2246822519, 3266489917, 668265263, 374761393)
_MOST: Final = 16


def with_right_checksum(frame: bytes | memoryview) -> bytes:
    """The frame with the header checksum that LZ4 asks for, whatever it has: for magic 0 brokers don't
    look."""
    return _with_checksum(frame, _FLAGS_AT)


def with_old_checksum(frame: bytes | memoryview) -> bytes:
    """The frame with the checksum that clients of magic 0 expect."""
    return _with_checksum(frame, 0)


def _with_checksum(frame: bytes | memoryview, covered_from: int) -> bytes:
    data = bytearray(frame)
    if len(data) <= _FLAGS_AT:
        return bytes(data)
    at = _FLAGS_AT + 2 + (8 if data[_FLAGS_AT] & _CONTENT_SIZE else 0)
    if at < len(data):
        data[at] = _xxh32(bytes(data[covered_from:at])) >> 8 & 0xFF
    return bytes(data)


def _xxh32(data: bytes) -> int:
    """xxHash of fewer than 16 bytes, with seed 0."""
    assert len(data) < _MOST
    first, second, third, fourth, fifth = _PRIMES
    found, at = fifth + len(data), 0
    while at + 4 <= len(data):
        found = _rotated(found + int.from_bytes(data[at : at + 4], "little") * third, 17) * fourth
        at += 4
    for byte in data[at:]:
        found = _rotated(found + byte * fifth, 11) * first
    found = (found ^ (found & _MASK) >> 15) * second & _MASK
    found = (found ^ found >> 13) * third & _MASK
    return found ^ found >> 16


def _rotated(value: int, bits: int) -> int:
    value &= _MASK
    return (value << bits | value >> 32 - bits) & _MASK

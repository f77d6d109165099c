"""Compression codecs of record batches (`CompressionType.java`)."""

import enum
import struct
from typing import Final

import cramjam


class Compression(enum.IntEnum):
    """The lowest three attribute bits of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_XERIAL: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL + struct.pack(">ii", 1, 1)
_SNAPPY_BLOCK: Final = 1 << 15
_LZ4_HEADER: Final = b"\x04\x22\x4d\x18\x60\x40\x82"
"""Independent blocks of 64 KB: Kafka's Java reads no others (`Lz4BlockInputStream.java`)."""
_LZ4_BLOCK: Final = 1 << 16
_LZ4_STORED: Final = 1 << 31


def decompress(codec: int, data: bytes | memoryview) -> bytes | memoryview:
    """The records as they were before compression. ValueError when `data` is not what `codec` says."""
    try:
        match codec:
            case Compression.NONE:
                return data
            case Compression.GZIP:
                return bytes(cramjam.gzip.decompress(data))
            case Compression.SNAPPY:
                return _snappy(bytes(data))
            case Compression.LZ4:
                return bytes(cramjam.lz4.decompress(data))
            case Compression.ZSTD:
                return bytes(cramjam.zstd.decompress(data))
    except (cramjam.DecompressionError, struct.error) as error:
        raise ValueError(f"records do not decompress as {Compression(codec).name.lower()}: {error}") from None
    raise ValueError(f"unknown compression codec {codec}")


def _snappy(data: bytes) -> bytes:
    """Plain snappy, or the blocks of snappy-java's stream (magic, two versions, then length and block)."""
    if not data.startswith(_XERIAL):
        return bytes(cramjam.snappy.decompress_raw(data))
    out, offset = bytearray(), 16
    while offset < len(data):
        (size,) = struct.unpack_from(">i", data, offset)
        out += bytes(cramjam.snappy.decompress_raw(data[offset + 4 : offset + 4 + size]))
        offset += 4 + size
    return bytes(out)


def compress(codec: int, data: bytes) -> bytes:
    """`data` in the frames of Kafka's Java clients and brokers. ValueError when there is no such codec."""
    match codec:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return bytes(cramjam.gzip.compress(data))
        case Compression.SNAPPY:
            return _to_snappy(data)
        case Compression.LZ4:
            return _to_lz4(data)
        case Compression.ZSTD:
            return bytes(cramjam.zstd.compress(data))
    raise ValueError(f"unknown compression codec {codec}")


def _to_snappy(data: bytes) -> bytes:
    out = bytearray(_XERIAL_HEADER)
    for at in range(0, len(data), _SNAPPY_BLOCK):
        block = bytes(cramjam.snappy.compress_raw(data[at : at + _SNAPPY_BLOCK]))
        out += struct.pack(">i", len(block)) + block
    return bytes(out)


def _to_lz4(data: bytes) -> bytes:
    out = bytearray(_LZ4_HEADER)
    for at in range(0, len(data), _LZ4_BLOCK):
        plain = data[at : at + _LZ4_BLOCK]
        block = bytes(cramjam.lz4.compress_block(plain, store_size=False))
        stored = len(block) >= len(plain)
        out += struct.pack("<I", len(plain) | _LZ4_STORED if stored else len(block))
        out += plain if stored else block
    return bytes(out) + b"\0\0\0\0"

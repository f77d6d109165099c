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

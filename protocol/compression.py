"""Compression codecs of record batches (`CompressionType.java`)."""

import enum
import struct
import zlib
from collections.abc import Callable
from typing import Final

import cramjam

from .primitives import MOST_DECOMPRESSED


class Compression(enum.IntEnum):
    """The lowest three attribute bits of a batch."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


_GZIP_HEADER: Final = b"\x1f\x8b\x08\0\0\0\0\0\0\xff"
_XERIAL: Final = b"\x82SNAPPY\x00"
_XERIAL_HEADER: Final = _XERIAL + struct.pack(">ii", 1, 1)
_SNAPPY_BLOCK: Final = 1 << 15
_LZ4_HEADER: Final = b"\x04\x22\x4d\x18\x60\x40\x82"
"""Independent blocks of 64 KB: Kafka's Java code reads no others (`Lz4BlockInputStream.java`)."""
_LZ4_BLOCK: Final = 1 << 16
_LZ4_STORED: Final = 1 << 31
_LZ4_FLAGS_AT: Final = 4
_LZ4_BLOCK_CHECKSUM, _LZ4_CONTENT_SIZE, _LZ4_CONTENT_CHECKSUM = 0x10, 0x08, 0x04
_ZSTD_LEVEL: Final = 3
_UINT32: Final = struct.Struct("<I").unpack_from
_USUAL_RATIO: Final = 4
_GROWTH: Final = 8
_LEAST_BUFFER: Final = 4096
_FULL: Final = "failed to write whole buffer"
"""cramjam's message if a buffer is too small."""


class TooLargeError(ValueError):
    """Data that would decompress to more than is accepted."""


def decompress(codec: int, data: bytes | memoryview, most: int = MOST_DECOMPRESSED) -> bytes | memoryview:
    """The decompressed records: at most `most` bytes, whatever `data` announces.

    ValueError if `data` is not compressed with `codec`, TooLargeError if it would be larger.
    """
    try:
        match codec:
            case Compression.NONE:
                return data
            case Compression.GZIP:
                # The last four bytes are the size of the last member, modulo 2**32.
                (size,) = _UINT32(data, len(data) - 4) if len(data) >= 4 else (0,)
                return _grown(cramjam.gzip.decompress_into, data, most, size)
            case Compression.SNAPPY:
                return _snappy(bytes(data), most)
            case Compression.LZ4:
                return _grown(cramjam.lz4.decompress_into, _lz4_frame(data), most)
            case Compression.ZSTD:
                return _grown(cramjam.zstd.decompress_into, data, most)
    except (cramjam.DecompressionError, struct.error) as error:
        raise ValueError(f"records do not decompress as {Compression(codec).name.lower()}: {error}") from None
    raise ValueError(f"unknown compression codec {codec}")


def _grown(into: Callable[..., int], data: bytes | memoryview, most: int, guess: int = 0) -> bytes:
    """What `into` writes to a buffer; tries larger buffers while it is too small."""
    size = min(most, max(guess, len(data) * _USUAL_RATIO, _LEAST_BUFFER))
    while True:
        out = bytearray(size)
        try:
            used = into(data, out)
        except cramjam.DecompressionError as error:
            if _FULL not in str(error):
                raise
            if size >= most:
                raise _too_large(most) from None
            size = min(most, size * _GROWTH)
        else:
            return bytes(memoryview(out)[:used])


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(
        f"more than {most} bytes after decompression: mockbroker.max.decompressed.bytes can be set higher"
        if most < MOST_DECOMPRESSED
        else f"more than {most} bytes after decompression"
    )


def _lz4_frame(data: bytes | memoryview) -> bytes | memoryview:
    """`data` up to the end of its first frame; what follows is ignored (`Lz4BlockInputStream.java`)."""
    if len(data) <= _LZ4_FLAGS_AT:
        return data
    flags = data[_LZ4_FLAGS_AT]
    at = len(_LZ4_HEADER) + (8 if flags & _LZ4_CONTENT_SIZE else 0)
    while at + 4 <= len(data):
        (size,) = _UINT32(data, at)
        at += 4
        if not size:
            return data[: at + (4 if flags & _LZ4_CONTENT_CHECKSUM else 0)]
        at += (size & ~_LZ4_STORED) + (4 if flags & _LZ4_BLOCK_CHECKSUM else 0)
    return data


def _snappy(data: bytes, most: int) -> bytes:
    """Plain snappy, or the blocks of snappy-java's stream (magic, two versions, then lengths and blocks)."""
    if not data.startswith(_XERIAL):
        return _snappy_block(data, most)
    out, offset = bytearray(), 16
    while offset < len(data):
        (size,) = struct.unpack_from(">i", data, offset)
        offset += 4
        if not 0 <= size <= len(data) - offset:
            raise ValueError(f"a snappy block of {size} bytes where {len(data) - offset} are left")
        out += _snappy_block(data[offset : offset + size], most - len(out))
        offset += size
    return bytes(out)


def _snappy_block(data: bytes, most: int) -> bytes:
    if cramjam.snappy.decompress_raw_len(data) > most:
        raise _too_large(most)
    return bytes(cramjam.snappy.decompress_raw(data))


def compress(codec: int, data: bytes) -> bytes:
    """Compresses `data` as Kafka's Java clients and brokers do. ValueError for an unknown codec."""
    match codec:
        case Compression.NONE:
            return data
        case Compression.GZIP:
            return _to_gzip(data)
        case Compression.SNAPPY:
            return _to_snappy(data)
        case Compression.LZ4:
            return _to_lz4(data)
        case Compression.ZSTD:
            return _to_zstd(data)
    raise ValueError(f"unknown compression codec {codec}")


def _to_gzip(data: bytes) -> bytes:
    """Byte for byte what Java's `GZIPOutputStream` writes; that uses zlib too."""
    deflated = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = deflated.compress(data) + deflated.flush()
    return _GZIP_HEADER + body + struct.pack("<II", zlib.crc32(data), len(data) % 2**32)


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


def _to_zstd(data: bytes) -> bytes:
    """Like zstd-jni's stream, which is flushed before its end."""
    stream = cramjam.zstd.Compressor(_ZSTD_LEVEL)
    stream.compress(data)
    return bytes(stream.flush()) + bytes(stream.finish())

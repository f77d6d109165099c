"""What decompresses to more than it should is refused in time and memory that the limit bounds."""

import contextlib
import gzip
import random
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.protocol import message_set, record_batch
from mockbroker.protocol.compression import Compression, TooLargeError, compress, decompress
from mockbroker.rig.batches import batch

XERIAL = b"\x82SNAPPY\x00" + struct.pack(">ii", 1, 1)


def _xerial(data: bytes) -> bytes:
    half = len(data) // 2
    blocks = [snappy.compress(part) for part in (data[:half], data[half:])]
    return XERIAL + b"".join(struct.pack(">i", len(block)) + block for block in blocks)


def _streamed_zstd(data: bytes) -> bytes:
    """Without the size of the content, as Java's streams write it, and with the largest window."""
    parameters = zstandard.ZstdCompressionParameters(window_log=27, write_content_size=0)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    return packer.compress(data) + packer.flush()


FORMS: dict[str, tuple[Compression, Callable[[bytes], bytes]]] = {
    "gzip": (Compression.GZIP, gzip.compress),
    "gzip, two members": (Compression.GZIP, lambda d: gzip.compress(d[:9]) + gzip.compress(d[9:])),
    "snappy": (Compression.SNAPPY, snappy.compress),
    "snappy, xerial": (Compression.SNAPPY, _xerial),
    "lz4": (Compression.LZ4, lambda d: compress(Compression.LZ4, d)),
    "lz4, size announced": (Compression.LZ4, lambda d: lz4.frame.compress(d, store_size=True)),
    "zstd": (Compression.ZSTD, lambda d: zstandard.compress(d)),
    "zstd, streamed": (Compression.ZSTD, _streamed_zstd),
    "zstd, two frames": (Compression.ZSTD, lambda d: zstandard.compress(d[:9]) + zstandard.compress(d[9:])),
}


@pytest.mark.parametrize("form", FORMS)
@given(size=st.integers(0, 200_000), spare=st.integers(-300, 300), zeros=st.booleans())
def test_as_much_as_the_limit_is_taken_and_no_more(form: str, size: int, spare: int, zeros: bool) -> None:
    codec, pack = FORMS[form]
    data = bytes(size) if zeros else random.Random(size).randbytes(min(size, 20_000))
    packed = pack(data)
    most = max(0, len(data) + spare)
    if len(data) <= most:
        assert bytes(decompress(codec, packed, most)) == data
    else:
        with pytest.raises(TooLargeError, match="more than"):
            decompress(codec, packed, most)


@given(first=st.binary(min_size=1, max_size=200), second=st.binary(max_size=200))
def test_nobody_looks_behind_the_first_frame_of_lz4(first: bytes, second: bytes) -> None:
    packed = lz4.frame.compress(first) + lz4.frame.compress(second)
    assert bytes(decompress(Compression.LZ4, packed, len(first))) == first


@pytest.mark.parametrize("form", FORMS)
@given(cut=st.integers(0, 100), noise=st.binary(max_size=9), at=st.integers(0, 200))
def test_damaged_data_is_refused_or_read(form: str, cut: int, noise: bytes, at: int) -> None:
    codec, pack = FORMS[form]
    packed = bytearray(pack(b"some text, some text, other text" * 4))
    packed[at : at + len(noise)] = noise
    with contextlib.suppress(ValueError):
        assert len(decompress(codec, bytes(packed[: len(packed) - cut]), 4096)) <= 4096


@pytest.mark.parametrize("size", [-(2**31), -4, -1, 100, 2**31 - 1])
def test_a_snappy_block_of_any_size_ends(size: int) -> None:
    with pytest.raises(ValueError, match="snappy block"):
        decompress(Compression.SNAPPY, XERIAL + struct.pack(">i", size) + b"abc")


BOMBS = """
import resource, sys
from mockbroker.protocol.compression import Compression, TooLargeError, compress, decompress
import cramjam, struct
part = bytes(1 << 24)
frame, HEADER, END = compress(Compression.LZ4, part), 7, 4
bombs = {
    Compression.GZIP: bytes(cramjam.gzip.compress(part)) * 128,
    Compression.LZ4: frame[:HEADER] + frame[HEADER:-END] * 128 + frame[-END:],
    Compression.ZSTD: bytes(cramjam.zstd.compress(part)) * 128,
    Compression.SNAPPY: bytes([0xff, 0xff, 0xff, 0xff, 0x0f]) + b"\\0" * 50,
}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for codec, bomb in bombs.items():
    try:
        decompress(codec, bomb, 32 << 20)
    except TooLargeError:
        print(codec.name)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown // 1024 if sys.platform == "linux" else grown >> 20)
"""


def test_two_gigabytes_take_no_more_memory_than_the_limit() -> None:
    done = subprocess.run([sys.executable, "-c", BOMBS], capture_output=True, text=True, check=True)
    *refused, grown_mb = done.stdout.split()
    assert sorted(refused) == ["GZIP", "LZ4", "SNAPPY", "ZSTD"]
    assert int(grown_mb) < 100


@given(data=st.binary(max_size=60), count=st.integers(0, 2**31 - 1))
def test_records_of_anything_end(data: bytes, count: int) -> None:
    header = batch(1, count=count)[: record_batch.HEADER_BYTES]
    with contextlib.suppress(ValueError, IndexError):
        assert sum(1 for _ in record_batch.records(header + data)) <= len(data)


def test_a_wrapper_of_old_messages_is_bounded_too() -> None:
    value = zlib.compress(b"", wbits=31) + b"".join(gzip.compress(bytes(1 << 24), 1) for _ in range(17))
    wrapper = message_set.Message(0, 0, 0, 1, Compression.GZIP, 0, None, value)
    with pytest.raises(TooLargeError):
        message_set.records(wrapper)

"""What the mock compresses, other libraries read."""

import gzip

import lz4.frame
import pytest
import snappy
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.protocol.compression import Compression, compress, decompress

CODECS = list(Compression)
LARGE = bytes(range(256)) * 1000
NOISE = b"".join((i * 2654435761 % 2**32).to_bytes(4, "big") for i in range(40_000))


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("data", [b"", b"x", LARGE, NOISE], ids=["empty", "small", "large", "noise"])
def test_others_read_it(codec: Compression, data: bytes) -> None:
    packed = compress(codec, data)
    assert bytes(decompress(codec, packed)) == data
    match codec:
        case Compression.GZIP:
            assert gzip.decompress(packed) == data
        case Compression.SNAPPY:
            assert xerial(packed) == data
        case Compression.LZ4:
            assert lz4.frame.decompress(packed) == data
            info = lz4.frame.get_frame_info(packed)
            assert not info["block_linked"]
        case Compression.ZSTD:
            assert zstandard.ZstdDecompressor().decompressobj().decompress(packed) == data


def xerial(packed: bytes) -> bytes:
    out, at = b"", 16
    while at < len(packed):
        size = int.from_bytes(packed[at : at + 4], "big")
        out += snappy.decompress(packed[at + 4 : at + 4 + size])
        at += 4 + size
    return out


@pytest.mark.parametrize("checksum", [False, True])
@pytest.mark.parametrize("block_checksum", [False, True])
@pytest.mark.parametrize("store_size", [False, True])
def test_what_follows_a_frame_of_lz4_is_not_read(
    checksum: bool, block_checksum: bool, store_size: bool
) -> None:
    frame = lz4.frame.compress(
        NOISE,
        block_linked=False,
        block_size=lz4.frame.BLOCKSIZE_MAX64KB,
        content_checksum=checksum,
        block_checksum=block_checksum,
        store_size=store_size,
    )
    assert bytes(decompress(Compression.LZ4, frame + b"anything")) == NOISE


def test_an_empty_block_of_lz4_is_its_end() -> None:
    packed = bytearray(compress(Compression.LZ4, b"x" * 20))
    packed[7:11] = bytes(4)
    assert bytes(decompress(Compression.LZ4, bytes(packed))) == b""


def test_brokers_write_the_same_bytes() -> None:
    # What 4.4.0 made of these records in topics with `compression.type`.
    few = bytes.fromhex("4c000000046b323c" + "78" * 30 + "0010001302026b027600")
    zipped = "1f8b08000000000000fff361606060c936b2a9c00b180418849998b299ca1800bd350a4330000000"
    assert compress(Compression.GZIP, few) == bytes.fromhex(zipped)
    one = bytes.fromhex("fa07000000046b32e807" + "79" * 500 + "00")
    assert compress(Compression.ZSTD, one) == bytes.fromhex(
        "28b52ffd00589c000060fa07000000046b32e80779000100f02af002010000"
    )


@given(data=st.binary(max_size=2000), codec=st.sampled_from(CODECS))
def test_it_comes_back(data: bytes, codec: Compression) -> None:
    assert bytes(decompress(codec, compress(codec, data))) == data


def test_an_unknown_codec_is_refused() -> None:
    with pytest.raises(ValueError, match="codec 7"):
        compress(7, b"")

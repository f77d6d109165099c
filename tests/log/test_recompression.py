"""Batches that `compression.type` has written anew: the same records, another codec."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.log.recompression import CODECS, recompressed
from mockbroker.protocol import record_batch
from mockbroker.protocol.compression import Compression, decompress
from mockbroker.protocol.record_batch import HEADER_BYTES, TRANSACTIONAL, header_of, records
from mockbroker.rig.batches import Record, batch

DATA = st.none() | st.binary(max_size=40)
RECORDS = st.lists(
    st.builds(
        Record,
        value=DATA,
        key=DATA,
        timestamp=st.integers(-1, 2**45),
        headers=st.lists(st.tuples(st.text(max_size=3), DATA), max_size=2).map(tuple),
    ),
    min_size=1,
    max_size=8,
)


@given(RECORDS, st.sampled_from(Compression), st.sampled_from(Compression), st.booleans())
def test_the_records_stay_what_they_are(
    given: list[Record], codec: Compression, kept: Compression, transactional: bool
) -> None:
    attributes = TRANSACTIONAL | 0x80 if transactional else 0x80
    producer = 7 if transactional else -1
    sent = batch(
        given, codec=codec, attributes=attributes, producer_id=producer, producer_epoch=3, sequence=5
    )
    made, header = recompressed(bytearray(sent), header_of(sent), kept)
    assert header_of(made)[5:] == header[5:]
    assert record_batch.crc_matches(made, header_of(made))
    assert header.attributes == kept | (attributes & TRANSACTIONAL)
    assert header[9:] == (producer, 3, 5, len(given))
    assert list(records(made)) == list(records(sent))
    assert header.base_timestamp == given[0].timestamp
    assert header.max_timestamp == max(each.timestamp for each in given)
    plain = bytes(decompress(kept, bytes(made[HEADER_BYTES:])))
    again, _ = recompressed(bytearray(made), header_of(made), Compression.NONE)
    assert bytes(again[HEADER_BYTES:]) == plain
    if codec is Compression.NONE:
        # With the headers of each record.
        assert plain == sent[HEADER_BYTES:]


def test_every_value_of_compression_type_has_a_codec() -> None:
    assert set(CODECS) >= {"uncompressed", "gzip", "snappy", "lz4", "zstd"}


@pytest.mark.parametrize(
    ("producer_id", "epoch", "attributes"), [(7, -1, 0), (7, -1, TRANSACTIONAL), (-1, -1, TRANSACTIONAL)]
)
def test_what_a_broker_does_not_write(producer_id: int, epoch: int, attributes: int) -> None:
    """`MemoryRecordsBuilder.validateProducerState`."""
    sent = batch(1, producer_id=producer_id, producer_epoch=epoch, sequence=0, attributes=attributes)
    with pytest.raises(ValueError, match="producer id"):
        recompressed(bytearray(sent), header_of(sent), Compression.GZIP)


def test_a_time_that_a_broker_does_not_write() -> None:
    """`MemoryRecordsBuilder.appendWithOffset`."""
    sent = batch([Record(b"a"), Record(b"b", timestamp=-2)])
    with pytest.raises(ValueError, match="-2"):
        recompressed(bytearray(sent), header_of(sent), Compression.GZIP)

"""Messages of magic 0 and 1, both ways, and from batches and back."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.configs import TopicSettings
from mockbroker.log.down_conversion import converted as down_converted
from mockbroker.log.down_conversion import padded
from mockbroker.log.old_messages import Made, batch_with, converting
from mockbroker.log.validation import BatchError
from mockbroker.portions import MANY, at_once
from mockbroker.protocol import message_set, record_batch
from mockbroker.protocol.compression import compress
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.old_lz4 import with_old_checksum, with_right_checksum
from mockbroker.protocol.record_batch import MAX_RECORDS, Record
from mockbroker.rig import batches

from ..properties import examples
from .test_schema import damage

CODECS = [batches.NONE, batches.GZIP, batches.SNAPPY, batches.LZ4]
FIELDS = st.none() | st.binary(max_size=100)
RECORDS = st.lists(
    st.builds(Record, st.just(0), st.integers(-1, 2**40), FIELDS, FIELDS), min_size=1, max_size=8
)


def placed(records: list[Record], first: int = 0, step: int = 1) -> list[Record]:
    """With offsets from `first` on."""
    return [each._replace(offset=first + step * number) for number, each in enumerate(records)]


def as_kept(records: list[Record], magic: int) -> list[Record]:
    return [each if magic else each._replace(timestamp=-1) for each in records]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=examples(40))
@given(records=RECORDS, first=st.integers(0, 2**40), step=st.integers(1, 5))
def test_what_is_written_is_read_back(
    magic: int, codec: int, records: list[Record], first: int, step: int
) -> None:
    records = placed(records, first, step)
    outer = list(message_set.split(memoryview(message_set.set_of(records, magic, codec))))
    assert len(outer) == (1 if codec else len(records))
    assert all(message_set.crc_matches(raw, message) for message, raw in outer)
    found = [each for message, _ in outer for each in message_set.records(message)]
    assert found == as_kept(records, magic)


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=examples(40))
@given(records=RECORDS)
def test_messages_become_a_batch_and_that_the_same_messages(
    magic: int, codec: int, records: list[Record]
) -> None:
    records = placed(records)
    data = message_set.set_of(records, magic, codec)
    ((batch, header, _),) = converted(data, mixed=False)
    assert record_batch.crc_matches(batch, header)
    assert list(record_batch.records(batch)) == as_kept(records, magic)
    assert at_once(down_converted([batch], magic, 0)) == data


@pytest.mark.parametrize("magic", [0, 1])
@settings(max_examples=examples(60))
@given(
    written=st.lists(st.tuples(RECORDS, st.sampled_from(CODECS)), min_size=1, max_size=4),
    cut=st.integers(0, 200),
    offset=st.integers(0, 8),
)
def test_padded_records_have_their_size_and_begin_with_whole_messages(
    magic: int, written: list[tuple[list[Record], int]], cut: int, offset: int
) -> None:
    read: list[bytes | bytearray | memoryview] = []
    end = 0
    for records, codec in written:
        batch, _ = batch_with(records, codec)
        record_batch.place(batch, end, 0)
        end += len(records)
        read.append(batch)
    offset = min(offset, len(written[0][0]) - 1)
    read[-1] = memoryview(read[-1])[: max(1, len(read[-1]) - cut)]
    exact = at_once(down_converted([each for each in read if record_batch.is_whole(each)], magic, offset))
    found = at_once(padded(read, magic, offset))
    if not record_batch.is_whole(read[0]):
        assert found == b""
    else:
        assert len(found) >= sum(map(len, read))
        same = min(len(found), len(exact))
        assert found[:same] == exact[:same]
        assert found[same : same + 8] == (b"\xff" * 8)[: len(found) - same]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=examples(60))
@given(records=RECORDS, randomness=st.randoms(use_true_random=False))
def test_damaged_messages_are_converted_or_refused(
    magic: int, codec: int, records: list[Record], randomness: object
) -> None:
    data = message_set.set_of(placed(records), magic, codec)
    for mixed in (False, True):
        damaged = damage(data, randomness)  # type: ignore[arg-type]
        with contextlib.suppress(BatchError):
            made = converted(damaged, mixed=mixed)
            assert sum(header.record_count for _, header, _ in made) <= len(records)


@given(plain=st.binary(max_size=300))
def test_a_frame_of_magic_0_is_told_from_others_by_its_checksum(plain: bytes) -> None:
    frame = compress(batches.LZ4, plain)
    old = with_old_checksum(frame)
    assert (old[:6], old[7:]) == (frame[:6], frame[7:])
    assert old[6] == 0x1A
    assert with_right_checksum(old) == with_right_checksum(frame) == frame


@given(data=st.binary(max_size=12))
def test_a_checksum_of_anything_ends(data: bytes) -> None:
    assert len(with_right_checksum(data)) == len(with_old_checksum(data)) == len(data)


def converted(data: bytes, *, mixed: bool) -> list[Made]:
    return at_once(converting(memoryview(data), TopicSettings(), mixed=mixed, marks_tolerated=True))


@pytest.mark.parametrize("codec", [0, 1])
def test_many_messages_are_converted_in_parts(codec: int) -> None:
    """In one, and within another."""
    count = 60 * MANY
    data = message_set.set_of([Record(at, -1, None, b"") for at in range(count)], 0, codec)
    ((_, header, _),) = converted(data, mixed=True)
    assert header.record_count == count
    steps = converting(memoryview(data), TopicSettings(), mixed=True, marks_tolerated=True)
    assert len(list(steps)) >= 2 * count // MANY


@pytest.mark.parametrize("codec", [0, 1])
def test_a_set_has_as_many_messages_as_a_batch_has_records(codec: int) -> None:
    data = message_set.message_of(Record(0, -1, None, b""), 0) * (MAX_RECORDS + 1)
    if codec:
        data = message_set.message_of(Record(0, -1, None, compress(codec, data)), 0, codec)
    with pytest.raises(BatchError, match=f"at most {MAX_RECORDS} messages") as refused:
        converted(data, mixed=True)
    assert refused.value.code is ErrorCode.INVALID_RECORD

"""What logs keep of batches whose topic has an old format."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.log.down_conversion import converted
from mockbroker.log.old_batches import NotKeptError, keeping, move, with_kept
from mockbroker.log.old_messages import batch_with
from mockbroker.portions import at_once
from mockbroker.protocol import record_batch
from mockbroker.protocol.filtering import stored_records
from mockbroker.protocol.record_batch import Batch, Record
from mockbroker.rig import batches
from mockbroker.trace.plain import batches as shown

from ..properties import examples
from ..protocol.test_message_set import CODECS, RECORDS, as_kept, placed


def made(records: list[Record], codec: int, first: int) -> Batch:
    batch, _ = batch_with(records, codec)
    record_batch.place(batch, first, 3)
    return batch


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=examples(40))
@given(records=RECORDS, first=st.integers(0, 2**40))
def test_messages_say_what_the_batch_said(magic: int, codec: int, records: list[Record], first: int) -> None:
    batch = made(records, codec, first)
    kept = at_once(keeping(batch, magic))
    assert b"".join(kept) == at_once(converted([batch], magic, 0))
    expected = as_kept(placed(records, first), magic)
    assert [each for message in kept for each in record_batch.records(message)] == expected
    pairs = [each for message in kept for each in record_batch.pairs(message.header, message)]
    assert pairs == [(each.offset, each.key, each.value) for each in expected]
    heads = [record_batch.header_of(each) for each in kept]
    ends = [each.base_offset + each.last_offset_delta for each in heads]
    assert (heads[0].base_offset, ends[-1]) == (first, first + len(records) - 1)
    assert all((each.magic, each.leader_epoch, each.producer_id) == (magic, -1, -1) for each in heads)
    assert max(each.max_timestamp for each in heads) == max(each.timestamp for each in expected)
    told = shown([*kept, b"\xff" * 20])
    assert [(each["base_offset"], each["last_offset"]) for each in told[:-1]] == [
        (head.base_offset, end) for head, end in zip(heads, ends, strict=True)
    ]
    assert sum(each["records"] for each in told[:-1]) == len(records)
    assert told[-1] == {"bytes": 20}


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=examples(20))
@given(records=RECORDS, first=st.integers(0, 2**40), then=st.integers(0, 2**40))
def test_messages_are_the_same_at_other_offsets(
    magic: int, codec: int, records: list[Record], first: int, then: int
) -> None:
    kept = at_once(keeping(made(records, codec, first), magic))
    move(kept, then)
    expected = at_once(keeping(made(records, codec, then), magic))
    assert kept == expected
    assert [each.header for each in kept] == [each.header for each in expected]
    assert [each.body for each in kept] == [each.body for each in expected]


@pytest.mark.parametrize("magic", [0, 1])
def test_a_compacted_message_keeps_offsets_and_its_deadline(magic: int) -> None:
    records = [Record(0, 5, b"a", b"1"), Record(0, 6, b"b", None), Record(0, 7, b"c", b"3")]
    (kept,) = at_once(keeping(made(records, batches.GZIP, 10), magic))
    left = with_kept(kept, list(stored_records(kept))[1:], 1_000)
    assert list(record_batch.records(left)) == as_kept(placed(records, 10), magic)[1:]
    assert (left.header.base_offset, left.header.last_offset_delta) == (11, 1)
    assert left.header.attributes & record_batch.DELETE_HORIZON
    assert left.header.base_timestamp == 1_000
    assert at_once(converted([left], 1, 0)) == bytes(left)


def test_what_messages_cannot_hold_is_refused() -> None:
    for batch in (
        batches.batch([batches.Record(b"v", headers=(("h", b"1"),))]),
        batches.batch(2, codec=batches.ZSTD),
    ):
        with pytest.raises(NotKeptError):
            at_once(keeping(bytearray(batch), 1))

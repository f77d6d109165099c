"""Batches that decompress to too much, or say they have more records than they can."""

import gzip
import json

import pytest

from mockbroker.cluster.topic import TopicPartition
from mockbroker.log.validation import BatchError, validate
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.record_batch import HEADER_BYTES, MAX_RECORDS, header_of
from mockbroker.rig.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, batch

from ..driving.cluster import configured

CODECS = [GZIP, SNAPPY, LZ4, ZSTD]


def partition(config: dict[str, str] | None = None, kafka: str = "4.4") -> TopicPartition:
    cluster = configured(kafka, 1, None, config or {})
    return cluster.create_topic("t", [[1]]).partitions[0]


def refusal(data: bytes, where: TopicPartition) -> tuple[ErrorCode, str | None] | None:
    try:
        validate(data, header_of(data), where.topic.settings, ("t", 0), 0)
    except BatchError as error:
        return error.code, error.message
    return None


@pytest.mark.parametrize("codec", CODECS)
def test_a_batch_above_the_limit_is_refused_for_good_and_the_limit_can_be_set(codec: int) -> None:
    bomb = batch([Record(value=bytes(40 << 20), timestamp=0)], codec=codec)
    raising = {"message.max.bytes": "10000000"}  # snappy makes it no smaller than a twentieth
    code, message = refusal(bomb, partition(raising)) or (None, "")
    assert code is ErrorCode.INVALID_RECORD
    assert message is not None
    assert "mockbroker.max.decompressed.bytes" in message
    higher = raising | {"mockbroker.max.decompressed.bytes": str(64 << 20)}
    assert refusal(bomb, partition(higher)) is None


@pytest.mark.parametrize("codec", CODECS)
def test_json_that_compresses_twenty_times_is_taken(codec: int) -> None:
    values = [json.dumps({"id": i, "state": "open", "text": "the same again " * 12}) for i in range(20_000)]
    data = batch([Record(value=value.encode(), timestamp=0) for value in values], codec=codec)
    assert refusal(data, partition()) is None


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize(("size", "taken"), [(993, True), (994, False)])
def test_max_decompressed_message_bytes_bounds_one_record_that_was_compressed(
    codec: int, size: int, taken: bool
) -> None:
    """As 4.4.0 answered: the record without its length, in compressed batches alone."""
    limited = partition({"max.decompressed.message.bytes": "1000"})
    data = batch([Record(value=b"v" * size, timestamp=0)] * 3, codec=codec)
    assert refusal(data, limited) == (None if taken else (ErrorCode.INVALID_RECORD, None))
    assert refusal(batch([Record(value=b"v" * 5000, timestamp=0)]), limited) is None
    assert refusal(data, partition()) is None


@pytest.mark.parametrize("codec", [NONE, *CODECS])
@pytest.mark.parametrize("count", [1, 2, 4, MAX_RECORDS + 1, 2**31 - 1])
def test_a_wrong_number_of_records_is_invalid(codec: int, count: int) -> None:
    """As 3.9.2 and 4.4.0 answered for 2**31 - 1."""
    data = batch(3, codec=codec, count=count, last_offset_delta=count - 1)
    assert refusal(data, partition()) == (ErrorCode.INVALID_RECORD, None)


@pytest.mark.parametrize("codec", [NONE, GZIP])
def test_more_records_than_others_can_wait_for_are_too_many(codec: int) -> None:
    count = MAX_RECORDS + 1
    body = b"\x0c\0\0\0\x01\x01\0" * count
    made = batch(1, codec=codec, count=count, last_offset_delta=count - 1)[:HEADER_BYTES]
    data = with_crc(made + (gzip.compress(body, 1) if codec else body))
    code, message = refusal(data, partition({"message.max.bytes": "10000000"})) or (None, "")
    assert (code, message) == (
        ErrorCode.INVALID_RECORD,
        "250001 records: mockbroker takes at most 250000 in a batch",
    )


def with_crc(data: bytes) -> bytes:
    from crc32c import crc32c

    sized = data[:8] + (len(data) - 12).to_bytes(4, "big") + data[12:]
    return sized[:17] + crc32c(sized[21:]).to_bytes(4, "big") + sized[21:]

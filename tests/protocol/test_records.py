"""Records by hand: Produce requests read, Fetch answers written, batches looked through."""

import contextlib
import random
import struct
from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.serial import entity_reader

from mockbroker.protocol import reading, record_batch, record_scan, schema, writing
from mockbroker.protocol.codecs import codec
from mockbroker.protocol.compression import decompress
from mockbroker.protocol.fetch import FetchReader
from mockbroker.protocol.messages.fetch import (
    NO_DIVERGENCE,
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from mockbroker.protocol.messages.produce import (
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceResponse,
)
from mockbroker.protocol.primitives import SPLICE_BYTES, Records
from mockbroker.protocol.produce import ProduceReader
from mockbroker.rig.batches import GZIP, LZ4, SNAPPY, ZSTD, Record, batch
from mockbroker.rig.client import encode

from ..properties import examples
from .test_schema import damage

TOPIC_ID = UUID("00000000-0000-4000-8000-000000000001")
PARTITIONS = st.lists(st.tuples(st.integers(0, 9), st.none() | st.binary(max_size=300)), max_size=3)


def request(
    version: int, transactional_id: str | None, acks: int, topics: list[list[tuple[int, bytes | None]]]
) -> bytes:
    """A Produce request as kio writes it."""
    data = [
        {
            "topic_id": TOPIC_ID,
            "name": f"topic-{number}",
            "partition_data": [{"index": index, "records": records} for index, records in partitions],
        }
        for number, partitions in enumerate(topics)
    ]
    fields = {"transactional_id": transactional_id, "acks": acks, "timeout": 1500, "topic_data": data}
    return encode("produce", version, fields)


@pytest.mark.parametrize("version", range(14))
@given(
    requests=st.lists(
        st.tuples(st.none() | st.just("tx"), st.sampled_from((-1, 0, 1)), st.lists(PARTITIONS, max_size=2)),
        min_size=1,
        max_size=4,
    )
)
def test_produce_requests_are_read_as_kio_writes_them_whatever_came_before(
    version: int, requests: Any
) -> None:
    reader = ProduceReader(version)
    for transactional_id, acks, topics in requests:
        data = request(version, transactional_id, acks, topics)
        read = reader(memoryview(b"head" + data), 4)
        named = transactional_id if version >= 3 else None
        assert (read.transactional_id, read.acks, read.timeout_ms) == (named, acks, 1500)
        assert [t.topic_id for t in read.topic_data] == [TOPIC_ID if version >= 13 else None] * len(topics)
        found = [
            [(p.index, None if p.records is None else bytes(p.records)) for p in topic.partition_data]
            for topic in read.topic_data
        ]
        assert found == topics


@pytest.mark.parametrize("version", [0, 3, 8, 9, 12, 13])
@given(randomness=st.randoms(use_true_random=False), transactional_id=st.none() | st.just("tx"))
def test_damaged_produce_requests_are_read_or_refused_as_by_a_compiled_reader(
    version: int, randomness: random.Random, transactional_id: str | None
) -> None:
    good = request(version, transactional_id, 1, [[(0, b"x" * 20)]])
    more = request(version, transactional_id, 1, [[(0, b"x" * 20), (1, None)], [(2, b"")]])
    remembering = ProduceReader(version)
    compiled = reading.compile_reader(schema.load("produce", version, "Request"), ProduceRequest)
    for _ in range(10):
        remembering(memoryview(good), 0)
        data = damage(randomness.choice((good, more)), randomness)
        assert outcome(remembering, data) == outcome(compiled, data)


def outcome(read: Any, data: bytes) -> Any:
    try:
        return read(data, 0)
    except reading.READ_ERRORS:
        return None


@pytest.mark.parametrize("version", range(14))
def test_a_produce_request_that_is_cut_is_refused(version: int) -> None:
    data = request(version, None, 1, [[(0, b"x" * 50)]])
    for size in range(len(data) - (3 if version >= 9 else 0)):
        with pytest.raises((IndexError, ValueError, struct.error)):
            ProduceReader(version)(data[:size], 0)


@pytest.mark.parametrize("version", range(14))
def test_produce_answers_written_in_one_go_are_those_written_field_by_field(version: int) -> None:
    hot = codec(0, version)
    schema_class = schema.load("produce", version, "Response")
    for base_offset, append_time, start in ((0, -1, 0), (2**40, 1_700_000_000_000, 7)):
        only = PartitionProduceResponse(3, 0, base_offset, append_time, start)
        answer = ProduceResponse([TopicProduceResponse(TOPIC_ID, [only], "orders")])
        slow = bytearray()
        writing.compile_writer(schema_class, ProduceResponse)(answer, slow)
        frame = hot.encode(99, answer)
        assert isinstance(frame, bytes)
        head = struct.pack(">ii", len(frame) - 4, 99) + (b"\0" if version >= 9 else b"")
        assert frame == head + slow


@pytest.mark.parametrize("version", range(19))
@pytest.mark.parametrize("size", [10, SPLICE_BYTES])
def test_fetch_answers_are_read_back_by_kio(version: int, size: int) -> None:
    batches: Records = [bytearray(b"a" * size), memoryview(b"b" * size)[:5]]
    partitions = [PartitionData(0, 0, 9, 9, 1, records=batches), PartitionData(1, 1, -1, -1, -1, records=())]
    answer = FetchResponse(session_id=5, responses=[FetchableTopicResponse(TOPIC_ID, partitions, "orders")])
    frame = codec(1, version).encode(42, answer)
    data = b"".join(frame) if isinstance(frame, list) else bytes(frame)
    assert isinstance(frame, list) == (size >= SPLICE_BYTES)
    assert struct.unpack_from(">ii", data) == (len(data) - 4, 42)
    schema_class: Any = schema.load("fetch", version, "Response")
    read, used = entity_reader(schema_class)(data, 9 if version >= 12 else 8)
    assert used + (9 if version >= 12 else 8) == len(data)
    first, second = read.responses[0].partitions
    assert (first.records, second.records) == (b"a" * size + b"bbbbb", b"")
    assert (first.high_watermark, int(second.error_code)) == (9, 1)


ASKED = st.fixed_dictionaries(
    {
        "index": st.integers(0, 1),
        "offset": st.sampled_from([0, 1, 0x100, 0x0101010101010101, -1]) | st.integers(0, 2**63 - 1),
        "epoch": st.sampled_from([-1, 0, 0, 1]),
        "rack": st.sampled_from(["", "", "rack"]),
        "max_wait": st.sampled_from([0, 500]),
        "session": st.sampled_from([(0, -1), (0, -1), (0, -1), (7, -1), (7, 1)]),
        "forgotten": st.booleans(),
    }
)


def fetch_request(version: int, asked: dict[str, Any]) -> bytes:
    """A Fetch of one partition."""
    session_id, session_epoch = asked["session"]
    partition = {"partition": asked["index"], "fetch_offset": asked["offset"], "partition_max_bytes": 9}
    if version >= 9:
        partition["current_leader_epoch"] = asked["epoch"]
    name: dict[str, Any] = {"topic_id": TOPIC_ID} if version >= 13 else {"topic": "orders"}
    fields: dict[str, Any] = {
        "max_wait": asked["max_wait"],
        "topics": [{**name, "partitions": [partition]}],
    }
    if version >= 7:
        fields["forgotten_topics_data"] = [{**name, "partitions": [1]}] if asked["forgotten"] else []
        fields |= {"session_id": session_id, "session_epoch": session_epoch}
    if version >= 11:
        fields["rack_id"] = asked["rack"]
    return encode("fetch", version, fields)


@pytest.mark.parametrize("version", range(19))
@settings(max_examples=examples(40))
@given(
    asked=st.lists(ASKED, min_size=1, max_size=2).flatmap(
        lambda kinds: st.lists(st.tuples(st.sampled_from(kinds), ASKED), min_size=1, max_size=6)
    ),
    randomness=st.randoms(use_true_random=False),
)
def test_fetch_requests_are_read_the_same_whatever_came_before(
    version: int, asked: list[tuple[dict[str, Any], dict[str, Any]]], randomness: random.Random
) -> None:
    plain = reading.compile_reader(schema.load("fetch", version, "Request"), FetchRequest)
    remembering = FetchReader(plain)
    for kind, other in asked:
        data = fetch_request(version, {**kind, "offset": other["offset"]})
        for sent in (data, data, damage(data, randomness), data):
            assert outcome(remembering, sent) == outcome(plain, sent)


@pytest.mark.parametrize("version", range(19))
@settings(max_examples=examples(40))
@given(data=st.data())
def test_fetch_answers_of_one_partition_are_written_the_same_whatever_came_before(
    version: int, data: st.DataObject
) -> None:
    hot = codec(1, version)
    plain = writing.compile_writer(schema.load("fetch", version, "Response"), FetchResponse)
    offsets = st.integers(-1, 2**40)
    answers = st.builds(
        PartitionData,
        st.integers(0, 1),
        st.sampled_from([0, 0, 0, 3]),
        offsets,
        offsets,
        offsets,
        aborted_transactions=st.sampled_from([None, (), [], [AbortedTransaction(1, 2)]]),
        diverging_epoch=st.sampled_from([NO_DIVERGENCE, NO_DIVERGENCE, EpochEndOffset(1, 2)]),
        preferred_read_replica=st.sampled_from([-1, -1, 2]),
        records=st.lists(
            st.sampled_from([1, 126, 127, 128, 16382, 16383, SPLICE_BYTES]).map(bytearray), max_size=2
        ),
    )
    for _ in range(4):
        partitions = data.draw(st.lists(answers, min_size=1, max_size=2) | answers.map(lambda one: [one]))
        answer = FetchResponse(
            session_id=data.draw(st.integers(0, 1)),
            responses=[FetchableTopicResponse(TOPIC_ID, partitions, data.draw(st.sampled_from("ab")))],
        )
        frame = hot.encode(99, answer)
        written = bytearray()
        plain(answer, written)
        head = struct.pack(">ii", len(written) + (5 if version >= 12 else 4), 99)
        whole = b"".join(frame) if isinstance(frame, list) else bytes(frame)
        assert whole == head + (b"\0" if version >= 12 else b"") + written


@pytest.mark.parametrize("compression", [0, GZIP, SNAPPY, LZ4, ZSTD])
@given(times=st.lists(st.integers(0, 2**40), min_size=1, max_size=30), value=st.binary(max_size=200))
def test_a_scan_finds_all_records_and_their_times(compression: int, times: list[int], value: bytes) -> None:
    data = bytearray(batch([Record(timestamp=time, value=value) for time in times], codec=compression))
    header = record_batch.header_of(data)
    if compression:
        plain = bytes(decompress(compression, memoryview(data)[record_batch.HEADER_BYTES :]))
        earliest, latest, in_order = record_scan.scan_skipping(plain, len(times))
        assert in_order
    else:
        earliest, latest = record_scan.scan(bytes(data), record_batch.HEADER_BYTES, len(times))
    assert (header.base_timestamp + earliest, header.base_timestamp + latest) == (min(times), max(times))
    assert [(r.timestamp, r.value) for r in record_batch.records(data)] == [(time, value) for time in times]


@pytest.mark.parametrize(
    "scan", [lambda data, count: record_scan.scan(data, 0, count), record_scan.scan_skipping]
)
@given(data=st.binary(max_size=120), count=st.integers(1, 5))
def test_a_scan_of_anything_ends(scan: Callable[[bytes, int], Any], data: bytes, count: int) -> None:
    with contextlib.suppress(ValueError):
        scan(data, count)


@given(data=st.data())
def test_a_record_with_one_byte_changed_is_read_as_kafka_reads_it(data: st.DataObject) -> None:
    """As long as its parts fill it, whatever they are."""
    made = bytearray(batch([Record(key=b"k", headers=(("h", b"1"),))]))[record_batch.HEADER_BYTES :]
    at = data.draw(st.integers(0, len(made) - 1))
    made[at] = data.draw(st.integers(0, 255))
    try:
        record_scan.scan(bytes(made), 0, 1)
    except ValueError:
        return
    (size,) = made[:1]
    assert size == 2 * (len(made) - 1)


@given(
    size=st.integers(0, 200) | st.integers(8150, 8250),
    change=st.none() | st.tuples(st.floats(0, 1), st.binary(min_size=1, max_size=1)),
)
def test_a_record_that_begins_as_usual_is_read_as_any_other(
    size: int, change: tuple[float, bytes] | None
) -> None:
    made = bytearray(batch([Record(value=bytes(size))]))[record_batch.HEADER_BYTES :]
    if change is not None:
        # Half of the changes are where the record begins or ends.
        places = [*range(10), -1, *range(0, len(made), max(1, len(made) // 10))]
        made[places[int(change[0] * (len(places) - 1))]] = change[1][0]
    found = _outcome(lambda: record_scan.scan(bytes(made), 0, 1))
    with patch.object(record_scan, "_usual_head", lambda _: b""):
        assert found == _outcome(lambda: record_scan.scan(bytes(made), 0, 1))
    if change is None:
        assert found == (0, 0)
        assert record_scan._usual_head(len(made)) or size > 8150


@pytest.mark.parametrize("codec", [0, ZSTD])
@given(data=st.data())
def test_records_in_a_list_are_those_one_by_one(codec: int, data: st.DataObject) -> None:
    """With one byte changed too, if they are not compressed."""
    fields = st.none() | st.binary(max_size=200)
    one = st.builds(Record, timestamp=st.integers(0, 2**40), key=fields, value=fields)
    attributes = data.draw(st.sampled_from([0, record_batch.LOG_APPEND_TIME]))
    made = bytearray(batch(data.draw(st.lists(one, max_size=5)), codec=codec, attributes=attributes))
    if not codec and data.draw(st.booleans()):
        made[data.draw(st.integers(record_batch.HEADER_BYTES - 4, len(made) - 1))] = data.draw(
            st.integers(0, 255)
        )
    header = record_batch.header_of(made)._replace(record_count=min(record_batch.header_of(made)[-1], 10))
    made[: record_batch.HEADER_BYTES] = record_batch.HEADER.pack(*header)
    whole = bytes(made)
    assert _outcome(lambda: record_batch.record_list(header, whole)) == _outcome(
        lambda: list(record_batch.records(whole))
    )


def _outcome(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (ValueError, IndexError) as error:
        return type(error), str(error)

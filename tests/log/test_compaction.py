"""Log compaction: the last record of each key stays."""

from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.log import compaction
from mockbroker.protocol import record_batch
from mockbroker.protocol.batch_writing import Marker, marker_batch
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.record_batch import DELETE_HORIZON, TRANSACTIONAL, header_of, records
from mockbroker.rig.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, batch

from ..driving.log import DAY_MS, LogDriver
from .compacted import BACKOFF_MS, CompactedDriver

CODECS: Final = (NONE, GZIP, SNAPPY, LZ4, ZSTD)
Pairs = list[tuple[bytes | None, bytes | None]]


@pytest.mark.parametrize("codec", CODECS)
def test_the_last_record_of_a_key_stays_where_it_is(driver: CompactedDriver, codec: int) -> None:
    driver.append([(b"a", b"1"), (b"b", b"1"), (b"c", b"1")], codec=codec)
    driver.append([(b"a", b"2"), (b"d", b"1")], codec=codec)
    driver.append([(b"b", b"2"), (b"a", b"3")], codec=codec)
    driver.clean()
    expected = [(2, b"c", b"1"), (4, b"d", b"1"), (5, b"b", b"2"), (6, b"a", b"3"), (7, b"roll", b"")]
    assert driver.content() == expected
    assert driver.ranges() == [(0, 2, 1), (3, 4, 1), (5, 6, 2), (7, 7, 1)]
    assert driver.log.start_offset == 0
    for each in driver.log:
        assert record_batch.crc_matches(each, header_of(each))


def test_the_active_segment_stays_as_it_is() -> None:
    driver = CompactedDriver(segment_bytes=100_000)
    driver.append([(b"a", b"1"), (b"a", b"2")])
    driver.advance(DAY_MS)
    assert len(driver.content()) == 2
    assert driver.cluster.next_deadline() is None


def test_batches_that_are_empty_go_but_for_the_last(driver: CompactedDriver) -> None:
    for value in (b"1", b"2", b"3"):
        driver.append([(b"a", value)])
    driver.append([(b"b", b"1")])
    driver.clean()
    assert driver.ranges() == [(2, 2, 1), (3, 3, 1), (4, 4, 1)]
    error, batches = driver.batches_from(0)
    assert error == ErrorCode.NONE
    assert header_of(batches[0]).base_offset == 2
    driver.append([(b"b", b"2")])
    driver.advance(BACKOFF_MS)
    assert driver.ranges() == [(2, 2, 1), (3, 3, 1), (4, 4, 1), (5, 5, 1)]


def test_a_producers_last_batch_stays_though_it_is_empty(driver: CompactedDriver) -> None:
    driver.append([(b"a", b"1")], producer_id=7, sequence=0)
    driver.append([(b"a", b"2")], producer_id=7, sequence=1)
    driver.append([(b"a", b"3")])
    driver.clean()
    assert driver.ranges() == [(1, 1, 0), (2, 2, 1), (3, 3, 1)]
    head = header_of(driver.log.batches[0])
    assert (head.producer_id, head.base_sequence) == (7, 1)
    assert record_batch.crc_matches(driver.log.batches[0], head)
    assert driver.log.latest_timestamp() == (driver.now_ms - BACKOFF_MS, 2)
    driver.append([(b"b", b"1")], producer_id=7, sequence=2)


def test_a_tombstone_goes_when_its_horizon_has_passed() -> None:
    driver = CompactedDriver(delete_retention_ms=DAY_MS)
    sent_ms = driver.now_ms
    driver.append([(b"a", b"1"), (b"b", b"1")])
    driver.append([(b"a", None)])
    driver.clean()
    assert driver.content()[:2] == [(1, b"b", b"1"), (2, b"a", None)]
    head = header_of(driver.log.batches[1])
    assert head.attributes & DELETE_HORIZON
    assert head.base_timestamp == driver.now_ms + DAY_MS
    assert [record.timestamp for record in records(driver.log.batches[1])] == [sent_ms]
    driver.advance(DAY_MS - BACKOFF_MS)
    driver.roll()
    driver.advance(BACKOFF_MS - 1)
    assert (2, b"a", None) in driver.content()
    driver.advance(1)
    assert (2, b"a", None) not in driver.content()


def test_the_horizon_is_set_once() -> None:
    driver = CompactedDriver(delete_retention_ms=DAY_MS)
    driver.append([(b"a", None), (b"b", b"1")])
    driver.clean()
    horizon = header_of(driver.log.batches[0]).base_timestamp
    driver.advance(DAY_MS // 2)
    driver.append([(b"b", b"2")])
    driver.clean()
    assert driver.content()[0] == (0, b"a", None)
    assert header_of(driver.log.batches[0]).base_timestamp == horizon


PRODUCER: Final = 7


def in_transaction(driver: LogDriver, pairs: list[tuple[bytes, bytes | None]], sequence: int = 0) -> int:
    return append(
        driver,
        batch(
            [Record(value, key, driver.now_ms) for key, value in pairs],
            producer_id=PRODUCER,
            producer_epoch=0,
            sequence=sequence,
            attributes=TRANSACTIONAL,
        ),
    )


def mark(driver: LogDriver, *, commit: bool) -> int:
    return append(driver, marker_batch(Marker(PRODUCER, 0, commit, 0), driver.now_ms))


def append(driver: LogDriver, data: bytes | bytearray) -> int:
    """As the leader does itself; the offset."""
    appended, offset = bytearray(data), driver.log.end_offset
    record_batch.place(appended, offset, 0)
    header = header_of(appended)
    driver.log.producers.appended_batch(appended, header)
    driver.partition.at_leader.append_as_leader(appended, offset, header.record_count, header.max_timestamp)
    return offset


def test_a_marker_stays_while_anything_of_its_transaction_does() -> None:
    driver = CompactedDriver(delete_retention_ms=0)
    in_transaction(driver, [(b"a", b"1")])
    mark(driver, commit=True)
    marker = driver.log.batches[1]
    for _ in range(3):
        driver.clean()
    assert driver.log.batches[1] is marker
    assert driver.log.last_stable_offset == driver.log.end_offset


def test_a_marker_of_which_nothing_is_left_goes_when_its_horizon_has_passed() -> None:
    driver = CompactedDriver(delete_retention_ms=DAY_MS)
    in_transaction(driver, [(b"a", b"1")])
    marker = mark(driver, commit=True)
    driver.append([(b"a", b"2")])
    in_transaction(driver, [(b"b", b"1")], sequence=1)
    mark(driver, commit=True)
    driver.clean()
    assert driver.ranges()[0] == (marker, marker, 1)
    assert not header_of(driver.log.batches[0]).attributes & DELETE_HORIZON
    driver.clean()
    assert header_of(driver.log.batches[0]).base_timestamp == driver.now_ms + DAY_MS
    driver.advance(DAY_MS)
    driver.clean()
    assert driver.ranges()[0][0] > marker


def test_records_of_an_aborted_transaction_go_and_take_nobodys_place() -> None:
    driver = CompactedDriver(delete_retention_ms=0)
    driver.append([(b"a", b"1")])
    aborted = in_transaction(driver, [(b"a", b"aborted"), (b"b", b"aborted")])
    marker = mark(driver, commit=False)
    in_transaction(driver, [(b"c", b"1")], sequence=2)
    mark(driver, commit=True)
    assert driver.log.producers.transactions.aborted
    driver.clean()
    assert (0, b"a", b"1") in driver.content()
    assert not any(aborted <= offset < marker for offset, *_ in driver.content())
    assert driver.log.producers.transactions.aborted
    driver.clean()
    # A reader that was told of it would wait for a marker that it may never meet.
    assert not driver.log.producers.transactions.aborted
    driver.clean()
    assert marker not in [base for base, *_ in driver.ranges()]
    assert [value for _, key, value in driver.content() if key == b"c"] == [b"1"]


def test_a_producer_is_known_by_what_compaction_left(driver: CompactedDriver) -> None:
    driver.append([(b"a", b"1"), (b"b", b"1"), (b"b", b"2")], producer_id=PRODUCER, sequence=0)
    driver.append([(b"a", b"2"), (b"b", b"3")])
    driver.clean()
    assert driver.ranges()[0] == (0, 2, 0)
    driver.log.producers.rebuild(driver.log)
    driver.append([(b"a", b"3")], producer_id=PRODUCER, sequence=3)


def test_a_replica_is_cleaned_by_itself() -> None:
    driver = CompactedDriver(brokers=2)
    for value in (b"1", b"2", b"3"):
        driver.append([(b"a", value)])
    replica = driver.partition.logs[2]
    replica.high_watermark = 3
    compaction.clean(replica, 2, driver.now_ms)
    assert [record.offset for each in replica for record in records(each)] == [1, 2]
    assert [offset for offset, *_ in driver.content()] == [0, 1, 2]


def test_log_append_times_stay() -> None:
    driver = CompactedDriver(message_timestamp_type="LogAppendTime")
    driver.append([(b"a", b"1"), (b"b", b"1")])
    driver.append([(b"a", b"2")])
    sent_ms = driver.now_ms
    driver.clean()
    assert [(r.offset, r.timestamp) for r in records(driver.log.batches[0])] == [(1, sent_ms)]


KEYS = st.sampled_from([b"a", b"b", b"c", b"d"])
VALUES = st.one_of(st.none(), st.binary(max_size=3))
BATCHES = st.lists(
    st.tuples(
        st.lists(st.tuples(KEYS, VALUES), min_size=1, max_size=4),
        st.sampled_from(CODECS),
        st.integers(0, 2 * BACKOFF_MS),
    ),
    min_size=1,
    max_size=10,
)


@given(batches=BATCHES, segment_bytes=st.sampled_from([200, 300, 600]), idempotent=st.booleans())
def test_whatever_is_sent_the_last_values_can_be_read(
    batches: list[tuple[Pairs, int, int]], segment_bytes: int, idempotent: bool
) -> None:
    driver = CompactedDriver(segment_bytes=segment_bytes, delete_retention_ms=BACKOFF_MS, brokers=2)
    sent: dict[int, tuple[bytes | None, bytes | None]] = {}
    sequence = 0
    for pairs, codec, later in batches:
        if idempotent:
            base = driver.append(pairs, codec=codec, producer_id=7, sequence=sequence)
        else:
            base = driver.append(pairs, codec=codec)
        sequence += len(pairs)
        sent.update((base + index, pair) for index, pair in enumerate(pairs))
        driver.advance(later)
    driver.advance(10 * BACKOFF_MS)
    content = driver.content()
    offsets = [offset for offset, _, _ in content]
    assert offsets == sorted(set(offsets))
    assert all(sent[offset] == (key, value) for offset, key, value in content)
    last = {key: offset for offset, (key, _) in sent.items()}
    kept = {offset: value for offset, _, value in content}
    for offset in last.values():
        assert offset in kept or sent[offset][1] is None
    dirty = driver.log.segments.first_dirty
    seen = {}
    for offset, key, _ in content:
        if offset < dirty:
            assert key not in seen, "a compacted part has each key once"
            seen[key] = offset
    ranges = driver.ranges()
    assert all(end < start for (_, end, _), (start, _, _) in pairwise(ranges))
    for log in driver.partition.logs.values():
        assert log.bases == [base for base, _, _ in ranges]
        assert log.size == sum(map(len, log.batches))
    for offset in range(driver.log.end_offset):
        error, found = driver.batches_from(offset)
        assert error == ErrorCode.NONE
        assert [r.offset for b in found for r in records(b) if r.offset >= offset] == [
            each for each in offsets if each >= offset
        ]

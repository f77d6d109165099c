"""Log compaction: the last record of each key stays."""

import gc
from collections import Counter
from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.log import compaction
from mockbroker.log.log import Log
from mockbroker.protocol import record_batch
from mockbroker.protocol.batch_writing import Marker, marker_batch
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.record_batch import DELETE_HORIZON, TRANSACTIONAL, header_of, records
from mockbroker.rig.batches import GZIP, LZ4, NONE, SNAPPY, ZSTD, Record, batch

from ..driving.log import DAY_MS, MINUTE_MS, LogDriver

BACKOFF_MS: Final = 15_000
CODECS: Final = (NONE, GZIP, SNAPPY, LZ4, ZSTD)
Pairs = list[tuple[bytes | None, bytes | None]]


class CompactedDriver(LogDriver):
    """Each batch is a segment of its own, and anything dirty is compacted, unless told."""

    def __init__(self, **configs: Any) -> None:
        names = {"cleanup_policy": "compact", "segment_bytes": 14, "min_cleanable_dirty_ratio": 0.0}
        super().__init__(**{**names, **configs})

    def roll(self) -> None:
        """Makes what is there inactive."""
        self.append([(b"roll", b"")])

    def clean(self) -> None:
        """All that is there is compacted."""
        self.roll()
        self.advance(BACKOFF_MS)


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


MANY: Final = 3_000
"""More batches than are compacted at once."""


class CompactingDriver(CompactedDriver):
    """A large log whose compaction has begun, and of which nothing has changed yet."""

    def __init__(self, **configs: Any) -> None:
        super().__init__(segment_bytes=100_000, **configs)
        for number in range(MANY):
            self.append([(b"%d" % (number % 10), b"v" * 100)])
        self.cluster.work.in_parts = True
        self.advance(BACKOFF_MS)
        assert self.cluster.work
        assert len(self.log.batches) == MANY

    def go_on(self) -> int:
        """To the end; how many parts that takes."""
        work, parts = self.cluster.work, 0
        while work:
            work.go_on()
            parts += 1
        return parts

    @property
    def is_compacted(self) -> bool:
        return self.log.segments.first_dirty > 0


def test_others_are_served_between_two_parts() -> None:
    driver = CompactingDriver(brokers=2)
    driver.append([(b"5", b"new")])
    assert driver.go_on() > 10
    assert driver.is_compacted
    content = driver.content()
    assert content[-1] == (MANY, b"5", b"new")
    dirty = driver.log.segments.first_dirty
    assert [key for offset, key, _ in content if offset < dirty] == [
        b"%d" % (number % 10) for number in range(dirty - 10, dirty)
    ]
    assert driver.log.size == sum(map(len, driver.log.batches))
    first, second = driver.partition.logs.values()
    assert all(one is other for one, other in zip(first.batches, second.batches, strict=True))


def test_what_is_appended_meanwhile_is_compacted_later(driver: CompactingDriver) -> None:
    driver.append([(b"5", b"v" * 100)], times=MANY)
    driver.advance(2 * BACKOFF_MS)
    driver.go_on()
    compacted_upto = driver.log.segments.first_dirty
    driver.advance(BACKOFF_MS)
    driver.go_on()
    assert driver.log.segments.first_dirty > max(MANY, compacted_upto)


def test_a_truncation_ends_the_compaction(driver: CompactingDriver) -> None:
    driver.log.truncate(100)
    driver.go_on()
    assert not driver.is_compacted
    assert len(driver.log.batches) == 100


@pytest.mark.parametrize("what", ["goes down", "is deleted", "is reconfigured"])
def test_compaction_ends_with_what_it_is_about(driver: CompactingDriver, what: str) -> None:
    if what == "goes down":
        driver.stop_broker(1)
    elif what == "is deleted":
        driver.cluster.delete_topics([driver.topic])
    else:
        driver.topic.configure({**driver.topic.overrides, "cleanup.policy": "delete"})
    assert driver.go_on() < 3
    assert not driver.is_compacted
    if what == "goes down":
        driver.start_broker(1)
        driver.advance(BACKOFF_MS)
        driver.go_on()
        assert driver.is_compacted


def test_log_append_times_stay() -> None:
    driver = CompactedDriver(message_timestamp_type="LogAppendTime")
    driver.append([(b"a", b"1"), (b"b", b"1")])
    driver.append([(b"a", b"2")])
    sent_ms = driver.now_ms
    driver.clean()
    assert [(r.offset, r.timestamp) for r in records(driver.log.batches[0])] == [(1, sent_ms)]


@pytest.mark.parametrize(("ratio", "done"), [(0.5, False), (0.49, True)])
def test_as_much_must_be_dirty(driver: CompactedDriver, ratio: float, done: bool) -> None:
    driver.append([(b"a", b"1")])
    driver.append([(b"b", b"1")])
    driver.advance(BACKOFF_MS)
    assert driver.log.segments.first_dirty == 1
    driver.topic.configure({**driver.topic.overrides, "min.cleanable.dirty.ratio": str(ratio)})
    driver.append([(b"c", b"1")])
    driver.advance(BACKOFF_MS)
    assert (driver.log.segments.first_dirty == 2) == done


def test_what_is_younger_than_the_least_lag_waits() -> None:
    driver = CompactedDriver(min_compaction_lag_ms=10 * MINUTE_MS)
    driver.append([(b"a", b"1")])
    driver.append([(b"a", b"2")])
    driver.advance(MINUTE_MS)
    driver.append([(b"a", b"3")])
    driver.roll()
    driver.advance(9 * MINUTE_MS - 1)
    assert len(driver.content()) == 4
    driver.advance(1)
    assert [offset for offset, _, _ in driver.content()] == [1, 2, 3]
    driver.advance(MINUTE_MS)
    assert [offset for offset, _, _ in driver.content()] == [2, 3]
    assert driver.cluster.next_deadline() is None


def test_what_is_older_than_the_largest_lag_goes_though_little_is_dirty() -> None:
    driver = CompactedDriver(min_cleanable_dirty_ratio=1.0, max_compaction_lag_ms=10 * MINUTE_MS)
    driver.append([(b"a", b"1")])
    driver.append([(b"a", b"2")])
    driver.roll()
    driver.advance(10 * MINUTE_MS)
    assert len(driver.content()) == 3
    driver.advance(BACKOFF_MS)
    assert len(driver.content()) == 2


def test_nothing_at_or_above_the_high_watermark_is_compacted(driver: CompactedDriver) -> None:
    for value in (b"1", b"2", b"3"):
        driver.append([(b"a", value)])
    driver.log.high_watermark = 1
    driver.advance(BACKOFF_MS)
    assert len(driver.content()) == 3
    driver.log.high_watermark = 3
    driver.advance(BACKOFF_MS)
    assert [offset for offset, _, _ in driver.content()] == [1, 2]


def test_followers_hold_the_same() -> None:
    driver = CompactedDriver(brokers=3)
    driver.append([(b"a", b"1"), (b"b", b"1")])
    driver.append([(b"a", b"2")])
    driver.clean()
    assert len(driver.content()) == 3
    for log in driver.partition.logs.values():
        assert log.bases == driver.log.bases
        assert all(one is other for one, other in zip(log.batches, driver.log.batches, strict=True))
        assert log.size == sum(map(len, log.batches))


def test_compacted_and_deleted() -> None:
    driver = CompactedDriver(cleanup_policy="compact,delete", retention_ms=DAY_MS)
    driver.append([(b"a", b"1")])
    driver.append([(b"b", b"1")])
    driver.append([(b"a", b"2")])
    driver.clean()
    assert [offset for offset, _, _ in driver.content()] == [1, 2, 3]
    driver.advance(2 * DAY_MS)
    assert driver.log.start_offset == driver.log.end_offset == 4
    assert not driver.content()


def test_a_compacted_topic_is_not_deleted_from() -> None:
    driver = CompactedDriver(retention_ms=1, retention_bytes=0)
    driver.append()
    driver.advance(DAY_MS)
    assert driver.log.start_offset == 0


def test_small_segments_are_joined() -> None:
    driver = CompactedDriver(segment_bytes=150)
    for number in range(6):
        driver.append([(b"k%d" % (number % 2), b"v" * 20)])
    driver.advance(BACKOFF_MS)
    assert driver.segments() == [0, 1, 2, 3, 4, 5]
    assert [each.size > 0 for each in driver.log.segments.all] == [False] * 3 + [True] * 3
    driver.append([(b"x", b"v" * 20)])
    driver.advance(BACKOFF_MS)
    assert driver.segments() == [0, 4, 5, 6]
    assert sum(each.size for each in driver.log.segments.all) == driver.log.size


def test_without_a_cleaner_nothing_is_compacted() -> None:
    driver = CompactedDriver(config={"log.cleaner.enable": "false"})
    driver.append([(b"a", b"1"), (b"a", b"2")])
    driver.roll()
    assert driver.cluster.next_deadline() is None


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


@given(batches=BATCHES, segment_bytes=st.sampled_from([14, 200, 400]), idempotent=st.booleans())
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


def held() -> Counter[type]:
    return Counter(type(each) for each in gc.get_objects() if type(each) in (Log, compaction.Pass))


@pytest.mark.parametrize("under_way", [False, True])
@pytest.mark.parametrize("brokers", [1, 3])
def test_nothing_is_left_of_a_deleted_topic(brokers: int, under_way: bool) -> None:
    """Counted without garbage collection, which a server hardly ever does."""
    gc.collect()
    before = held()
    driver = CompactedDriver(brokers=brokers)
    work = driver.cluster.work
    work.in_parts = True
    for number in range(5000 if under_way else 100):
        driver.append([(b"%d" % number, b"1")])
    gc.disable()
    try:
        driver.advance(BACKOFF_MS)
        while work and not under_way:
            work.go_on()
        assert (held() - before)[compaction.Pass] == under_way
        driver.cluster.delete_topics([driver.topic])
        del driver.topic, driver.partition, driver.log
        driver.advance(10 * MINUTE_MS)
        while work:
            work.go_on()
        assert held() - before == Counter()
    finally:
        gc.enable()

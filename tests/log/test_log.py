"""Reading and cutting a log."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.log.log import Log
from mockbroker.protocol import record_batch
from mockbroker.rig.batches import Record, batch

from ..driving.cluster import a_cluster


def placed(data: bytes, base_offset: int) -> bytearray:
    made = bytearray(data)
    record_batch.place(made, base_offset, 0)
    return made


def log_of(counts: list[int], config: dict[str, str] | None = None) -> Log:
    """A log of one batch per count."""
    partition = a_cluster(brokers=1).create_topic("t", [[1]], config or {}).partitions[0]
    for count in counts:
        base_offset = partition.log.end_offset
        data = placed(batch(count), base_offset)
        partition.at_leader.append_as_leader(
            data, base_offset, count, record_batch.header_of(data).max_timestamp
        )
    return partition.log


COUNTS = st.lists(st.integers(1, 5), min_size=1, max_size=8)


@given(counts=COUNTS, offset=st.integers(0, 40), max_bytes=st.integers(-5, 900), first=st.booleans())
def test_a_read_is_a_piece_of_the_log(counts: list[int], offset: int, max_bytes: int, first: bool) -> None:
    log = log_of(counts)
    found = [bytes(part) for part in log.read(offset, max_bytes, log.end_offset, first)]
    index = next((i for i, base in enumerate([*log.bases[1:], log.end_offset]) if base > offset), len(counts))
    whole = b"".join(bytes(b) for b in log.batches[index:])
    assert whole.startswith(b"".join(found))
    assert all(found)
    if not found:
        assert not first or index == len(counts)
    elif not first:
        assert sum(map(len, found)) <= max_bytes
    if found:
        assert found[0] == bytes(log.batches[index])
        assert sum(map(len, found)) == min(len(whole), max(max_bytes, len(found[0])))


class Walked(list[record_batch.Batch]):
    """Batches that can't be walked over from the first."""

    def __iter__(self) -> Iterator[record_batch.Batch]:
        raise AssertionError


def test_a_read_does_not_walk_there_from_the_beginning_of_the_log() -> None:
    log = log_of([1] * 6)
    last = log.batches[-2:]
    log.batches = Walked(log.batches)
    assert log.read(4, 1000, 6, True) == last
    assert list(log.batches_between(4, 6)) == last


@given(counts=COUNTS, index_bytes=st.sampled_from([12, 24, 32, 4096]), offset=st.integers(0, 40))
def test_a_read_ends_with_its_segment_and_the_next_goes_on(
    counts: list[int], index_bytes: int, offset: int
) -> None:
    config = {"segment.index.bytes": str(index_bytes), "index.interval.bytes": "0"}
    log = log_of(counts, config)
    offset = min(offset, log.end_offset)
    expected = list(log.batches_between(offset, log.end_offset))
    found: list[record_batch.Batch] = []
    while part := log.read(offset, 1 << 20, log.end_offset, at_least_one=True):
        assert len({log.segment_of(record_batch.header_of(each).base_offset) for each in part}) == 1
        found += part
        last = record_batch.header_of(part[-1])
        offset = last.base_offset + last.last_offset_delta + 1
        assert offset in (log.end_offset, log.segment_of(offset))
    assert found == expected


@given(counts=COUNTS, start=st.integers(0, 40))
def test_cutting_the_start_keeps_the_batch_that_holds_it(counts: list[int], start: int) -> None:
    log = log_of(counts)
    start = min(start, log.end_offset)
    log.advance_start(start)
    assert log.start_offset == start
    assert log.size == sum(map(len, log.batches))
    left = list(log)
    if start < log.end_offset:
        header = record_batch.header_of(bytes(left[0]))
        assert header.base_offset <= start <= header.base_offset + header.last_offset_delta
    else:
        assert not left


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [
        (0, (1000, 0)),
        (1000, (1000, 0)),
        (1001, (1010, 1)),
        (1500, (2000, 3)),
        (2020, (2020, 5)),
        (2021, None),
    ],
)
def test_offsets_by_timestamp(timestamp: int, expected: tuple[int, int] | None) -> None:
    log = log_of([])
    for base_offset, time in ((0, 1000), (3, 2000)):
        data = batch([Record(timestamp=time + 10 * i) for i in range(3)], codec=1 if base_offset else 0)
        log.append(placed(data, base_offset), base_offset, 3, time + 20, 0)
    assert log.first_at_or_after(timestamp) == expected
    assert log.latest_timestamp() == (2020, 5)

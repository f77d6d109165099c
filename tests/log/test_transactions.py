"""Transactions in a replica's log: what it tells readers, and knows after truncation and replication."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.configs import TopicSettings
from mockbroker.log.log import Log
from mockbroker.log.producer_state import ProducerStates
from mockbroker.log.segments import Segments
from mockbroker.policies import Policies
from mockbroker.protocol.batch_writing import Marker, key_values, marker_batch
from mockbroker.protocol.record_batch import TRANSACTIONAL, header_of, place
from mockbroker.protocol.releases import parse

NEWEST = Policies(parse("4.4"))


def a_log() -> Log:
    return Log(ProducerStates(lambda: NEWEST), Segments(TopicSettings(), Random(0), 0))


class Writer:
    """Appends batches of one record, and markers, to a leader's log, as brokers write them themselves."""

    def __init__(self) -> None:
        self.log = a_log()

    def append(self, batch: bytearray) -> int:
        log = self.log
        place(batch, log.end_offset, 0)
        header = header_of(batch)
        log.producers.appended_batch(batch, header)
        log.append(batch, header.base_offset, header.record_count, header.max_timestamp, 0)
        return header.base_offset

    def write(self, producer_id: int, epoch: int = 0, *, inside: bool = True) -> int:
        attributes = TRANSACTIONAL if inside else 0
        ids = {"producer_id": producer_id, "producer_epoch": epoch}
        return self.append(key_values([(b"k", b"v")], 1000, attributes=attributes, **ids))

    def mark(self, producer_id: int, epoch: int = 0, *, commit: bool, coordinator_epoch: int = 0) -> int:
        return self.append(marker_batch(Marker(producer_id, epoch, commit, coordinator_epoch), 1000))

    def replicate(self) -> Log:
        """A new replica that fetched everything."""
        copy = a_log()
        if self.log.batches:
            copy.append_fetched(self.log.batches, 0)
        copy.high_watermark = self.log.high_watermark
        return copy


@pytest.fixture
def writer() -> Writer:
    return Writer()


def known(log: Log) -> dict[int, tuple[object, ...]]:
    return {
        producer_id: (
            entry.epoch,
            entry.first_offset,
            entry.coordinator_epoch,
            entry.marker_offset,
            [batch.last_offset for batch in entry.batches],
        )
        for producer_id, entry in log.producers.entries.items()
    }


def test_a_marker_above_the_high_watermark_decides_nothing(writer: Writer) -> None:
    writer.write(7)
    writer.mark(7, commit=True)
    log = writer.log
    log.high_watermark = 1
    assert log.last_stable_offset == 0
    log.high_watermark = 2
    assert log.last_stable_offset == 2


def test_records_below_the_log_start_hold_nobody_back(writer: Writer) -> None:
    writer.write(7)
    writer.write(8, inside=False)
    log = writer.log
    log.high_watermark = 2
    log.advance_start(1)
    assert log.last_stable_offset == 1


def test_a_log_that_begins_anew_knows_nobody(writer: Writer) -> None:
    writer.write(7)
    writer.write(8)
    log = writer.log
    log.high_watermark = 2
    log.advance_start(2)
    log.begin_at(5)
    assert log.producers.transactions.open == {}
    assert known(log) == {}


@pytest.mark.parametrize("deleted", [1, 2])
def test_truncation_forgets_no_transaction_that_began_with_deleted_records(
    writer: Writer, deleted: int
) -> None:
    writer.write(7)
    writer.write(7)
    late = writer.write(7)
    log = writer.log
    log.high_watermark = late
    log.advance_start(deleted)
    log.truncate(late)
    assert log.producers.transactions.open == {0: 7}
    writer.mark(7, commit=True)
    log.high_watermark = log.end_offset
    assert log.producers.transactions.open == {}
    assert log.last_stable_offset == log.high_watermark


def test_truncating_a_marker_opens_the_transaction_again(writer: Writer) -> None:
    writer.write(7)
    writer.write(8)
    marker = writer.mark(7, commit=False)
    log = writer.log
    log.high_watermark = log.end_offset
    log.truncate(marker)
    assert log.producers.transactions.open == {0: 7, 1: 8}
    assert log.producers.transactions.aborted == []
    assert log.last_stable_offset == 0


def test_truncating_the_first_batch_forgets_the_transaction(writer: Writer) -> None:
    writer.write(8, inside=False)
    writer.write(7)
    writer.log.truncate(1)
    assert not writer.log.producers.transactions.open
    assert set(writer.log.producers.entries) == {8}


def test_truncation_below_the_log_start_takes_it_along(writer: Writer) -> None:
    for _ in range(3):
        writer.write(8, inside=False)
    writer.log.advance_start(2)
    writer.log.truncate(1)
    assert (writer.log.start_offset, writer.log.end_offset) == (1, 1)


def test_aborted_transactions_that_a_reader_needs(writer: Writer) -> None:
    for producer_id in (1, 2, 3):
        writer.write(producer_id)
    for producer_id, commit in ((2, False), (1, True), (3, False)):
        writer.mark(producer_id, commit=commit)
    found = writer.log.producers.transactions.aborted_in
    assert [each.producer_id for each in found(0, 6)] == [2, 3]
    assert [each.producer_id for each in found(0, 2)] == [2]
    assert [each.producer_id for each in found(4, 6)] == [3]
    assert [each.producer_id for each in found(6, 7)] == []


def test_a_control_batch_without_record_ends_nothing(writer: Writer) -> None:
    """As compaction leaves it."""
    from mockbroker.protocol.filtering import without_records

    writer.write(7)
    marker = marker_batch(Marker(7, 0, True, 0), 1000)
    emptied = without_records(header_of(marker))
    place(emptied, 1, 0)
    writer.log.producers.appended_batch(emptied, header_of(emptied))
    assert writer.log.producers.transactions.open == {0: 7}


STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "plain", "commit", "abort", "bump"]), st.integers(1, 3)), max_size=30
)


@given(steps=STEPS, cut=st.integers(0, 30), watermark=st.integers(0, 30))
def test_what_was_replicated_or_truncated_is_as_if_written_so(
    steps: list[tuple[str, int]], cut: int, watermark: int
) -> None:
    writer = Writer()
    epochs = dict.fromkeys((1, 2, 3), 0)
    inside: set[int] = set()
    firsts: dict[int, int] = {}
    for step, producer_id in steps:
        if step == "write":
            firsts.setdefault(producer_id, writer.write(producer_id, epochs[producer_id]))
            inside.add(producer_id)
        elif step == "plain" and producer_id not in inside:
            writer.write(producer_id, epochs[producer_id], inside=False)
        elif step in ("commit", "abort"):
            writer.mark(producer_id, epochs[producer_id], commit=step == "commit")
            inside.discard(producer_id)
            firsts.pop(producer_id, None)
        elif step == "bump":
            epochs[producer_id] += 1
            writer.mark(producer_id, epochs[producer_id], commit=False)
            inside.discard(producer_id)
            firsts.pop(producer_id, None)
    log = writer.log
    log.high_watermark = min(watermark, log.end_offset)
    copy = writer.replicate()
    assert known(copy) == known(log)
    assert copy.producers.transactions.open == log.producers.transactions.open
    assert copy.producers.transactions.aborted == log.producers.transactions.aborted
    assert log.last_stable_offset <= log.high_watermark
    assert log.last_stable_offset == copy.last_stable_offset
    assert all(first >= log.last_stable_offset for first in firsts.values())
    kept = min(cut, log.end_offset)
    copy.truncate(kept)
    shorter = Writer()
    for batch in [bytearray(each) for each in log.batches[:kept]]:
        shorter.append(batch)
    assert known(copy) == known(shorter.log)
    assert copy.producers.transactions.open == shorter.log.producers.transactions.open
    assert copy.producers.transactions.aborted == shorter.log.producers.transactions.aborted

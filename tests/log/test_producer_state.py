"""Idempotent produce, as real brokers from 0.11.0.3 to 4.4.0 answered it."""

import pytest

from mockbroker.protocol.errors import ErrorCode

from ..driving.partition import PartitionDriver, outcome

OUT_OF_ORDER = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
UNKNOWN = (ErrorCode.UNKNOWN_PRODUCER_ID, -1)
FENCED = (ErrorCode.INVALID_PRODUCER_EPOCH, -1)
RELEASES = ("0.11", "1.1", "2.3", "2.4", "2.5", "3.9", "4.4")


class Producer(PartitionDriver):
    """Appends batches of three records to one partition of a one-broker cluster."""

    def __init__(self, kafka: str) -> None:
        super().__init__(kafka, brokers=1)

    def send(self, sequence: int, *, epoch: int = 0, producer_id: int = 7, count: int = 3) -> tuple[int, int]:
        """(error code, base offset)."""
        return outcome(
            self.produce(count, version=5, producer_id=producer_id, epoch=epoch, sequence=sequence)
        )

    def delete_everything(self) -> None:
        self.partition.at_leader.advance_log_start(self.partition.log.end_offset)


def after_seven(kafka: str) -> Producer:
    producer = Producer(kafka)
    assert [producer.send(sequence) for sequence in range(0, 21, 3)] == [(0, s) for s in range(0, 21, 3)]
    return producer


@pytest.mark.parametrize("kafka", RELEASES)
def test_duplicates(kafka: str) -> None:
    producer = after_seven(kafka)
    remembered = 1 if kafka == "0.11" else 5
    found = [producer.send(sequence) for sequence in range(18, -1, -3)]
    old = [(0, sequence) for sequence in range(18, -1, -3)]
    assert found == old[:remembered] + [OUT_OF_ORDER] * (7 - remembered)


@pytest.mark.parametrize("kafka", RELEASES)
def test_gaps_and_overlaps(kafka: str) -> None:
    producer = after_seven(kafka)
    assert producer.send(18, count=2) == OUT_OF_ORDER
    assert producer.send(19, count=2) == OUT_OF_ORDER
    assert producer.send(18, count=6) == OUT_OF_ORDER
    assert producer.send(24) == OUT_OF_ORDER
    assert producer.send(21) == (0, 21)


@pytest.mark.parametrize("kafka", RELEASES)
def test_epochs(kafka: str) -> None:
    producer = after_seven(kafka)
    assert producer.send(5, epoch=1) == OUT_OF_ORDER
    assert producer.send(21, epoch=1) == OUT_OF_ORDER
    assert producer.send(0, epoch=1) == (0, 21)
    assert producer.send(0, epoch=1) == (0, 21)
    assert producer.send(24, epoch=0) == FENCED
    assert producer.send(18, epoch=0) == FENCED
    assert producer.send(0, epoch=3) == (0, 24)


@pytest.mark.parametrize("kafka", RELEASES)
def test_a_producer_never_seen(kafka: str) -> None:
    expected = {"0.11": OUT_OF_ORDER, "1.1": UNKNOWN, "2.3": UNKNOWN, "2.4": UNKNOWN}.get(kafka, (0, 0))
    assert Producer(kafka).send(7) == expected


@pytest.mark.parametrize("kafka", RELEASES)
def test_a_producer_whose_records_were_all_deleted(kafka: str) -> None:
    producer = Producer(kafka)
    producer.send(0)
    producer.send(3)
    producer.delete_everything()
    forgotten = {"0.11": OUT_OF_ORDER, "1.1": UNKNOWN, "2.3": UNKNOWN}.get(kafka)
    assert producer.send(9) == (forgotten or OUT_OF_ORDER)
    assert producer.send(3) == (forgotten or (0, 3))
    assert producer.send(6) == (forgotten or (0, 6))
    if forgotten:
        assert producer.send(0) == (0, 6)


def test_sequences_wrap() -> None:
    producer = Producer("4.4")
    assert producer.send(2**31 - 3) == (0, 0)
    assert producer.send(0) == (0, 3)
    assert producer.send(2**31 - 3) == (0, 0)


class Rolled(Producer):
    """Producer 7 wrote before the log rolled, 8 and 9 after it; the log begins at the batch of 9."""

    def __init__(self, kafka: str) -> None:
        super().__init__(kafka)
        self.log = self.partition.log
        self.send(0, producer_id=7)
        self.log.segments.roll(self.log.end_offset, self.now_ms)
        self.send(0, producer_id=8)
        self.send(0, producer_id=9)
        self.log.advance_start(6)

    def known(self) -> set[int]:
        return set(self.log.producers.entries)


@pytest.mark.parametrize(("kafka", "known"), [("2.3", {9}), ("2.4", {8, 9})])
def test_a_kill_leaves_the_active_segment_and_up_to_2_3_only_producers_with_records(
    kafka: str, known: set[int]
) -> None:
    rolled = Rolled(kafka)
    rolled.log.reopen(clean=False)
    assert rolled.known() == known


@pytest.mark.parametrize("clean", [True, False])
def test_who_has_expired_does_not_come_back_with_its_records(clean: bool) -> None:
    rolled = Rolled("3.9")
    rolled.log.producers.expire(rolled.now_ms, 0)
    rolled.log.reopen(clean=clean)
    assert not rolled.known()


def test_who_expired_in_the_first_segment_does_not_come_back_either() -> None:
    producer = Producer("3.9")
    producer.send(0)
    producer.partition.log.producers.expire(producer.now_ms, 0)
    producer.partition.log.reopen(clean=False)
    assert not producer.partition.log.producers.entries


@pytest.mark.parametrize("clean", [True, False])
def test_nobody_waits_to_be_verified_after_a_restart(clean: bool) -> None:
    rolled = Rolled("3.9")
    rolled.log.producers.verify(9, 0, 3, rolled.now_ms, adds=False)
    rolled.log.reopen(clean=clean)
    assert not rolled.log.producers.verifying

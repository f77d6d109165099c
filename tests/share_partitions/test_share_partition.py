"""A share partition, step by step, as KIP-932 and `SharePartition.java` of 4.3.1 describe it."""

import pytest

from mockbroker.share_partitions.acknowledgement import Acknowledgement, AcknowledgementError
from mockbroker.share_partitions.acquiring import Acquired
from mockbroker.share_partitions.flight import ShareLimits
from mockbroker.share_partitions.in_flight import StateBatch
from mockbroker.share_partitions.share_partition import SharePartition
from mockbroker.share_partitions.states import RecordState

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
LOCK = ShareLimits().lock_ms
_S = RecordState


def fetch(
    partition: SharePartition, member: str, *batches: tuple[int, int], most: int = 500, now: int = 0
) -> list[Acquired]:
    begin = partition.next_fetch_offset()
    read = [each for each in batches if each[1] >= begin]
    return partition.acquire(member, read, begin, max_records=most, batch_size=500, now=now)


def acknowledge(
    partition: SharePartition, member: str, first: int, last: int, *types: int, now: int = 0
) -> bool:
    return partition.commit(partition.acknowledge(member, [Acknowledgement(first, last, types)], now))


def test_accepted_records_move_the_start_offset() -> None:
    partition = SharePartition(0)
    assert fetch(partition, "a", (0, 9)) == [Acquired(0, 9, 1)]
    assert acknowledge(partition, "a", 0, 9, ACCEPT)
    assert (partition.start_offset, partition.end_offset, partition.states()) == (10, 10, [])
    assert partition.next_fetch_offset() == 10


def test_two_members_never_have_the_same_record() -> None:
    partition = SharePartition(0)
    assert fetch(partition, "a", (0, 4), (5, 9), most=5) == [Acquired(0, 4, 1)]
    assert fetch(partition, "b", (0, 4), (5, 9)) == [Acquired(5, 9, 1)]
    assert fetch(partition, "c", (0, 4), (5, 9)) == []


def test_new_batches_are_given_whole() -> None:
    assert fetch(SharePartition(0), "a", (0, 4), (5, 9), most=6) == [Acquired(0, 9, 1)]


def test_a_released_record_is_delivered_again_before_new_ones() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 2))
    assert acknowledge(partition, "a", 0, 2, ACCEPT, RELEASE, ACCEPT)
    assert (partition.start_offset, partition.next_fetch_offset()) == (1, 1)
    assert fetch(partition, "b", (0, 2), (3, 5), most=1) == [Acquired(1, 1, 2)]
    assert partition.next_fetch_offset() == 3
    assert acknowledge(partition, "b", 1, 1, REJECT)
    assert partition.start_offset == 3


def test_a_lock_ends_at_its_millisecond_unless_it_is_renewed() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 1))
    acknowledge(partition, "a", 1, 1, RENEW, now=10)
    assert partition.next_expiry() == LOCK
    assert partition.expire(LOCK - 1) == []
    assert partition.expire(LOCK) == [StateBatch(0, 0, _S.AVAILABLE, 1)]
    assert partition.expire(LOCK + 9) == []
    assert partition.expire(LOCK + 10) == [StateBatch(1, 1, _S.AVAILABLE, 1)]
    assert partition.next_expiry() is None


def test_a_poison_record_is_archived_after_its_last_delivery() -> None:
    partition = SharePartition(0, ShareLimits(delivery_count=2))
    fetch(partition, "a", (0, 0))
    acknowledge(partition, "a", 0, 0, RELEASE)
    assert fetch(partition, "a", (0, 0), now=1) == [Acquired(0, 0, 2)]
    assert partition.expire(1 + LOCK) == [StateBatch(0, 0, _S.ARCHIVED, 2)]
    assert partition.advance()
    assert partition.start_offset == 1


def test_the_end_of_a_session_releases_only_its_member() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 1), most=2)
    fetch(partition, "b", (2, 3))
    change = partition.release_all("a")
    assert change.batches == [StateBatch(0, 1, _S.AVAILABLE, 1)]
    partition.commit(change)
    assert fetch(partition, "c", (0, 1), (2, 3)) == [Acquired(0, 1, 2)]


def test_records_are_not_delivered_while_their_release_is_written() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 1))
    change = partition.acknowledge("a", [Acknowledgement(0, 1, (RELEASE,))], 0)
    assert fetch(partition, "b", (0, 1)) == []
    partition.undo(change, 1)
    assert partition.states() == [StateBatch(0, 1, _S.ACQUIRED, 1)]


@pytest.mark.parametrize(("limit", "after"), [(5, _S.AVAILABLE), (1, _S.ARCHIVED)])
def test_a_lock_that_ends_while_an_acknowledgement_fails(limit: int, after: RecordState) -> None:
    partition = SharePartition(0, ShareLimits(delivery_count=limit))
    fetch(partition, "a", (0, 1))
    change = partition.acknowledge("a", [Acknowledgement(0, 1, (ACCEPT,))], 0)
    assert partition.expire(LOCK) == []
    partition.undo(change, LOCK)
    assert partition.states() == [StateBatch(0, 1, after, 1)]


def test_a_record_is_no_dead_letter_if_that_could_not_be_written_before_its_lock_ended() -> None:
    partition = SharePartition(0, ShareLimits(delivery_count=1, sets_aside=True))
    fetch(partition, "a", (0, 1))
    change = partition.acknowledge("a", [Acknowledgement(0, 1, (REJECT,))], 0)
    assert partition.states() == [StateBatch(0, 1, _S.ARCHIVING, 1)]
    assert partition.expire(LOCK) == []
    partition.undo(change, LOCK)
    assert partition.states() == [StateBatch(0, 1, _S.ARCHIVED, 1)]
    assert partition.set_aside() == []


@pytest.mark.parametrize(
    ("member", "asked", "code", "message"),
    [
        ("b", (0, 4), "INVALID_RECORD_STATE", "Member is not the owner of batch record"),
        (
            "a",
            (3, 6),
            "INVALID_REQUEST",
            "Batch record not found. The last offset in request is past acquired records.",
        ),
        (
            "a",
            (7, 8),
            "INVALID_REQUEST",
            "Batch record not found. The first offset in request is past acquired records.",
        ),
    ],
)
def test_refused_acknowledgements_change_nothing(
    member: str, asked: tuple[int, int], code: str, message: str
) -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 4))
    with pytest.raises(AcknowledgementError) as refused:
        partition.acknowledge(
            member, [Acknowledgement(0, 0, (ACCEPT,)), Acknowledgement(*asked, (ACCEPT,))], 0
        )
    assert (refused.value.code, str(refused.value)) == (code, message)
    assert {each.state for each in partition.states()} == {_S.ACQUIRED}


def test_acknowledged_twice_and_below_the_start_offset() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 4))
    acknowledge(partition, "a", 2, 2, ACCEPT)
    with pytest.raises(AcknowledgementError, match="The offset is not acquired"):
        acknowledge(partition, "a", 2, 2, ACCEPT)
    acknowledge(partition, "a", 0, 1, ACCEPT)
    assert partition.start_offset == 3
    assert not acknowledge(partition, "b", 0, 1, ACCEPT), "nobody asks what lies below"


def test_the_log_start_offset_moves_past_what_a_member_has() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 4))
    partition.move_log_start(3)
    change = partition.release_all("a")
    assert {(each.first, each.state) for each in change.batches} == {
        *((offset, _S.ARCHIVED) for offset in range(3)),
        *((offset, _S.AVAILABLE) for offset in (3, 4)),
    }
    partition.commit(change)
    assert (partition.start_offset, fetch(partition, "b", (0, 4))) == (3, [Acquired(3, 4, 2)])


def test_batches_that_compaction_removed_are_archived() -> None:
    partition = SharePartition(0)
    fetch(partition, "a", (0, 4))
    fetch(partition, "a", (5, 9))
    acknowledge(partition, "a", 0, 9, RELEASE)
    assert fetch(partition, "b", (5, 9)) == [Acquired(5, 9, 2)]
    acknowledge(partition, "b", 5, 9, ACCEPT)
    assert partition.start_offset == 10


def test_a_new_leader_delivers_what_the_share_coordinator_does_not_know() -> None:
    known = [StateBatch(5, 9, _S.ACKNOWLEDGED, 1), StateBatch(12, 14, _S.AVAILABLE, 3)]
    partition = SharePartition.restore(0, known)
    log = [(0, 4), (5, 9), (10, 14), (15, 19)]
    assert (partition.start_offset, partition.next_fetch_offset()) == (0, 0)
    assert fetch(partition, "a", *log) == [
        Acquired(0, 4, 1),
        Acquired(10, 11, 1),
        Acquired(12, 14, 4),
        Acquired(15, 19, 1),
    ]
    acknowledge(partition, "a", 0, 4, ACCEPT)
    assert partition.start_offset == 10


def test_records_in_flight_are_limited() -> None:
    partition = SharePartition(0, ShareLimits(records=5))
    fetch(partition, "a", (0, 4))
    assert not partition.can_acquire()
    assert fetch(partition, "b", (5, 9)) == []
    acknowledge(partition, "a", 3, 3, RELEASE)
    assert partition.can_acquire()
    assert fetch(partition, "b", (0, 4), (5, 9)) == [Acquired(3, 3, 2)]


@pytest.mark.parametrize("batches", [[(3, 4)], [(6, 5)], [(5, 7), (7, 9)]])
def test_states_that_no_share_partition_has_are_refused(batches: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="no batch can begin"):
        SharePartition.restore(5, [StateBatch(*each, _S.AVAILABLE, 1) for each in batches])

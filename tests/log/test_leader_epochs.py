"""OffsetForLeaderEpoch over several epochs, as real brokers of four generations answered it."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.environment import Environment
from mockbroker.policies import Policies
from mockbroker.protocol.releases import parse
from mockbroker.replication.partition import Partition
from mockbroker.replication.reading import diverging_epoch
from mockbroker.seeded import streams

MODERN = ("2.3", "2.4", "3.9", "4.4")
OLD = ("0.11", "1.1")


def partition(kafka: str, **policies: str) -> Partition:
    """Epochs 0@0, 1@10, 3@20, 4@30 (epoch 2 wrote nothing) and a log end offset of 35."""
    release = parse(kafka)
    environment = Environment(release, streams(0), policies=Policies(release, policies))
    cluster = Cluster(environment, brokers=1)
    made = cluster.create_topic("t", [[1]]).partitions[0].at_leader
    for epoch, records in ((0, 10), (1, 10), (2, 0), (3, 10), (4, 5)):
        made.leader_epoch = epoch
        made.log.epochs.assign(epoch, made.log.end_offset)
        if records:
            made.append_as_leader(bytearray(61), made.log.end_offset, records, 0)
    return made


def answers(made: Partition) -> dict[int, tuple[int, int]]:
    return {epoch: made.end_offset_for_epoch(epoch) for epoch in range(-2, 7)}


@pytest.mark.parametrize("kafka", MODERN)
def test_the_whole_log(kafka: str) -> None:
    assert answers(partition(kafka)) == {
        -2: (-2, 0),
        -1: (-1, -1),
        0: (0, 10),
        1: (1, 20),
        2: (1, 20),
        3: (3, 30),
        4: (4, 35),
        5: (-1, -1),
        6: (-1, -1),
    }


@pytest.mark.parametrize("kafka", OLD)
def test_the_whole_log_before_kafka_7415(kafka: str) -> None:
    offsets = {epoch: end for epoch, (_, end) in answers(partition(kafka)).items()}
    assert offsets == {-2: -1, -1: -1, 0: 10, 1: 20, 2: 20, 3: 30, 4: 35, 5: -1, 6: -1}


@pytest.mark.parametrize("kafka", MODERN)
@pytest.mark.parametrize(
    ("start", "cache", "expected"),
    [
        (15, [(1, 15), (3, 20), (4, 30)], {-2: (-2, 15), 0: (0, 15), 1: (1, 20), 2: (1, 20), 4: (4, 35)}),
        (20, [(3, 20), (4, 30)], {0: (0, 20), 1: (1, 20), 2: (2, 20), 3: (3, 30)}),
        (32, [(4, 32)], {0: (0, 32), 3: (3, 32), 4: (4, 35), 5: (-1, -1)}),
        (35, [(4, 35)], {0: (0, 35), 3: (3, 35), 4: (4, 35)}),
    ],
)
def test_after_records_were_deleted(
    kafka: str, start: int, cache: list[tuple[int, int]], expected: dict[int, tuple[int, int]]
) -> None:
    made = partition(kafka)
    made.advance_log_start(start)
    epochs = made.log.epochs
    assert list(zip(epochs.epochs, epochs.starts, strict=True)) == cache
    assert {epoch: made.end_offset_for_epoch(epoch) for epoch in expected} == expected


@pytest.mark.parametrize("kafka", OLD)
def test_after_records_were_deleted_before_kafka_7415(kafka: str) -> None:
    made = partition(kafka)
    made.advance_log_start(15)
    assert made.end_offset_for_epoch(0) == (-1, -1)


def test_an_epoch_that_starts_where_the_last_one_did_replaces_it() -> None:
    made = partition("4.4")
    made.advance_log_start(35)
    made.log.epochs.assign(5, 35)
    assert (made.log.epochs.epochs, made.log.epochs.starts) == ([5], [35])
    assert made.end_offset_for_epoch(5) == (5, 35)


def test_the_fix_proposed_in_kafka_19902_fills_both_fields() -> None:
    assert partition("3.9", **{"undefined-epoch": "log-end-offset"}).end_offset_for_epoch(9) == (4, 35)


def test_an_exact_lookup_knows_only_epochs_that_wrote() -> None:
    exact = partition("4.4", **{"epoch-lookup": "exact"})
    assert [exact.end_offset_for_epoch(epoch) for epoch in (1, 2, 3)] == [(1, 20), (-1, -1), (3, 30)]


@pytest.mark.parametrize(
    ("last_epoch", "offset", "expected"),
    [
        (0, 10, (-1, -1)),
        (0, 13, (0, 10)),
        (0, 40, (0, 10)),
        (2, 20, (1, 20)),
        (2, 21, (1, 20)),
        (4, 40, (4, 35)),
        (1, 5, (-1, -1)),
        (4, 3, (-1, -1)),
        (5, 35, None),
    ],
)
def test_where_a_reader_left_the_log(last_epoch: int, offset: int, expected: tuple[int, int] | None) -> None:
    made = partition("4.4")
    assert diverging_epoch(made, last_epoch, offset) == expected


@pytest.mark.parametrize(
    ("last_epoch", "offset", "expected"), [(0, 15, (-1, -1)), (0, 20, (0, 15)), (0, 10, None)]
)
def test_where_a_reader_left_a_log_that_was_cut(
    last_epoch: int, offset: int, expected: tuple[int, int] | None
) -> None:
    made = partition("4.4")
    made.advance_log_start(15)
    assert diverging_epoch(made, last_epoch, offset) == expected

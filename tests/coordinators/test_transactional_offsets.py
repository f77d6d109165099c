"""Offsets that are part of a transaction (KIP-98, KIP-447)."""

import pytest

from mockbroker.cluster import controller

from .transacting import Stage


@pytest.mark.parametrize("kafka", ["0.11", "2.5", "3.9", "4.4"])
@pytest.mark.parametrize(("commit", "after"), [(True, 5), (False, -1)])
def test_offsets_count_with_the_transaction(kafka: str, commit: bool, after: int) -> None:
    stage = Stage(kafka, brokers=3)
    producer = stage.init()
    assert stage.add_offsets(producer) == "NONE"
    assert stage.commit_offset(producer, 5) == "NONE"
    assert stage.committed() == ("NONE", -1)
    assert stage.committed(stable=True) == ("UNSTABLE_OFFSET_COMMIT", -1)
    assert stage.end(producer, commit=commit).error == "NONE"
    assert stage.committed(stable=True) == ("NONE", after)


def test_the_newest_clients_add_offsets_by_committing_them() -> None:
    stage = Stage(brokers=3)
    producer = stage.init()
    assert stage.commit_offset(producer, 5, version=5) == "NONE"
    assert [topic.topic for topic in stage.describe().topics] == ["__consumer_offsets"]
    stage.end(producer, commit=True, version=5)
    assert stage.committed() == ("NONE", 5)


def test_the_old_value_stands_until_the_marker() -> None:
    stage = Stage(markers_delay_ms=50)
    producer = stage.init()
    for offset in (5, 8):
        stage.add_offsets(producer)
        stage.commit_offset(producer, offset)
        stage.end(producer, commit=True)
        before = stage.committed()
        assert stage.committed(stable=True)[0] == "UNSTABLE_OFFSET_COMMIT"
        stage.advance(50)
        assert (before, stage.committed()) == (("NONE", -1 if offset == 5 else 5), ("NONE", offset))


def test_offsets_of_a_fenced_producer() -> None:
    stage = Stage("3.5")
    old = stage.init()
    stage.add_offsets(old)
    stage.commit_offset(old, 5)
    assert stage.init().error == "CONCURRENT_TRANSACTIONS"
    assert stage.commit_offset(old, 6) == "INVALID_PRODUCER_EPOCH"
    assert stage.committed() == ("NONE", -1)


def test_members_that_may_not_commit() -> None:
    stage = Stage()
    producer = stage.init()
    stage.add_offsets(producer)
    assert stage.commit_offset(producer, 5, generation=3, member="m") == "ILLEGAL_GENERATION"
    assert stage.commit_offset(producer, 5) == "NONE"
    assert stage.commit_offset(producer, 5, generation=3, member="m") == "UNKNOWN_MEMBER_ID"


def test_open_offsets_survive_a_move_of_their_group() -> None:
    stage = Stage(brokers=3)
    producer = stage.init()
    stage.add_offsets(producer)
    stage.commit_offset(producer, 5)
    controller.stop_broker(stage.cluster, stage.cluster.offsets_partition("g").leader)
    assert stage.committed(stable=True)[0] == "UNSTABLE_OFFSET_COMMIT"
    stage.end(producer, commit=True)
    assert stage.committed(stable=True) == ("NONE", 5)

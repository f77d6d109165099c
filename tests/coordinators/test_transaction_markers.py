"""Markers: while they are under way, when they cannot be written yet, and when they are never sent."""

import pytest

from mockbroker.cluster import controller

from .transacting import Stage

DAY_MS = 24 * 3600 * 1000


def test_while_markers_are_under_way() -> None:
    stage = Stage(markers_delay_ms=50)
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "PrepareCommit"
    assert stage.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
    assert stage.end(producer, commit=True).error == "CONCURRENT_TRANSACTIONS"
    assert stage.end(producer, commit=False).error == "INVALID_TXN_STATE"
    assert stage.init().error == "CONCURRENT_TRANSACTIONS"
    assert stage.stable() == (0, 3)
    stage.advance(50)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert stage.stable() == (4, 4)
    assert stage.add(producer) == {0: "NONE"}


@pytest.mark.parametrize("answer", ["completes", "hangs"])
def test_a_transaction_may_hang_until_its_coordinator_moves(answer: str) -> None:
    stage = Stage(brokers=3, policies={"transaction-completion": answer})
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    stage.advance(DAY_MS)
    if answer == "hangs":
        assert stage.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
        assert stage.stable() == (0, 3)
        controller.stop_broker(stage.cluster, stage.coordinator())
    assert stage.add(producer) == {0: "NONE"}
    assert stage.stable() == (4, 4)


def test_a_partition_without_leader_gets_its_marker_later() -> None:
    stage = Stage(brokers=3)
    stage.cluster.create_topic("alone", [[3]])
    producer = stage.init()
    leaders = stage.cluster.topics["alone"].partitions[0]
    assert stage.add(producer, topic="alone") == {0: "NONE"}
    assert stage.write(producer, topic="alone")[0] == "NONE"
    controller.stop_broker(stage.cluster, 3)
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "PrepareCommit"
    controller.start_broker(stage.cluster, 3)
    stage.advance(100)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert leaders.log.last_stable_offset == 4


def test_a_deleted_topic_needs_no_marker() -> None:
    stage = Stage()
    producer = stage.begun()
    stage.cluster.delete_topic(stage.cluster.topics["orders"])
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "CompleteCommit"

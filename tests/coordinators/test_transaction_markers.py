"""Markers: while they are under way, when they cannot be written yet, and when they are never sent."""

import pytest

from mockbroker.cluster import controller

from .transacting import TIMEOUT_MS, Stage

DAY_MS = 24 * 3600 * 1000
SESSION_MS = 9_000
RETRY_MS = 100


def test_while_markers_are_under_way() -> None:
    stage = Stage(markers_delay_ms=50)
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "PrepareCommit"
    assert stage.add(producer) == {0: "CONCURRENT_TRANSACTIONS"}
    assert stage.end(producer, commit=True).error == "CONCURRENT_TRANSACTIONS"
    assert stage.end(producer, commit=False).error == "CONCURRENT_TRANSACTIONS"
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
    assert stage.add(producer) == stage.add(producer, topic="alone") == {0: "NONE"}
    assert stage.write(producer, topic="alone")[0] == "NONE"
    assert {each.topic for each in stage.describe().topics} > {"alone"}
    controller.stop_broker(stage.cluster, 3)
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "PrepareCommit"
    assert [each.topic for each in stage.describe().topics] == ["alone"]
    controller.start_broker(stage.cluster, 3)
    stage.advance(100)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert leaders.log.last_stable_offset == 4


def test_a_leader_that_died_gets_no_marker() -> None:
    stage = Stage(brokers=3, markers_delay_ms=50)
    stage.cluster.create_topic("elsewhere", [[3, 2]])
    partition = stage.cluster.topics["elsewhere"].partitions[0]
    producer = stage.init()
    assert stage.add(producer, topic="elsewhere") == {0: "NONE"}
    assert stage.write(producer, topic="elsewhere")[0] == "NONE"
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.coordinator() != 3
    controller.kill_broker(stage.cluster, 3)
    stage.advance(SESSION_MS - 1)
    assert (partition.leader, partition.log.end_offset) == (3, 3)
    assert stage.describe().transaction_state == "PrepareCommit"
    stage.advance(RETRY_MS + 1)
    assert (partition.leader, partition.log.last_stable_offset) == (2, 4)
    assert stage.describe().transaction_state == "CompleteCommit"


def test_a_coordinator_that_died_does_nothing_more() -> None:
    stage = Stage(brokers=3, transaction_abort_timed_out_transaction_cleanup_interval_ms=1_000)
    stage.begun()
    stage.advance(TIMEOUT_MS)
    log = stage.cluster.transaction_partition("tx").log
    end = log.end_offset
    controller.kill_broker(stage.cluster, stage.coordinator())
    stage.advance(SESSION_MS - 1)
    assert (log.end_offset, stage.stable()) == (end, (0, 3))
    stage.advance(2_000)
    assert stage.describe().transaction_state == "CompleteAbort"


@pytest.mark.parametrize("policies", [{"restart-epoch": "kept"}, {"restart-epoch": "bumped"}])
def test_markers_go_on_when_the_coordinator_is_back(policies: dict[str, str]) -> None:
    stage = Stage(policies=policies, markers_delay_ms=50)
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    controller.kill_broker(stage.cluster, 1)
    stage.advance(1_000)
    assert stage.stable() == (0, 3)
    controller.start_broker(stage.cluster, 1)
    stage.advance(1_000)
    assert stage.describe().transaction_state == "CompleteCommit"
    assert stage.stable() == (4, 4)


def test_markers_go_on_when_the_coordinators_leader_epoch_is_bumped() -> None:
    stage = Stage(brokers=3, policies={"isr-shrink-epoch": "bumped"}, markers_delay_ms=50)
    producer = stage.begun()
    assert stage.end(producer, commit=True).error == "NONE"
    partition = stage.cluster.transaction_partition("tx")
    coordinator, epoch = partition.leader, partition.leader_epoch
    orders = stage.cluster.topics["orders"].partitions[0]
    controller.stop_broker(stage.cluster, ({1, 2, 3} - {coordinator, orders.leader}).pop())
    assert (partition.leader, partition.leader_epoch) == (coordinator, epoch + 1)
    stage.advance(1_000)
    assert orders.log.last_stable_offset == orders.log.end_offset == 4
    assert stage.describe().transaction_state == "CompleteCommit"


def test_a_deleted_topic_needs_no_marker() -> None:
    stage = Stage()
    producer = stage.begun()
    stage.cluster.delete_topics([stage.cluster.topics["orders"]])
    assert stage.end(producer, commit=True).error == "NONE"
    assert stage.describe().transaction_state == "CompleteCommit"

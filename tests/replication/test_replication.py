"""Followers, the ISR, the high watermark, elections and truncation."""

import pytest

from mockbroker.cluster.cluster import Cluster
from mockbroker.controller import elections, reassignments
from mockbroker.metadata.records import NO_LEADER
from mockbroker.protocol import record_batch
from mockbroker.protocol.api_error import ApiError
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.replication.states import FollowerState
from mockbroker.rig.batches import batch

from ..driving.partition import LAG_MS, PartitionDriver, deleted, epoch_cache, outcome


def test_replicas_in_step_hold_the_very_same_batch(driver: PartitionDriver) -> None:
    answer = driver.produce(3)
    assert outcome(answer) == (0, 0)
    first, second, third = (log.batches[0] for log in driver.partition.logs.values())
    assert first is second is third
    assert driver.partition.log.high_watermark == 3


def test_acks_all_waits_for_a_paused_follower_until_it_leaves_the_isr(driver: PartitionDriver) -> None:
    driver.partition.set_follower(3, FollowerState.PAUSED)
    asked = driver.produce(2)
    assert asked.parked
    assert driver.read(0).high_watermark == 0
    assert not driver.read(0).records
    driver.advance(LAG_MS // 2)
    assert asked.parked
    driver.advance(LAG_MS)
    assert outcome(asked) == (0, 0)
    assert driver.partition.isr == [1, 2]
    assert driver.read(0).high_watermark == 2


def test_a_follower_that_fetches_again_catches_up_and_rejoins(driver: PartitionDriver) -> None:
    driver.partition.set_follower(3, FollowerState.PAUSED)
    asked = driver.produce(2)
    driver.advance(2 * LAG_MS)
    driver.produce(5)
    assert driver.ends() == {1: 7, 2: 7, 3: 0}
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert driver.ends() == {1: 7, 2: 7, 3: 7}
    assert driver.partition.isr == [1, 2, 3]
    assert driver.partition.followers[3].state is FollowerState.IN_STEP
    assert not asked.parked


def test_a_produce_that_waits_too_long_times_out_and_its_records_stay(driver: PartitionDriver) -> None:
    driver.partition.set_follower(2, FollowerState.PAUSED)
    asked = driver.produce(1, timeout_ms=1000)
    driver.advance(1000)
    assert outcome(asked) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert driver.partition.log.end_offset == 1


def test_an_answer_that_waited_names_those_who_lead_by_then(driver: PartitionDriver) -> None:
    """As real 4.4.0 answers (KIP-951): also of a partition that was refused at once."""
    other = driver.cluster.create_topic("other", [[2, 3]], {})
    driver.partition.set_follower(3, FollowerState.PAUSED)
    data = [
        TopicProduceData(topic.id, [PartitionProduceData(0, batch(1))], topic.name)
        for topic in (driver.topic, other)
    ]
    asked = driver.ask(ProduceRequest(None, -1, 1000, data), 10, broker=1)
    assert elections.move_leader(other.partitions[0], 3)
    driver.advance(1000)
    waited, refused = (each.partition_responses[0] for each in asked.responses)
    assert waited.error_code == ErrorCode.REQUEST_TIMED_OUT
    assert refused.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert (refused.current_leader.leader_id, refused.current_leader.leader_epoch) == (3, 1)
    assert [each.node_id for each in asked.node_endpoints] == [3]


@pytest.mark.parametrize(
    ("kafka", "error", "readable"),
    [
        ("2.3", ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 2),
        ("3.6", ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, 2),
        ("3.7", ErrorCode.REQUEST_TIMED_OUT, 0),
        ("4.4", ErrorCode.REQUEST_TIMED_OUT, 0),
    ],
)
def test_min_insync_replicas(kafka: str, error: ErrorCode, readable: int) -> None:
    """As real 3.9.2 and 4.4.0 answer; what was taken can be read once enough replicas have it."""
    driver = PartitionDriver(kafka=kafka, min_insync_replicas="3", retention_ms="-1")
    driver.partition.set_follower(2, FollowerState.PAUSED)
    asked = driver.produce()
    driver.advance(2 * LAG_MS)
    assert outcome(asked) == (error, 0)
    refused = driver.produce()
    assert outcome(refused) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
    assert refused.responses[0].partition_responses[0].log_start_offset == 0
    assert outcome(driver.produce(acks=1)) == (0, 1)
    assert driver.read(0).high_watermark == readable
    driver.partition.set_follower(2, FollowerState.BEHIND)
    assert driver.read(0).high_watermark == 2


@pytest.mark.parametrize("paused", [None, 3])
def test_a_fetch_waits_for_all_its_bytes_whoever_is_in_sync(paused: int | None) -> None:
    driver = PartitionDriver()
    if paused is not None:
        driver.partition.set_follower(paused, FollowerState.PAUSED)
        driver.produce()
        driver.advance(2 * LAG_MS)
        assert driver.partition.isr == [1, 2]
    start = driver.partition.log.end_offset
    driver.produce(acks=1)
    size = len(next(iter(driver.partition.log)))
    asked = driver.fetch(start, wait_ms=10_000, min_bytes=size * 4)
    for _ in range(2):
        driver.produce(acks=1)
        assert asked.parked
    driver.produce(acks=1)
    assert not asked.parked


def test_a_client_replicates_in_the_place_of_a_follower(driver: PartitionDriver) -> None:
    """As measured on 3.9.2 and 4.4.0 with a made-up broker."""
    assert driver.read(0, replica=3).high_watermark == 0
    asked = driver.produce(2)
    assert asked.parked
    assert driver.read(0, replica=3).high_watermark == 0
    assert len(driver.read(0, replica=3).records or ()) == 1
    at_the_end = driver.read(2, replica=3)
    assert (at_the_end.high_watermark, outcome(asked)) == (0, (0, 0))
    assert driver.read(2, replica=3).high_watermark == 2
    driver.advance(2 * LAG_MS)
    assert driver.partition.isr == [1, 2, 3], "silent but caught up, it stays"
    driver.produce(1, acks=1)
    driver.advance(2 * LAG_MS)
    assert driver.partition.isr == [1, 2]
    driver.read(3, replica=3)
    assert driver.partition.isr == [1, 2, 3]
    assert driver.read(3, replica=3, epoch=9).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert driver.read(9, replica=3).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert driver.read(0, replica=77).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_leadership_moves_and_every_epoch_is_kept_where_records_are(driver: PartitionDriver) -> None:
    for broker, records in ((1, 10), (2, 10), (3, 0), (1, 10), (2, 5)):
        if driver.partition.leader != broker:
            driver.partition.lead(broker)
        if records:
            driver.produce(records)
    for log in driver.partition.logs.values():
        assert epoch_cache(log) == [(0, 0), (1, 10), (3, 20), (4, 30)]
    assert driver.partition.leader_epoch == 4
    assert driver.partition.at_leader.end_offset_for_epoch(2) == (1, 20)


def test_a_dead_leader_that_lost_its_tail_takes_no_high_watermark_back() -> None:
    """Followers of the next leader, which deleted records as it led before, could not go where its log
    starts."""
    driver = PartitionDriver(retention_ms="-1")
    for _ in range(4):
        driver.produce(1)
    driver.partition.logs[2].advance_start(3)
    driver.kill_broker(1)
    driver.partition.logs[1].truncate(2)
    driver.advance(10_000)
    assert driver.partition.leader == 2
    assert driver.state_of(3) is FollowerState.IN_STEP
    assert driver.partition.logs[3].start_offset == 3


def test_an_unclean_leader_makes_the_others_truncate() -> None:
    driver = PartitionDriver(unclean_leader_election_enable="true")
    driver.produce(4)
    driver.leave_behind(2, records=3)
    driver.stop_broker(3)
    driver.stop_broker(1)
    assert (driver.partition.leader, driver.partition.isr) == (2, [2])
    driver.produce(1)
    driver.start_broker(1)
    driver.start_broker(3)
    assert driver.ends() == {1: 5, 2: 5, 3: 5}
    batches = [[bytes(b) for b in log.batches] for log in driver.partition.logs.values()]
    assert batches[0] == batches[1] == batches[2]
    assert driver.partition.isr == [1, 2, 3]


def test_without_a_replica_in_sync_there_is_no_leader_until_one_comes_back(driver: PartitionDriver) -> None:
    driver.leave_behind(2, 3)
    driver.stop_broker(1)
    assert (driver.partition.leader, driver.partition.leader_epoch) == (NO_LEADER, 1)
    assert driver.read(0, broker=2).error_code == ErrorCode.NONE
    driver.start_broker(1)
    assert (driver.partition.leader, driver.partition.leader_epoch) == (1, 2)
    assert driver.partition.log.end_offset == 2


def test_unclean_elections_by_policy() -> None:
    driver = PartitionDriver(policies={"election": "unclean"})
    driver.leave_behind(2, 3)
    driver.stop_broker(1)
    assert (driver.partition.leader, driver.partition.isr, driver.partition.log.end_offset) == (2, [2], 0)


def test_a_new_leader_does_not_wait_for_a_follower_that_is_out_of_sync() -> None:
    driver = PartitionDriver(policies={"election": "unclean"})
    driver.leave_behind(2, 3)
    driver.stop_broker(1)
    answer = driver.produce(1)
    assert outcome(answer) == (0, 0)
    assert driver.partition.log.high_watermark == 1


def test_preferred_and_unclean_elections_say_why_not(driver: PartitionDriver) -> None:
    with pytest.raises(ApiError) as refused:
        elections.elect_preferred(driver.partition)
    assert refused.value.code == ErrorCode.ELECTION_NOT_NEEDED
    driver.stop_broker(1)
    with pytest.raises(ApiError) as refused:
        elections.elect_preferred(driver.partition)
    assert refused.value.code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    driver.start_broker(1)
    elections.elect_preferred(driver.partition)
    assert driver.partition.leader == 1


def test_a_reassigned_replica_copies_the_log(cluster: Cluster) -> None:
    partition = cluster.create_topic("t", [[1]]).partitions[0]
    made = bytearray(batch(4))
    record_batch.place(made, 0, 0)
    partition.at_leader.append_as_leader(made, 0, 4, 0)
    reassignments.begin(partition, [3, 2])
    assert (partition.leader, partition.replicas, partition.isr) == (3, [3, 2], [2, 3])
    assert {b: log.end_offset for b, log in partition.logs.items()} == {3: 4, 2: 4}
    with pytest.raises(ApiError):
        reassignments.begin(partition, [3, 9])


def test_delete_records_waits_for_the_followers_on_live_brokers(driver: PartitionDriver) -> None:
    driver.produce(4)
    assert deleted(driver.delete_records(1)) == (0, 1)
    driver.partition.set_follower(3, FollowerState.PAUSED)
    asked = driver.delete_records(2, 1000)
    assert asked.parked
    driver.partition.set_follower(3, FollowerState.BEHIND)
    assert deleted(asked) == (0, 2)

    driver.partition.set_follower(3, FollowerState.PAUSED)
    asked = driver.delete_records(3, 1000)
    driver.advance(1000)
    assert deleted(asked) == (ErrorCode.REQUEST_TIMED_OUT, 2)
    asked = driver.delete_records(3, 1000)
    driver.stop_broker(1)
    assert deleted(asked) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    driver.stop_broker(3)
    assert deleted(driver.delete_records(4)) == (0, 4)


@pytest.mark.parametrize("state", [FollowerState.PAUSED, FollowerState.CUT_OFF, FollowerState.SLOW])
@pytest.mark.parametrize("rested_ms", [0, 1, LAG_MS // 2 - 1, LAG_MS // 2, 30 * 24 * 3_600_000 + 7])
def test_a_follower_may_rest_for_a_month_at_no_cost(state: FollowerState, rested_ms: int) -> None:
    """It leaves the ISR at the look at followers that it would have left at if they had gone on."""
    driver = PartitionDriver(retention_ms="-1", config={"log.retention.check.interval.ms": "9999999999"})
    driver.partition.set_follower(3, state, delay_ms=100 * LAG_MS)
    looks = driver.now_ms
    driver.advance(rested_ms)
    assert driver.partition.isr == [1, 2, 3]
    if rested_ms >= LAG_MS // 2:
        deadline = driver.cluster.next_deadline()
        assert deadline is None or deadline > driver.now_ms + LAG_MS, "nobody looks"
    driver.produce(1, acks=1)
    since = driver.now_ms
    while driver.partition.isr != [1, 2]:
        driver.cluster.advance(driver.cluster.next_deadline() or 0)
        assert driver.now_ms <= since + 2 * LAG_MS
    assert (driver.now_ms - looks) % (LAG_MS // 2) == 0

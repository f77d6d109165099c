"""Followers, the ISR, the high watermark, elections and truncation."""

from random import Random
from typing import Any

import pytest

from mockbroker.cluster import controller
from mockbroker.cluster.api_error import ApiError
from mockbroker.cluster.call import PARKED
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.partition import NO_LEADER
from mockbroker.conformance.batches import batch
from mockbroker.coordinators.offsets import CommittedOffset
from mockbroker.protocol import record_batch
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from mockbroker.protocol.releases import parse

from .lab import LAG_MS, Lab, outcome


def test_replicas_in_step_hold_the_very_same_batch() -> None:
    lab = Lab()
    answer, _ = lab.produce(3)
    assert outcome(answer) == (0, 0)
    first, second, third = (log.batches[0] for log in lab.partition.logs.values())
    assert first is second is third
    assert lab.partition.log.high_watermark == 3


def test_acks_all_waits_for_a_paused_follower_until_it_leaves_the_isr() -> None:
    lab = Lab()
    lab.partition.set_follower(3, FollowerState.PAUSED)
    answer, later = lab.produce(2)
    assert answer is PARKED
    assert lab.fetch(0).high_watermark == 0
    assert not lab.fetch(0).records
    lab.pass_time(LAG_MS // 2)
    assert later == []
    lab.pass_time(LAG_MS)
    assert outcome(later[0]) == (0, 0)
    assert lab.partition.isr == [1, 2]
    assert lab.fetch(0).high_watermark == 2


def test_a_follower_that_fetches_again_catches_up_and_rejoins() -> None:
    lab = Lab()
    lab.partition.set_follower(3, FollowerState.PAUSED)
    _, later = lab.produce(2)
    lab.pass_time(2 * LAG_MS)
    lab.produce(5)
    assert lab.ends() == {1: 7, 2: 7, 3: 0}
    lab.partition.set_follower(3, FollowerState.BEHIND)
    assert lab.ends() == {1: 7, 2: 7, 3: 7}
    assert lab.partition.isr == [1, 2, 3]
    assert lab.partition.followers[3].state is FollowerState.IN_STEP
    assert len(later) == 1


def test_a_produce_that_waits_too_long_times_out_and_its_records_stay() -> None:
    lab = Lab()
    lab.partition.set_follower(2, FollowerState.PAUSED)
    _, later = lab.produce(1, timeout_ms=1000)
    lab.pass_time(1000)
    assert outcome(later[0]) == (ErrorCode.REQUEST_TIMED_OUT, 0)
    assert lab.partition.log.end_offset == 1


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
    lab = Lab(kafka=kafka, min_insync_replicas="3", retention_ms="-1")
    lab.partition.set_follower(2, FollowerState.PAUSED)
    _, later = lab.produce()
    lab.pass_time(2 * LAG_MS)
    assert outcome(later[0]) == (error, 0)
    refused, _ = lab.produce()
    assert outcome(refused) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
    assert refused.responses[0].partition_responses[0].log_start_offset == 0
    assert outcome(lab.produce(acks=1)[0]) == (0, 1)
    assert lab.fetch(0).high_watermark == readable
    lab.partition.set_follower(2, FollowerState.BEHIND)
    assert lab.fetch(0).high_watermark == 2


@pytest.mark.parametrize("paused", [None, 3])
def test_a_fetch_waits_for_all_its_bytes_whoever_is_in_sync(paused: int | None) -> None:
    lab = Lab()
    if paused is not None:
        lab.partition.set_follower(paused, FollowerState.PAUSED)
        lab.produce()
        lab.pass_time(2 * LAG_MS)
        assert lab.partition.isr == [1, 2]
    start = lab.partition.log.end_offset
    lab.produce(acks=1)
    size = len(next(iter(lab.partition.log)))
    asked = FetchTopic(topic="t", partitions=[FetchPartition(0, -1, start, -1, -1, 1 << 20)])
    request = FetchRequest(max_wait_ms=10_000, min_bytes=size * 4, topics=[asked])
    _, later = lab.ask(ApiKey.FETCH, 12, request)
    for _ in range(2):
        lab.produce(acks=1)
        assert later == []
    lab.produce(acks=1)
    assert len(later) == 1


def test_a_client_replicates_in_the_place_of_a_follower() -> None:
    """As measured on 3.9.2 and 4.4.0 with a made-up broker."""
    lab = Lab()
    assert lab.fetch(0, replica=3).high_watermark == 0
    answer, later = lab.produce(2)
    assert answer is PARKED
    assert lab.fetch(0, replica=3).high_watermark == 0
    assert len(lab.fetch(0, replica=3).records or ()) == 1
    at_the_end = lab.fetch(2, replica=3)
    assert (at_the_end.high_watermark, outcome(later[0])) == (0, (0, 0))
    assert lab.fetch(2, replica=3).high_watermark == 2
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.isr == [1, 2, 3], "silent but caught up, it stays"
    lab.produce(1, acks=1)
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.isr == [1, 2]
    lab.fetch(3, replica=3)
    assert lab.partition.isr == [1, 2, 3]
    assert lab.fetch(3, replica=3, epoch=9).error_code == ErrorCode.UNKNOWN_LEADER_EPOCH
    assert lab.fetch(9, replica=3).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert lab.fetch(0, replica=77).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_leadership_moves_and_every_epoch_is_kept_where_records_are() -> None:
    lab = Lab()
    for broker, records in ((1, 10), (2, 10), (3, 0), (1, 10), (2, 5)):
        if lab.partition.leader != broker:
            lab.partition.lead(broker)
        if records:
            lab.produce(records)
    for log in lab.partition.logs.values():
        assert list(zip(log.epochs.epochs, log.epochs.starts, strict=True)) == [
            (0, 0),
            (1, 10),
            (3, 20),
            (4, 30),
        ]
    assert lab.partition.leader_epoch == 4
    assert lab.partition.end_offset_for_epoch(2) == (1, 20)


def test_a_dead_leader_that_lost_its_tail_takes_no_high_watermark_back() -> None:
    """Followers of the next leader, which deleted records as it led before, could not go where its log
    starts."""
    lab = Lab(retention_ms="-1")
    for _ in range(4):
        lab.produce(1)
    lab.partition.logs[2].advance_start(3)
    controller.kill_broker(lab.cluster, 1)
    lab.partition.logs[1].truncate(2)
    lab.pass_time(10_000)
    assert lab.partition.leader == 2
    assert lab.state_of(3) is FollowerState.IN_STEP
    assert lab.partition.logs[3].start_offset == 3


def test_an_unclean_leader_makes_the_others_truncate() -> None:
    lab = Lab(unclean_leader_election_enable="true")
    lab.produce(4)
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.produce(3, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.stop_broker(lab.cluster, 3)
    controller.stop_broker(lab.cluster, 1)
    assert (lab.partition.leader, lab.partition.isr) == (2, [2])
    lab.produce(1)
    controller.start_broker(lab.cluster, 1)
    controller.start_broker(lab.cluster, 3)
    assert lab.ends() == {1: 5, 2: 5, 3: 5}
    batches = [[bytes(b) for b in log.batches] for log in lab.partition.logs.values()]
    assert batches[0] == batches[1] == batches[2]
    assert lab.partition.isr == [1, 2, 3]


def test_without_a_replica_in_sync_there_is_no_leader_until_one_comes_back() -> None:
    lab = Lab()
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    assert lab.partition.isr == [1]
    controller.stop_broker(lab.cluster, 1)
    assert (lab.partition.leader, lab.partition.leader_epoch) == (NO_LEADER, 1)
    assert lab.fetch(0, broker=2).error_code == ErrorCode.NONE
    controller.start_broker(lab.cluster, 1)
    assert (lab.partition.leader, lab.partition.leader_epoch) == (1, 2)
    assert lab.partition.log.end_offset == 2


def test_unclean_elections_by_policy() -> None:
    lab = Lab(policies={"election": "unclean"})
    lab.partition.set_follower(2, FollowerState.PAUSED)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.stop_broker(lab.cluster, 1)
    assert (lab.partition.leader, lab.partition.isr, lab.partition.log.end_offset) == (2, [2], 0)


def test_a_new_leader_does_not_wait_for_a_follower_that_is_out_of_sync() -> None:
    lab = Lab(policies={"election": "unclean"})
    for follower in (2, 3):
        lab.partition.set_follower(follower, FollowerState.PAUSED)
    lab.produce(2, acks=1)
    lab.pass_time(2 * LAG_MS)
    controller.stop_broker(lab.cluster, 1)
    answer, _ = lab.produce(1)
    assert outcome(answer) == (0, 0)
    assert lab.partition.log.high_watermark == 1


def test_preferred_and_unclean_elections_say_why_not() -> None:
    lab = Lab()
    with pytest.raises(ApiError) as refused:
        controller.elect_preferred(lab.cluster, lab.partition)
    assert refused.value.code == ErrorCode.ELECTION_NOT_NEEDED
    controller.stop_broker(lab.cluster, 1)
    with pytest.raises(ApiError) as refused:
        controller.elect_preferred(lab.cluster, lab.partition)
    assert refused.value.code == ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE
    controller.start_broker(lab.cluster, 1)
    controller.elect_preferred(lab.cluster, lab.partition)
    assert lab.partition.leader == 1


def test_a_reassigned_replica_copies_the_log() -> None:
    cluster = Cluster(parse("4.4"), Random(0), brokers=3, now_ms=1_700_000_000_000)
    partition = cluster.create_topic("t", [[1]]).partitions[0]
    made = bytearray(batch(4))
    record_batch.place(made, 0, 0)
    partition.append(made, 0, 4)
    controller.reassign(cluster, partition, [3, 2])
    assert (partition.leader, partition.replicas, partition.isr) == (3, [3, 2], [3, 2])
    assert {b: log.end_offset for b, log in partition.logs.items()} == {3: 4, 2: 4}
    with pytest.raises(ApiError):
        controller.reassign(cluster, partition, [3, 9])


def test_groups_go_with_the_leader_of_their_offsets() -> None:
    config = {"offsets.topic.num.partitions": "1", "offsets.topic.replication.factor": "3"}
    cluster = Cluster(parse("4.4"), Random(0), brokers=3, config=config, now_ms=1_700_000_000_000)
    cluster.create_topic("t", [[1]])
    first = cluster.coordinator("billing")
    assert first is not None
    group = first.groups.create("billing")
    group.offsets.commit({("t", 0): CommittedOffset(7, -1, "", cluster.now_ms, None)})
    controller.stop_broker(cluster, first.id)
    second = cluster.coordinator("billing")
    assert second is not None
    assert second is not first
    assert second.groups.groups["billing"].offsets is group.offsets
    assert first.groups.groups == {}
    controller.stop_broker(cluster, second.id)
    third = cluster.coordinator("billing")
    assert third is not None
    assert third.groups.groups["billing"].offsets is group.offsets
    controller.stop_broker(cluster, third.id)
    assert cluster.coordinator("billing") is None
    controller.start_broker(cluster, third.id)
    assert cluster.coordinator("billing") is third
    assert third.groups.groups["billing"].offsets is group.offsets


def delete_records(lab: Lab, offset: int, timeout_ms: int = 1000) -> tuple[Any, list[Any]]:
    topic = DeleteRecordsTopic("t", [DeleteRecordsPartition(0, offset)])
    return lab.ask(ApiKey.DELETE_RECORDS, 2, DeleteRecordsRequest([topic], timeout_ms))


def deleted(answer: Any) -> tuple[int, int]:
    """(error code, low watermark) of a DeleteRecords answer."""
    only = answer.topics[0].partitions[0]
    return only.error_code, only.low_watermark


def test_delete_records_waits_for_the_followers_on_live_brokers() -> None:
    lab = Lab()
    lab.produce(4)
    assert deleted(delete_records(lab, 1)[0]) == (0, 1)
    lab.partition.set_follower(3, FollowerState.PAUSED)
    answer, later = delete_records(lab, 2)
    assert answer is PARKED
    lab.partition.set_follower(3, FollowerState.BEHIND)
    assert deleted(later[0]) == (0, 2)

    lab.partition.set_follower(3, FollowerState.PAUSED)
    _, later = delete_records(lab, 3)
    lab.pass_time(1000)
    assert deleted(later[0]) == (ErrorCode.REQUEST_TIMED_OUT, 2)
    _, later = delete_records(lab, 3)
    controller.stop_broker(lab.cluster, 1)
    assert deleted(later[0]) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, -1)
    controller.stop_broker(lab.cluster, 3)
    assert deleted(delete_records(lab, 4)[0]) == (0, 4)

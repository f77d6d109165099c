"""Followers, the ISR, the high watermark, elections and truncation."""

from random import Random
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from mockbroker.apis import HANDLERS
from mockbroker.cluster import controller
from mockbroker.cluster.api_error import ApiError
from mockbroker.cluster.call import PARKED, Call, Client
from mockbroker.cluster.cluster import Cluster
from mockbroker.cluster.follower import FollowerState
from mockbroker.cluster.partition import NO_LEADER
from mockbroker.conformance.batches import batch
from mockbroker.coordinators.offsets import CommittedOffset
from mockbroker.log.log import Log
from mockbroker.policies import Policies
from mockbroker.protocol import record_batch
from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.messages.fetch import FetchPartition, FetchRequest, FetchTopic, PartitionData
from mockbroker.protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from mockbroker.protocol.releases import parse

LAG_MS = 30_000


class Lab:
    """Three brokers, one partition on all of them, and clients that ask what they like."""

    def __init__(self, policies: dict[str, str] | None = None, **overrides: str) -> None:
        release = parse("4.4")
        self.cluster = Cluster(
            release, Random(0), brokers=3, policies=Policies(release, policies), now_ms=1_700_000_000_000
        )
        named = {name.replace("_", "."): value for name, value in overrides.items()}
        self.partition = self.cluster.create_topic("t", [[1, 2, 3]], named).partitions[0]

    def ask(
        self, key: ApiKey, version: int, request: Any, broker: int | None = None
    ) -> tuple[Any, list[Any]]:
        """The answer at once, and a list that a later answer is put into."""
        later: list[Any] = []
        chosen = self.cluster.brokers[broker or self.partition.leader]
        call = Call(chosen, version, Client(), "test", lambda _, answer: later.append(answer))
        return HANDLERS[key](call, request), later

    def produce(self, records: int = 1, acks: int = -1, timeout_ms: int = 60_000) -> tuple[Any, list[Any]]:
        data = TopicProduceData(name="t", partition_data=[PartitionProduceData(0, batch(records))])
        return self.ask(ApiKey.PRODUCE, 9, ProduceRequest(None, acks, timeout_ms, [data]))

    def fetch(
        self,
        offset: int,
        *,
        replica: int = -1,
        broker: int | None = None,
        epoch: int = -1,
        log_start: int = -1,
    ) -> PartitionData:
        asked = FetchPartition(0, epoch, offset, -1, log_start, 1 << 20)
        request = FetchRequest(replica_id=replica, topics=[FetchTopic(topic="t", partitions=[asked])])
        answer, _ = self.ask(ApiKey.FETCH, 12, request, broker)
        only: PartitionData = answer.responses[0].partitions[0]
        return only

    def pass_time(self, ms: int) -> None:
        self.cluster.advance(self.cluster.now_ms + ms)

    def ends(self) -> dict[int, int]:
        return {broker: log.end_offset for broker, log in self.partition.logs.items()}


def outcome(answer: Any) -> tuple[int, int]:
    """(error code, base offset) of a Produce answer."""
    only = answer.responses[0].partition_responses[0]
    return only.error_code, only.base_offset


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
    assert outcome(later[0]) == (ErrorCode.REQUEST_TIMED_OUT, -1)
    assert lab.partition.log.end_offset == 1


def test_min_insync_replicas() -> None:
    lab = Lab(min_insync_replicas="3")
    lab.partition.set_follower(2, FollowerState.PAUSED)
    _, later = lab.produce()
    lab.pass_time(2 * LAG_MS)
    assert outcome(later[0]) == (ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND, -1)
    assert outcome(lab.produce()[0]) == (ErrorCode.NOT_ENOUGH_REPLICAS, -1)
    assert outcome(lab.produce(acks=1)[0]) == (0, 1)


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
    assert second.groups.groups == {"billing": group}
    assert first.groups.groups == {}
    controller.stop_broker(cluster, second.id)
    third = cluster.coordinator("billing")
    assert third is not None
    assert third.groups.groups == {"billing": group}
    controller.stop_broker(cluster, third.id)
    assert cluster.coordinator("billing") is None
    controller.start_broker(cluster, third.id)
    assert cluster.coordinator("billing") is third


def batches_between(log: Log, start: int, end: int) -> list[bytes]:
    return [bytes(b) for base, b in zip(log.bases, log.batches, strict=True) if start <= base < end]


class Life(RuleBasedStateMachine):
    """Random produces, pauses, stops and elections: with clean elections nothing acknowledged is lost."""

    @initialize()
    def begin(self) -> None:
        self.lab = Lab()
        self.acknowledged = 0
        self.seen = 0
        self.epoch = 0

    @property
    def partition(self) -> Any:
        return self.lab.partition

    @precondition(lambda self: self.partition.leader != NO_LEADER)
    @rule(records=st.integers(1, 3))
    def produce(self, records: int) -> None:
        before = self.partition.log.end_offset
        answer, _ = self.lab.produce(records)
        if answer is not PARKED and outcome(answer)[0] == 0:
            self.acknowledged = before + records

    @rule(broker=st.integers(1, 3), state=st.sampled_from((FollowerState.PAUSED, FollowerState.BEHIND)))
    def pause(self, broker: int, state: FollowerState) -> None:
        if self.lab.cluster.brokers[broker].online:
            self.partition.set_follower(broker, state)

    @rule(broker=st.integers(1, 3))
    def stop(self, broker: int) -> None:
        if self.lab.cluster.brokers[broker].online:
            controller.stop_broker(self.lab.cluster, broker)

    @rule(broker=st.integers(1, 3))
    def start(self, broker: int) -> None:
        if not self.lab.cluster.brokers[broker].online:
            controller.start_broker(self.lab.cluster, broker)

    @rule()
    def move(self) -> None:
        others = [b for b in self.partition.isr if self.lab.cluster.brokers[b].online]
        if self.partition.leader != NO_LEADER and others:
            self.partition.lead(others[-1])

    @rule(ms=st.sampled_from((100, LAG_MS, 2 * LAG_MS)))
    def wait(self, ms: int) -> None:
        self.lab.pass_time(ms)

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        partition = self.partition
        if partition.leader != NO_LEADER:
            assert partition.log.end_offset >= self.acknowledged
            assert partition.leader in partition.isr

    @invariant()
    def replicas_agree_below_their_high_watermarks(self) -> None:
        partition = self.partition
        logs = list(partition.logs.values())
        for log in logs:
            assert log.high_watermark <= log.end_offset
            for other in logs:
                end = min(log.high_watermark, other.high_watermark)
                start = max(log.start_offset, other.start_offset)
                assert batches_between(log, start, end) == batches_between(other, start, end)

    @invariant()
    def leader_epochs_rise(self) -> None:
        assert self.partition.leader_epoch >= self.epoch
        self.epoch = self.partition.leader_epoch
        for log in self.partition.logs.values():
            assert log.epochs.epochs == sorted(set(log.epochs.epochs))
            assert log.epochs.starts == sorted(set(log.epochs.starts))


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)

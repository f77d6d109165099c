"""Random histories of a partition, under releases that have no known bug: what must hold at every step."""

import contextlib

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mockbroker.cluster.topic import TopicPartition
from mockbroker.controller import reassignments
from mockbroker.log.log import Log
from mockbroker.metadata.records import NO_LEADER
from mockbroker.protocol.api_error import ApiError
from mockbroker.replication.states import FollowerState

from ..driving.cluster import Asked
from ..driving.partition import LAG_MS, PartitionDriver, outcome
from ..properties import examples

BROKERS = st.integers(1, 4)
TARGETS = st.permutations((1, 2, 3, 4)).flatmap(lambda p: st.integers(1, 3).map(lambda size: p[:size]))
STATES = st.sampled_from((FollowerState.PAUSED, FollowerState.SLOW, FollowerState.BEHIND))
DELAY_MS = 700


def batches_between(log: Log, start: int, end: int) -> list[bytes]:
    return [bytes(b) for base, b in zip(log.bases, log.batches, strict=True) if start <= base < end]


class Life(RuleBasedStateMachine):
    """Produces with acks=-1, pauses, slow followers, stops, cuts, late news, elections, deletions, time."""

    kafka = "4.4"

    @initialize()
    def begin(self) -> None:
        least = "300" if self.kafka < "4" else "1048576"
        self.driver = PartitionDriver(
            kafka=self.kafka, brokers=4, replicas=[1, 2, 3], retention_bytes="900", segment_bytes=least
        )
        self.waiting: list[tuple[int, bytes, Asked]] = []
        self.acknowledged: dict[int, bytes] = {}
        self.seen = 0
        self.epoch = 0
        self.cut: set[int] = set()

    @property
    def partition(self) -> TopicPartition:
        return self.driver.partition

    def online(self, broker: int) -> bool:
        return self.driver.cluster.brokers[broker].online

    @precondition(lambda self: self.partition.leader != NO_LEADER)
    @rule(records=st.integers(1, 3))
    def produce(self, records: int) -> None:
        base = self.partition.log.end_offset
        asked = self.driver.produce(records)
        if self.partition.log.end_offset > base:
            self.waiting.append((base, bytes(self.partition.log.batches[-1]), asked))

    @rule(broker=BROKERS, state=STATES)
    def follow(self, broker: int, state: FollowerState) -> None:
        if self.online(broker):
            delay_ms = DELAY_MS if state is FollowerState.SLOW else 0
            self.partition.set_follower(broker, state, delay_ms=delay_ms)

    @rule(broker=BROKERS)
    def stop(self, broker: int) -> None:
        if self.online(broker) and broker not in self.cut:
            self.driver.stop_broker(broker)

    @rule(broker=BROKERS)
    def kill(self, broker: int) -> None:
        if broker not in self.cut:
            self.driver.kill_broker(broker)

    @rule(broker=BROKERS)
    def start(self, broker: int) -> None:
        if not self.online(broker):
            self.driver.start_broker(broker)

    @rule(broker=BROKERS, others=st.sets(BROKERS), from_controller=st.booleans())
    def cut_off(self, broker: int, others: set[int], from_controller: bool) -> None:
        if self.online(broker):
            self.cut.add(broker)
            self.driver.cluster.network.cut_off(broker, others, from_controller=from_controller)

    @precondition(lambda self: self.cut)
    @rule()
    def rejoin(self) -> None:
        self.driver.cluster.network.rejoin(self.cut.pop())

    @rule(broker=BROKERS, delay_ms=st.sampled_from((0, 300, 5_000)))
    def slow_metadata(self, broker: int, delay_ms: int) -> None:
        self.driver.cluster.slow_metadata(broker, delay_ms)

    @property
    def leader_knows(self) -> bool:
        metadata = self.driver.cluster.controller.metadata
        return metadata.leader_knows(self.partition.topic_id, self.partition.index)

    @rule()
    def move(self) -> None:
        others = [b for b in self.partition.isr if self.driver.cluster.controller.may_lead(b)]
        if self.partition.leader != NO_LEADER and others:
            self.partition.lead(others[-1])

    @rule(to=TARGETS)
    def reassign(self, to: list[int]) -> None:
        """Not to brokers in sync that all have just died: the partition has no leader then, and who led it
        last leads again when it gets an empty replica (KIP-966, `canElectLastKnownLeader`). The controller
        fails where a replica that was removed is eligible still."""
        in_sync = [broker for broker in to if broker in self.partition.isr]
        if not in_sync or any(map(self.online, in_sync)):
            with contextlib.suppress(ApiError):
                reassignments.begin(self.partition, to)

    @precondition(lambda self: reassignments.under_way(self.partition))
    @rule()
    def cancel(self) -> None:
        with contextlib.suppress(ApiError):
            reassignments.cancel(self.partition)

    @precondition(lambda self: self.partition.leader != NO_LEADER)
    @precondition(lambda self: self.leader_knows)
    @rule(part=st.floats(0, 1))
    def delete(self, part: float) -> None:
        """Whole batches: a follower with a tail of its own may be stuck inside one, in 4.4 too."""
        log = self.partition.log
        upto = log.start_offset + int(part * (log.high_watermark - log.start_offset))
        self.driver.delete(min(log.batch_base(upto), log.high_watermark))

    @rule(ms=st.sampled_from((100, 5_000, LAG_MS, 2 * LAG_MS)))
    def wait(self, ms: int) -> None:
        self.driver.advance(ms)

    @invariant()
    def nothing_acknowledged_is_lost(self) -> None:
        done = [each for each in self.waiting if not each[2].parked]
        self.waiting = [each for each in self.waiting if each[2].parked]
        self.acknowledged.update((base, batch) for base, batch, asked in done if outcome(asked)[0] == 0)
        if self.partition.leader == NO_LEADER:
            return
        log = self.partition.log
        assert self.partition.leader in self.partition.isr
        for base, batch in self.acknowledged.items():
            if base >= log.start_offset:
                assert batches_between(log, base, base + 1) == [batch]

    @invariant()
    def replicas_are_what_the_reassignment_makes_them(self) -> None:
        partition = self.partition
        replicas = set(partition.replicas)
        heard = {
            b
            for b in self.driver.cluster.brokers
            if self.online(b) and b not in self.driver.cluster.controller.metadata.behind
        }
        assert replicas & heard == partition.logs.keys() & heard
        assert replicas >= {*partition.logs, *partition.removing_replicas}
        # With ZooKeeper the last in sync stays so though it is taken away (`ReplicaStateMachine.scala`).
        last_stays = self.kafka == "2.3" and partition.leader == NO_LEADER and len(partition.isr) == 1
        assert replicas >= set(partition.isr) or last_stays
        assert replicas >= partition.followers.keys()
        assert partition.leader == NO_LEADER or partition.leader in replicas

    @invariant()
    def replicas_agree_below_their_high_watermarks(self) -> None:
        logs = list(self.partition.logs.values())
        for log in logs:
            assert log.start_offset <= log.high_watermark <= log.end_offset
            for other in logs:
                end = min(log.high_watermark, other.high_watermark)
                start = max(log.start_offset, other.start_offset)
                assert batches_between(log, start, end) == batches_between(other, start, end)

    @invariant()
    def the_high_watermark_never_goes_back(self) -> None:
        """But where a leader has not heard yet how far its followers are (KIP-207)."""
        if (leader := self.partition.led) is not None:
            high_watermark = leader.log.high_watermark
            assert high_watermark >= self.seen or high_watermark < leader.epoch_start_offset
            self.seen = max(self.seen, high_watermark)

    @invariant()
    def leader_epochs_rise(self) -> None:
        assert self.partition.leader_epoch >= self.epoch
        self.epoch = self.partition.leader_epoch
        for log in self.partition.logs.values():
            assert log.epochs.epochs == sorted(set(log.epochs.epochs))
            assert log.epochs.starts == sorted(set(log.epochs.starts))

    @invariant()
    def fetchers_live(self) -> None:
        assert all(f.state is not FollowerState.FAILED for f in self.partition.followers.values())


@pytest.mark.parametrize("kafka", ["2.3", "3.9", "4.4"])
def test_histories(kafka: str) -> None:
    """2.3 truncates by epoch, the others by diverging epoch."""
    machine = type(f"Life{kafka}", (Life,), {"kafka": kafka})
    run_state_machine_as_test(machine, settings=settings(max_examples=examples(300), stateful_step_count=40))

"""What a follower does: truncates its log for a new leader, fetches, appends, and fails
(`AbstractFetcherThread.scala`, `ReplicaFetcherThread.scala`)."""

from ..policies.epochs.empty_epochs import empty_epochs
from ..policies.followers.fetcher_failure import fetcher_failure
from ..policies.followers.follower_ahead import follower_ahead
from ..policies.followers.follower_log_start_offset import follower_log_start_offset
from ..policies.followers.follower_truncation import follower_truncation
from ..policies.followers.missed_epoch import missed_epoch
from ..policies.followers.unaligned_log_start import unaligned_log_start
from ..protocol import record_batch
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import NO_DIVERGENCE, FetchPartition, PartitionData
from .peers import Following, LeaderEndPoint
from .states import TRANSITIONS, FollowerEvent, FollowerState

_FETCHING = (FollowerState.BEHIND, FollowerState.SLOW)
_TOLD = (FollowerEvent.RESUME, FollowerEvent.SLOW_DOWN, FollowerEvent.PAUSE, FollowerEvent.REPLACE)
_UNHEARD = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.UNKNOWN_LEADER_EPOCH,
)
"""Errors of a leader that has not learned what the follower has, or the other way round."""


class Fetcher:
    """Fetches one partition for a follower. `source` is the leader while the follower keeps up; `failure` is
    why it died.

    `cut` is whether it has truncated its log for the present leader, if it does so before it fetches. `turn`
    changes whenever its state does: answers to earlier requests are then ignored.
    """

    __slots__ = (
        "_known_epoch",
        "_known_leader",
        "broker",
        "cut",
        "delay_ms",
        "failure",
        "log",
        "partition",
        "source",
        "state",
        "turn",
    )

    def __init__(self, partition: Following) -> None:
        self.partition = partition
        self.broker = partition.broker
        self.log = partition.log
        self.state = FollowerState.OFFLINE
        self.source: LeaderEndPoint | None = None
        self.cut = False
        self.delay_ms = 0
        self.turn = 0
        self.failure = ""
        self._known_leader = partition.leader
        self._known_epoch = partition.leader_epoch

    # -- what happens to it

    def on(self, event: FollowerEvent, delay_ms: int = 0) -> None:
        """Changes to the state after `event`, in which each fetch takes `delay_ms`; or does nothing."""
        state = TRANSITIONS[self.state].get(event)
        if state is None or (state is self.state and delay_ms == self.delay_ms):
            return
        if self.state is FollowerState.CUT_OFF and event in _TOLD and not self._is_followed():
            return
        self._enter(state, delay_ms)

    def follow(self) -> None:
        """The broker has learned of the next leader epoch."""
        partition, same = self.partition, self._known_leader == self.partition.leader
        one_on = partition.leader_epoch <= self._known_epoch + 1
        self.cut = self.cut and same and (one_on or self.partition.policies[missed_epoch] == "goes-on")
        self._known_leader, self._known_epoch = partition.leader, partition.leader_epoch
        state = TRANSITIONS[self.state].get(FollowerEvent.FOLLOW)
        if state is not None:
            self._enter(state, self.delay_ms)

    def retry(self) -> None:
        """The leader may be back, or may have learned that it leads."""
        if self.state is FollowerState.CUT_OFF:
            self.on(FollowerEvent.RESUME)
        elif self.state in _FETCHING:
            self._enter(self.state, self.delay_ms)

    def end(self) -> None:
        """The broker leads now, or no longer has a replica."""
        self._leave_source()
        self.turn += 1

    def fail(self, reason: str) -> None:
        """It dies, alone or with everything that its thread fetches from this leader (KIP-461)."""
        partition, host = self.partition, self.partition.host
        self.die(reason)
        if self.partition.policies[fetcher_failure] == "partition":
            return
        thread = f"its fetcher died with {partition.topic.name}-{partition.index}: {reason}"
        host.dead_fetchers[partition.leader] = thread
        for other in host:
            if other.fetcher is not None and other.fetcher is not self and other.leader == partition.leader:
                other.fetcher.die(thread)

    def die(self, reason: str) -> None:
        """It dies alone."""
        if FollowerEvent.FAIL in TRANSITIONS[self.state]:
            self.failure = reason
            self.on(FollowerEvent.FAIL)

    def _enter(self, state: FollowerState, delay_ms: int) -> None:
        self._leave_source()
        self.state, self.delay_ms = state, delay_ms
        self.turn += 1
        if state is FollowerState.OFFLINE:
            self.cut = False
        if state in _FETCHING:
            self._start()

    def _leave_source(self) -> None:
        if self.source is not None:
            self.source.leave_behind(self.broker)
            self.source = None

    # -- before the first fetch

    def _is_followed(self) -> bool:
        """Whether the leader can be reached, if there is one, and each has learned of the other."""
        partition, peers = self.partition, self.partition.host.peers
        if not peers.reaches(partition.leader):
            return False
        leader = peers.leader_of(partition)
        return leader is None or self._is_known_to(leader)

    def _is_known_to(self, leader: LeaderEndPoint) -> bool:
        """Whether each has learned of the other."""
        return not leader.check_leader(self.partition.leader_epoch) and leader.knows(self.broker)

    def _start(self) -> None:
        """Catches up at once, or step by step if it is slow. If the leader does not answer, it tries again
        until there is a leader."""
        partition, peers, turn = self.partition, self.partition.host.peers, self.turn
        leader = peers.leader_of(partition)
        if self.turn != turn:
            # The leader has only just begun to lead, and told its followers so.
            return
        if leader is None:
            if not peers.reaches(partition.leader):
                self.on(FollowerEvent.LOSE)
            return
        dead = partition.host.dead_fetchers.get(partition.leader)
        if not self._is_known_to(leader):
            self.on(FollowerEvent.LOSE)
        elif dead is not None:
            self.die(dead)
        elif self.state is FollowerState.BEHIND and not leader.log.end_offset and not self.log.end_offset:
            # As in every new log: there is nothing to truncate or to fetch.
            self.cut = True
            leader.follower_fetched(self.broker, 0, 0)
            self._join(leader)
        elif self._cut(leader):
            if self.state is FollowerState.SLOW:
                self._fetch_slowly(leader)
            else:
                turn = self.turn
                while self.state is FollowerState.BEHIND and self.turn == turn:
                    self._fetch(leader)

    def _cut(self, leader: LeaderEndPoint) -> bool:
        """Truncates its log for a new leader; False if that does not come to an end."""
        log, policies = self.log, self.partition.policies
        while not self.cut:
            offset, self.cut = policies[follower_truncation](log, leader.end_offset_for_epoch)
            before = log.end_offset, log.latest_epoch
            if offset < log.end_offset or not self.cut:
                log.truncate(offset, keep_empty_epochs=policies[empty_epochs] == "kept")
            if not self.cut and (log.end_offset, log.latest_epoch) == before:
                self.die(f"asks for epoch {log.latest_epoch} again and again (KAFKA-10706)")
                return False
        return True

    # -- fetching

    def _ask(self, leader: LeaderEndPoint) -> PartitionData:
        """The leader's answer to the next fetch, which the leader has then learned of."""
        partition, log = self.partition, self.log
        by_epoch = self.partition.policies.named(follower_truncation) == "diverging-epoch"
        asked = FetchPartition(
            partition.index,
            partition.leader_epoch,
            log.end_offset,
            log.latest_epoch if by_epoch else -1,
            log.start_offset,
            partition.environment.configs.broker_int("replica.fetch.max.bytes"),
        )
        return leader.fetch(asked, self.broker)

    def _fetch(self, leader: LeaderEndPoint) -> None:
        end_offset, turn = leader.log.end_offset, self.turn
        result = self._ask(leader)
        if self.turn != turn or self._take(leader, result) or self.state is not FollowerState.BEHIND:
            return
        if self.log.end_offset == leader.log.end_offset:
            self._join(leader)
        elif leader.log.end_offset == end_offset:
            # Otherwise the leader advanced when it learned of the fetch: there is more to fetch.
            self.die(f"gets no further: {ErrorCode(result.error_code).name}")

    def _join(self, leader: LeaderEndPoint) -> None:
        self.state = TRANSITIONS[self.state][FollowerEvent.CATCH_UP]
        self.source = leader
        leader.take_along(self.partition)

    def _fetch_slowly(self, leader: LeaderEndPoint) -> None:
        """Fetches one after the other, each answered `delay_ms` after it was read; waits while there is
        nothing new."""
        turn = self.turn
        result = self._ask(leader)

        def current() -> bool:
            return self.turn == turn and self.partition.host.peers.leader_of(self.partition) is leader

        def arrive() -> None:
            if current():
                leader.refresh(result)
                self._take(leader, result)
            if current():
                self._fetch_slowly(leader)

        def more(size: int) -> None:
            leader.waiting_followers.discard(more)
            if current():
                self._fetch_slowly(leader)

        if self.turn != turn:
            return
        if self._is_news(result):
            self.partition.environment.wait(self.delay_ms, arrive)
        else:
            leader.waiting_followers.add(more)

    def _is_news(self, result: PartitionData) -> bool:
        log = self.log
        if result.error_code or result.records or result.diverging_epoch is not NO_DIVERGENCE:
            return True
        return (result.high_watermark, result.log_start_offset) != (log.high_watermark, log.start_offset)

    # -- taking in what was fetched

    def _take(self, leader: LeaderEndPoint, result: PartitionData) -> bool:
        """Handles an answer as a follower does; False if there was nothing new, or it failed."""
        partition, log = self.partition, self.log
        if result.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            return self._out_of_range(leader)
        if result.error_code in _UNHEARD:
            self.on(FollowerEvent.LOSE)
            return False
        if result.error_code:
            return False
        if result.diverging_epoch is not NO_DIVERGENCE:
            epoch, end_offset = result.diverging_epoch.epoch, result.diverging_epoch.end_offset
            own_epoch, own_end = log.epoch_end(epoch)
            was = log.end_offset, log.latest_epoch
            log.truncate(min(end_offset, own_end) if own_epoch >= 0 else end_offset)
            if (log.end_offset, log.latest_epoch) == was:
                self.die(f"diverges at epoch {epoch}, offset {end_offset}, and has nothing to cut there")
            return True
        before = log.end_offset, log.high_watermark, log.start_offset
        fetched = [batch for batch in result.records or () if record_batch.is_whole(batch)]
        if fetched and not self._append(fetched):
            return False
        log.high_watermark = min(result.high_watermark, log.end_offset)
        log.producers.transactions.decided(log.high_watermark)
        leaders_start = result.log_start_offset
        if leaders_start > log.start_offset:
            start_offset = self.partition.policies[follower_log_start_offset](
                leaders_start, log.high_watermark
            )
            if start_offset is None:
                self.fail(
                    f"cannot increment the log start offset to {leaders_start}: it is larger than the high "
                    f"watermark {log.high_watermark}"
                )
                return False
            log.advance_start(start_offset)
            partition.host.cleanup.log_start_moved(partition)
        if log.high_watermark > before[1] or log.start_offset > before[2]:
            partition.changed()
        return (log.end_offset, log.high_watermark, log.start_offset) != before

    def _append(self, fetched: "list[bytes | record_batch.Batch]") -> bool:
        """False if it failed."""
        log, base_offset = self.log, record_batch.header_of(fetched[0]).base_offset
        if base_offset < log.end_offset:
            if not log.straddled_by(fetched[0]) or self.partition.policies[unaligned_log_start] == "refused":
                self.fail(f"got a batch from {base_offset} on, below its log end offset {log.end_offset}")
                return False
            log.begin_at(base_offset)
        self.partition.host.cleanup.appending([self.partition])
        log.append_fetched(fetched, self.partition.environment.now_ms)
        return True

    def _out_of_range(self, leader: LeaderEndPoint) -> bool:
        """Beyond the leader's log end offset, the follower truncates its log there, or its broker exits;
        below the log start offset, it starts again there."""
        partition, log, there = self.partition, self.log, leader.log
        if log.end_offset > there.end_offset:
            halts = self.partition.policies[follower_ahead] == "halts"
            if halts and not partition.settings.unclean_leader_election:
                self.die(f"log end offset {log.end_offset} is beyond the leader's {there.end_offset}")
                partition.host.peers.halt()
                return False
            log.truncate(there.end_offset)
        elif log.end_offset < there.start_offset:
            log.begin_at(there.start_offset)
        else:
            return False
        return True

"""What a share partition keeps as its records change is what a look at every record says."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mockbroker.share_partitions.acknowledgement import Acknowledgement, AcknowledgementError, Change
from mockbroker.share_partitions.flight import ShareLimits
from mockbroker.share_partitions.in_flight import StateBatch
from mockbroker.share_partitions.share_partition import SharePartition
from tests.properties import examples

members = st.sampled_from("abc")


class TransitionsMachine(RuleBasedStateMachine):
    """Whatever members, the time, the log and the share coordinator do, in whatever order."""

    def __init__(self) -> None:
        super().__init__()
        self.limits = ShareLimits(delivery_count=4, lock_ms=50, records=30)
        self.partition = SharePartition(0, self.limits)
        self.now = 0
        self.log: list[tuple[int, int]] = []
        self.pending: list[Change] = []

    @property
    def end(self) -> int:
        return self.log[-1][1] + 1 if self.log else 0

    @rule(size=st.integers(1, 8))
    def append(self, size: int) -> None:
        self.log.append((self.end, self.end + size - 1))

    @precondition(lambda self: self.log)
    @rule(
        member=members,
        most=st.integers(1, 12),
        batches=st.integers(1, 6),
        batch_size=st.integers(1, 8),
        gone=st.lists(st.integers(0, 5), max_size=2),
        modes=st.fixed_dictionaries({name: st.booleans() for name in ("limited", "throttled", "joined")}),
    )
    def fetch(
        self,
        member: str,
        most: int,
        batches: int,
        batch_size: int,
        gone: list[int],
        modes: dict[str, bool],
    ) -> None:
        begin = self.partition.next_fetch_offset()
        read = [each for each in self.log if each[1] >= begin][:batches]
        found = self.partition.acquire(
            member, read, begin, max_records=most, batch_size=batch_size, now=self.now, **modes
        )
        aborted = sorted({read[at] for at in gone if at < len(read)})
        self.partition.withdraw(found, aborted)

    @precondition(lambda self: self.partition.batches)
    @rule(member=members, first=st.integers(0, 30), types=st.lists(st.integers(0, 4), min_size=1, max_size=6))
    def acknowledge(self, member: str, first: int, types: list[int]) -> None:
        low = self.partition.start_offset + first
        try:
            said = Acknowledgement(low, low + len(types) - 1, tuple(types))
            self.pending.append(self.partition.acknowledge(member, [said], self.now))
        except AcknowledgementError:
            pass

    @precondition(lambda self: self.partition.batches)
    @rule(which=st.integers(0, 9), kind=st.integers(0, 4))
    def acknowledge_as_owner(self, which: int, kind: int) -> None:
        held = [part for part in self.partition.parts() if part[2].member]
        if held:
            first, last, each = held[which % len(held)]
            said = Acknowledgement(first, last, (kind,))
            self.pending.append(self.partition.acknowledge(each.member, [said], self.now))

    @rule(member=members, takes_back=st.booleans(), stops=st.booleans())
    def end_session(self, member: str, takes_back: bool, stops: bool) -> None:
        self.pending.append(self.partition.release_all(member, takes_back=takes_back, stops=stops))

    @precondition(lambda self: self.pending)
    @rule(which=st.integers(0, 9), fails=st.booleans(), moves_back=st.booleans())
    def settle(self, which: int, fails: bool, moves_back: bool) -> None:
        change = self.pending.pop(which % len(self.pending))
        if fails:
            self.partition.undo(change, self.now)
        else:
            self.partition.commit(change, moves_back=moves_back)

    @rule(elapsed=st.integers(1, 60))
    def pass_time(self, elapsed: int) -> None:
        self.now += elapsed
        self.partition.expire(self.now)
        self.partition.advance()

    @rule(sets_aside=st.booleans())
    def configure(self, sets_aside: bool) -> None:
        self.partition.limits = ShareLimits(delivery_count=4, lock_ms=50, records=30, sets_aside=sets_aside)

    @rule()
    def bury(self) -> None:
        self.partition.archive(self.partition.set_aside())
        self.partition.advance()

    @precondition(lambda self: self.log)
    @rule(by=st.integers(1, 12))
    def delete_records(self, by: int) -> None:
        self.partition.move_log_start(min(self.end, self.partition.start_offset + by))

    @rule(hidden=st.sets(st.integers(0, 20), max_size=4))
    def move_leader(self, hidden: set[int]) -> None:
        """Of some of what is in flight the next leader knows nothing."""
        states = [
            StateBatch(each.first, each.last, each.state, each.delivery_count)
            for at, each in enumerate(self.partition.states())
            if at not in hidden and each.state.value != 1
        ]
        self.partition = SharePartition.restore(self.partition.start_offset, states, self.limits)
        self.pending.clear()

    @invariant()
    def what_is_done_is_counted(self) -> None:
        states = self.partition.states()
        assert self.partition.complete_count == sum(
            each.last - each.first + 1 for each in states if each.state.final
        )

    @invariant()
    def the_first_free_record_is_found(self) -> None:
        parts = [part for batch in self.partition.batches for part in batch.parts()]
        assert self.partition.first_free() == next((first for first, _, each in parts if each.free), None)

    @invariant()
    def no_batch_has_been_delivered_more_often_than_it_says(self) -> None:
        for batch in self.partition.batches:
            assert batch.most >= max(each.count for _, _, each in batch.parts())


TestTransitions = TransitionsMachine.TestCase
TestTransitions.settings = settings(max_examples=examples(150), stateful_step_count=50, deadline=None)

"""What holds of a share partition whatever its members, the time and the share coordinator do."""

from dataclasses import dataclass

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mockbroker.share_partitions.acknowledgement import Acknowledgement, AcknowledgementError, Change
from mockbroker.share_partitions.in_flight import StateBatch
from mockbroker.share_partitions.share_partition import ShareLimits, SharePartition
from mockbroker.share_partitions.states import RecordState
from tests.properties import examples

LIMITS = ShareLimits(delivery_count=3, lock_ms=100, records=30)
members = st.sampled_from("abc")


@dataclass
class Record:
    """What the test knows of a record: who has it until when, how often it was delivered, whether it is
    done."""

    delivered: int = 0
    member: str = ""
    until: int = 0
    done: bool = False


class SharePartitionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.partition = SharePartition(0, LIMITS)
        self.now = 0
        self.log: list[tuple[int, int]] = []
        self.records: list[Record] = []
        self.durable: dict[int, StateBatch] = {}
        self.durable_start = 0
        self.last_start = 0

    def write(self, batches: list[StateBatch]) -> None:
        """As the share coordinator does: with the start offset as it is now."""
        self.durable_start = self.partition.start_offset
        for batch in batches:
            for offset in range(batch.first, batch.last + 1):
                self.durable[offset] = StateBatch(offset, offset, batch.state, batch.delivery_count)
                self.records[offset].member = ""
                self.records[offset].done = batch.state.final

    def settle(self, change: Change, *, fails: bool) -> None:
        if fails:
            self.partition.undo(change, self.now)
        else:
            self.write(change.batches)
            self.partition.commit(change)

    @rule(size=st.integers(1, 6))
    def append(self, size: int) -> None:
        self.log.append((len(self.records), len(self.records) + size - 1))
        self.records += [Record() for _ in range(size)]

    @rule(member=members, most=st.integers(1, 12), batches=st.integers(1, 4), batch_size=st.integers(1, 8))
    def fetch(self, member: str, most: int, batches: int, batch_size: int) -> None:
        begin = self.partition.next_fetch_offset()
        read = [each for each in self.log if each[1] >= begin][:batches]
        for each in self.partition.acquire(
            member, read, begin, max_records=most, batch_size=batch_size, now=self.now
        ):
            for offset in range(each.first, each.last + 1):
                record = self.records[offset]
                assert not record.done, "nothing is delivered once it is done"
                assert not record.member, "never to two within a lock"
                record.delivered += 1
                assert record.delivered == each.delivery_count <= LIMITS.delivery_count
                record.member, record.until = member, self.now + LIMITS.lock_ms

    @rule(
        member=members,
        first=st.integers(0, 25),
        types=st.lists(st.integers(0, 4), min_size=1, max_size=6),
        fails=st.booleans(),
    )
    def acknowledge(self, member: str, first: int, types: list[int], fails: bool) -> None:
        first += self.last_start
        last = first + len(types) - 1
        try:
            change = self.partition.acknowledge(
                member, [Acknowledgement(first, last, tuple(types))], self.now
            )
        except AcknowledgementError:
            # Those that were renewed before the error stay so.
            change = Change()
        else:
            asked = range(max(first, self.last_start), last + 1)
            assert all(self.records[offset].member == member for offset in asked)
        self.renewed(member, first, types)
        self.settle(change, fails=fails)

    def renewed(self, member: str, first: int, types: list[int]) -> None:
        for offset, kind in enumerate(types, first):
            if offset < self.last_start:
                continue
            if offset >= len(self.records) or self.records[offset].member != member:
                break
            if kind == 4 and self.is_acquired(offset):
                self.records[offset].until = self.now + LIMITS.lock_ms

    def is_acquired(self, offset: int) -> bool:
        return any(
            each.first <= offset <= each.last and each.state is RecordState.ACQUIRED
            for each in self.partition.states()
        )

    @rule(member=members, fails=st.booleans())
    def end_session(self, member: str, fails: bool) -> None:
        change = self.partition.release_all(member)
        released = {offset for each in change.batches for offset in range(each.first, each.last + 1)}
        assert released == {at for at, each in enumerate(self.records) if each.member == member}
        self.settle(change, fails=fails)

    @rule(elapsed=st.integers(1, 120))
    def pass_time(self, elapsed: int) -> None:
        self.now += elapsed
        self.write(self.partition.expire(self.now))
        self.partition.advance()
        expiry = self.partition.next_expiry()
        assert expiry is None or expiry > self.now

    @rule()
    def move_leader(self) -> None:
        """The next leader knows what was written, and nothing of what is acquired."""
        states = [self.durable[at] for at in sorted(self.durable) if at >= self.durable_start]
        self.partition = SharePartition.restore(self.durable_start, states, LIMITS)
        self.last_start = self.partition.start_offset
        for offset, record in enumerate(self.records):
            known = self.durable.get(offset)
            record.member = ""
            record.delivered = known.delivery_count if known else 0

    @invariant()
    def the_start_offset_is_right(self) -> None:
        start = self.partition.start_offset
        assert all(each.done for each in self.records[:start]), "never past what is unacknowledged"
        assert start >= self.last_start
        self.last_start = start

    @invariant()
    def locks_are_right(self) -> None:
        held = {at for at, each in enumerate(self.records) if each.member}
        assert held == {
            offset
            for each in self.partition.states()
            if each.state is RecordState.ACQUIRED
            for offset in range(each.first, each.last + 1)
        }
        assert all(self.records[offset].until > self.now for offset in held)


TestSharePartition = SharePartitionMachine.TestCase
TestSharePartition.settings = settings(max_examples=examples(100), stateful_step_count=40, deadline=None)

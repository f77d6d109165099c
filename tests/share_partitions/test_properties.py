"""What holds of a share partition whatever its members, the time and the share coordinator do."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mockbroker.share_partitions.acknowledgement import Acknowledgement, AcknowledgementError, Change
from mockbroker.share_partitions.acquiring import Acquired
from mockbroker.share_partitions.flight import ShareLimits
from mockbroker.share_partitions.in_flight import StateBatch
from mockbroker.share_partitions.share_partition import SharePartition
from mockbroker.share_partitions.states import RecordState
from tests.properties import examples

LIMITS = ShareLimits(delivery_count=4, lock_ms=50, records=30)
RENEW = 4
members = st.sampled_from("abc")


@dataclass
class Record:
    """What the test knows of a record; `writing`: what its member said of it is being written."""

    delivered: int = 0
    member: str = ""
    until: int = 0
    writing: bool = False
    done: bool = False

    def let_go(self, *, done: bool) -> None:
        self.member, self.writing, self.done = "", False, done


class SharePartitionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.partition = SharePartition(0, LIMITS)
        self.now = 0
        self.log: list[tuple[int, int]] = []
        self.records: list[Record] = []
        self.pending: list[Change] = []
        self.durable: dict[int, StateBatch] = {}
        self.durable_start = 0
        self.last_start = 0

    def write(self, batches: list[StateBatch]) -> None:
        """As the share coordinator does: with the start offset as it is now."""
        self.durable_start = self.partition.start_offset
        for batch in batches:
            for offset in offsets([batch]):
                self.durable[offset] = replace(batch, first=offset, last=offset)
                self.records[offset].let_go(done=batch.state.final)

    def begin(self, change: Change) -> None:
        for offset in offsets(change.batches):
            assert not self.records[offset].writing
            self.records[offset].writing = True
        self.pending.append(change)

    @rule(size=st.integers(1, 6))
    def append(self, size: int) -> None:
        self.log.append((len(self.records), len(self.records) + size - 1))
        self.records += [Record() for _ in range(size)]

    @rule(
        member=members,
        most=st.integers(1, 12),
        batches=st.integers(1, 4),
        batch_size=st.integers(1, 8),
        modes=st.fixed_dictionaries({name: st.booleans() for name in ("limited", "throttled", "joined")}),
    )
    def fetch(
        self, member: str, most: int, batches: int, batch_size: int, modes: dict[str, bool] | None = None
    ) -> None:
        begin = self.partition.next_fetch_offset()
        read = [each for each in self.log if each[1] >= begin][:batches]
        found = self.partition.acquire(
            member, read, begin, max_records=most, batch_size=batch_size, now=self.now, **modes or {}
        )
        if modes and modes["limited"]:
            assert len(offsets(found)) <= most
        for each in found:
            for offset in offsets([each]):
                record = self.records[offset]
                assert not record.done, "nothing is delivered once it is done"
                assert not record.member, "never to two within a lock, nor while a change is written"
                record.delivered += 1
                assert record.delivered == each.delivery_count <= LIMITS.delivery_count
                record.member, record.until = member, self.now + LIMITS.lock_ms

    @precondition(lambda self: self.held())
    @rule(
        data=st.data(),
        types=st.lists(st.integers(0, 4), min_size=1, max_size=6),
        by_owner=st.booleans(),
        alike=st.booleans(),
    )
    def acknowledge(self, data: st.DataObject, types: list[int], by_owner: bool, alike: bool) -> None:
        held = self.held()
        first = data.draw(st.sampled_from(sorted(held)))
        member = self.records[first].member
        if by_owner:
            others = (n for n in range(1, len(types)) if first + n not in held)
            types = types[: next(others, len(types))]
        else:
            member = data.draw(members)
        if alike:
            types = types[:1] * len(types)
        known = set(offsets(self.partition.states()))
        said = tuple(types[:1] if alike else types)
        asked = Acknowledgement(first, first + len(types) - 1, said)
        refused = None
        try:
            change = self.partition.acknowledge(member, [asked], self.now)
        except AcknowledgementError as error:
            refused = error
        else:
            assert {self.records[offset].member for offset in offsets(change.batches)} <= {member}
            self.begin(change)
        if refused is None or refused.code == "INVALID_RECORD_STATE":
            self.renew(
                member, [pair for pair in enumerate(types, first) if pair[0] in known], change=refused is None
            )

    def renew(self, member: str, said: list[tuple[int, int]], *, change: bool) -> None:
        """Those before an error are renewed, too."""
        for offset, kind in said:
            record = self.records[offset]
            if record.member != member or (record.writing and not change):
                return
            if kind == RENEW:
                record.until = self.now + LIMITS.lock_ms

    @rule(member=members, takes_back=st.booleans())
    def end_session(self, member: str, takes_back: bool) -> None:
        change = self.partition.release_all(member, takes_back=takes_back)
        held = self.held()
        for offset in offsets(change.batches) if takes_back else ():
            self.records[offset].delivered -= 1
        assert set(offsets(change.batches)) == {at for at in held if self.records[at].member == member}
        self.begin(change)

    @precondition(lambda self: self.pending)
    @rule(which=st.integers(0, 9), fails=st.booleans())
    def settle(self, which: int, fails: bool) -> None:
        change = self.pending.pop(which % len(self.pending))
        if not fails:
            self.write(change.batches)
            self.partition.commit(change)
            return
        self.partition.undo(change, self.now)
        for offset in offsets(change.batches):
            record = self.records[offset]
            record.writing = False
            if record.until <= self.now:
                record.let_go(done=record.delivered >= LIMITS.delivery_count)

    @rule(elapsed=st.integers(1, 60))
    def pass_time(self, elapsed: int) -> None:
        self.now += elapsed
        ended = {at for at in self.held() if self.records[at].until <= self.now}
        written = self.partition.expire(self.now)
        assert set(offsets(written)) == ended
        self.write(written)
        self.partition.advance()
        expiry = self.partition.next_expiry()
        assert expiry is None or expiry > self.now

    @rule()
    def move_leader(self) -> None:
        """The next leader knows what was written, and nothing of what is acquired."""
        states = [self.durable[at] for at in sorted(self.durable) if at >= self.durable_start]
        self.partition = SharePartition.restore(self.durable_start, states, LIMITS)
        self.last_start = self.partition.start_offset
        self.pending.clear()
        for offset, record in enumerate(self.records):
            known = self.durable.get(offset)
            record.let_go(done=offset < self.durable_start or (known is not None and known.state.final))
            record.delivered = known.delivery_count if known else 0

    def held(self) -> set[int]:
        return {at for at, each in enumerate(self.records) if each.member and not each.writing}

    @invariant()
    def the_start_offset_is_right(self) -> None:
        start = self.partition.start_offset
        assert all(each.done for each in self.records[:start]), "never past what is unacknowledged"
        assert start >= self.last_start
        self.last_start = start

    @invariant()
    def what_is_acquired_is_right(self) -> None:
        acquired = [each for each in self.partition.states() if each.state is RecordState.ACQUIRED]
        assert set(offsets(acquired)) == self.held()

    def teardown(self) -> None:
        """Every record is delivered until it is done."""
        while self.pending:
            self.settle(0, fails=False)
        for _ in range(2 * len(self.records) + 2):
            self.pass_time(LIMITS.lock_ms)
            self.fetch("a", 30, len(self.log), 8)
            for offset in sorted(self.held()):
                self.begin(self.partition.acknowledge("a", [Acknowledgement(offset, offset, (1,))], self.now))
                self.settle(0, fails=False)
            if all(each.done for each in self.records):
                break
        assert self.partition.start_offset == len(self.records)


def offsets(batches: Iterable[StateBatch | Acquired]) -> list[int]:
    return [offset for each in batches for offset in range(each.first, each.last + 1)]


TestSharePartition = SharePartitionMachine.TestCase
TestSharePartition.settings = settings(max_examples=examples(150), stateful_step_count=40, deadline=None)

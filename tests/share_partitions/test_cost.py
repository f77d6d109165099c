"""What a member asks of a share partition costs the same however much is in flight."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.counting import Steps
from mockbroker.portions import at_once
from mockbroker.protocol.share_state_log import StateBatch
from mockbroker.share_partitions import share_partition
from mockbroker.share_partitions.acknowledgement import Acknowledgement
from mockbroker.share_partitions.combining import adding
from mockbroker.share_partitions.flight import ShareLimits
from mockbroker.share_partitions.in_flight import StateBatch as Known
from mockbroker.share_partitions.share_partition import SharePartition
from mockbroker.share_partitions.states import RecordState

FEW, MANY = 100, 3_000
ACCEPT, RELEASE = 1, 2
FOR_SEARCHES = 1.25
"""Binary searches take a few steps more."""
_DONE_OR_NOT = (RecordState.ACKNOWLEDGED, RecordState.ARCHIVED, RecordState.AVAILABLE)


class Shared:
    """A partition of which a member has so many records, each a batch or all one batch."""

    def __init__(self, count: int, *, one_batch: bool = False) -> None:
        self.log = [(0, count - 1)] if one_batch else [(each, each) for each in range(count)]
        self.log += [(each, each) for each in range(count, 2 * count)]
        self.partition = SharePartition(0, ShareLimits(delivery_count=10, lock_ms=1_000, records=10 * count))
        self.fetch(self.log, count)
        assert len(self.partition.batches) == (1 if one_batch else count)
        self.held = list(range(count))

    def fetch(self, read: list[tuple[int, int]], count: int) -> int:
        begin = self.partition.next_fetch_offset()
        return self.partition.acquire("a", read, begin, max_records=count, batch_size=1, now=0)[0].first

    def settle(self, offset: int, kind: int) -> None:
        change = self.partition.acknowledge("a", [Acknowledgement(offset, offset, (kind,))], 0)
        assert self.partition.complete_count >= 0
        self.partition.commit(change)

    def accept_oldest(self) -> None:
        self.settle(self.held.pop(0), ACCEPT)

    def release_one(self) -> None:
        """Lets a record go, and has it again."""
        offset = self.held.pop(len(self.held) // 2)
        self.settle(offset, RELEASE)
        assert self.fetch(self.log[offset : offset + 2], 1) == offset


def _cost(shared: Shared, step: Callable[[], None]) -> int:
    for _ in range(5):
        step()
    with Steps() as steps:
        for _ in range(20):
            step()
    return steps.count


@pytest.mark.parametrize("name", ["accept_oldest", "release_one"])
def test_of_batches_of_one_record(name: str) -> None:
    few, many = (_cost(shared, getattr(shared, name)) for shared in map(Shared, (FEW, MANY)))
    assert many < FOR_SEARCHES * few, (few, many)


def test_of_one_batch() -> None:
    """Once it is divided."""
    few, many = (
        _cost(shared, shared.accept_oldest)
        for shared in (Shared(each, one_batch=True) for each in (FEW, MANY))
    )
    assert many < FOR_SEARCHES * few, (few, many)


def test_of_what_the_share_coordinator_keeps() -> None:
    """Every second record is done."""

    def cost(count: int) -> int:
        kept = tuple(StateBatch(each, each, 2, 1) for each in range(0, count, 2))
        where = random.Random(0)
        with Steps() as steps:
            for _ in range(20):
                kept = at_once(adding(kept, (StateBatch(at := where.randrange(count), at, 2, 1),), 0))
        return steps.count

    few, many = cost(MANY), cost(10 * MANY)
    assert many < FOR_SEARCHES * few, (few, many)


@pytest.mark.parametrize("state", [RecordState.ACKNOWLEDGED, RecordState.AVAILABLE])
def test_of_a_step_of_what_a_new_leader_reads(state: RecordState) -> None:
    """Whatever became of the records."""

    def longest(count: int) -> int:
        steps = SharePartition.restoring(0, (Known(each, each, state, 1) for each in range(count)))
        costs = []
        while True:
            with Steps() as counted:
                over = next(steps, count)
            costs.append(counted.count)
            if over is count:
                return max(costs)

    few, many = longest(MANY // 10), longest(MANY)
    assert many < FOR_SEARCHES * few, (few, many)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3), st.sampled_from(_DONE_OR_NOT)), max_size=20))
def test_small_steps_lead_to_the_same(kept: list[tuple[int, int, RecordState]]) -> None:
    """By gaps, sizes and states."""
    known: list[Known] = []
    for gap, size, state in kept:
        first = gap + (known[-1].last + 1 if known else 0)
        known.append(Known(first, first + size - 1, state, 1))
    with pytest.MonkeyPatch.context() as patch:
        small, large = (_restored(known, portion, patch) for portion in (1, 1_000))
    assert small == large


def _restored(known: list[Known], portion: int, patch: pytest.MonkeyPatch) -> tuple[object, ...]:
    patch.setattr(share_partition, "PORTION", portion)
    made = SharePartition.restore(0, known)
    return made.start_offset, made.end_offset, made.next_fetch_offset(), made.complete_count, made.states()

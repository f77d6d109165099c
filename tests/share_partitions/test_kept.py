"""How the share coordinator joins what is written of a share partition."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.protocol.share_state_log import UNKNOWN, StateBatch
from mockbroker.share_partitions.kept import combined, merged

BATCHES = st.lists(
    st.builds(
        lambda first, size, state, deliveries: StateBatch(first, first + size, state, deliveries),
        st.integers(0, 20),
        st.integers(0, 8),
        st.sampled_from([0, 2, 4]),
        st.integers(1, 3),
    ),
    max_size=6,
)


@given(BATCHES, st.integers(UNKNOWN, 15))
def test_each_record_has_the_last_word_that_was_said_of_it(batches: list[StateBatch], start: int) -> None:
    found = combined(batches, start)
    said: dict[int, tuple[int, int]] = {}
    for each in batches:
        for offset in range(each.first, each.last + 1):
            if offset >= start:
                said[offset] = max(said.get(offset, (0, 0)), (each.deliveries, each.state))
    kept = {
        offset: (each.deliveries, each.state) for each in found for offset in range(each.first, each.last + 1)
    }
    assert kept == said
    for one, two in pairwise(found):
        assert one.last < two.first
        assert one.last + 1 < two.first or one[2:] != two[2:]


def test_many_batches_over_each_other() -> None:
    """Takes as long as they are many, not its square."""
    batches = [StateBatch(n, 200_000 - n, 0, 1 + n % 7) for n in range(20_000)]
    assert len(combined(batches, 0)) < 2 * len(batches)


@given(BATCHES, BATCHES, st.integers(UNKNOWN, 15), st.integers(0, 10))
def test_merging_is_combining_all(
    some: list[StateBatch], more: list[StateBatch], start: int, moved: int
) -> None:
    """Whether the start offset stays or moves on."""
    kept = combined(some, start)
    later = start + moved if start != UNKNOWN else start
    assert merged(kept, combined(more, later), later) == combined((*kept, *combined(more, later)), later)
    assert merged(kept, tuple(more), later) == combined((*kept, *more), later)

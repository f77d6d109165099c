"""One way to make smaller whatever fails."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from mockbroker.shrinking import Shrinking, fewer, shrink, simpler

Steps = tuple[int, ...]
MANY = 10_000


def smaller(steps: Steps) -> Iterable[Steps]:
    yield from fewer(steps)
    yield from simpler(steps, lambda step: [step - 1] if step else [])


STEPS: st.SearchStrategy[Steps] = st.lists(st.integers(0, 5), max_size=12).map(tuple)


@given(STEPS, st.sets(st.integers(0, 5), max_size=3))
def test_nothing_is_left_that_is_not_needed(steps: Steps, needed: set[int]) -> None:
    tried: list[Steps] = []

    def fails(candidate: Steps) -> bool:
        tried.append(candidate)
        return needed <= set(candidate)

    if needed <= set(steps):
        smallest = shrink(steps, smaller, fails, MANY)
        assert sorted(smallest) == sorted(needed)
        assert len(tried) == len(set(tried))
        assert steps not in tried


@given(st.integers(0, 30))
def test_a_budget_is_kept(budget: int) -> None:
    tried = []

    def fails(candidate: Steps) -> bool:
        tried.append(candidate)
        return 7 in candidate

    found = shrink((*range(20),), smaller, fails, budget)
    assert len(tried) <= budget
    assert 7 in found
    assert len(found) < 20 or budget < 3


def test_candidates_can_be_taken_several_at_a_time() -> None:
    """As by those who try several at once: the first that fails counts."""
    search = Shrinking[Steps]((1, 2, 3, 4), fewer)
    assert search.next(3) == ((), (3, 4), (1, 2))
    search.fails((3, 4))
    assert search.next(9) == ((4,), (3,))
    assert search.next() == ()
    assert search.smallest == (3, 4)

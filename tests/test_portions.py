"""Long work is done in steps of the right size."""

from collections.abc import Generator

import pytest

from mockbroker.portions import Pace, at_once, portions


def test_a_step_is_over_when_it_has_looked_at_so_many() -> None:
    pace = Pace(3)
    assert [pace.enough() for _ in range(7)] == [False, False, True, False, False, True, False]
    assert [pace.enough(each) for each in (1, 1, 0, 2, 1, 7)] == [False, True, False, False, True, True]


@pytest.mark.parametrize(("count", "sizes"), [(0, []), (1, [1]), (3, [3]), (4, [3, 1]), (6, [3, 3])])
def test_entries_come_a_few_at_a_time(count: int, sizes: list[int]) -> None:
    entries = list(range(count))
    for given in (entries, tuple(entries), iter(entries)):
        found = [list(each) for each in portions(given, 3)]
        assert [len(each) for each in found] == sizes
        assert [each for some in found for each in some] == entries


def test_all_steps_at_once() -> None:
    def steps() -> Generator[None, None, int]:
        yield
        yield
        return 5

    assert at_once(steps()) == 5

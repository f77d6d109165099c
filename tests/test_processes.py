"""Long tasks side by side, each in a process of its own."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable

import pytest

from mockbroker.processes import side_by_side

Tell = Callable[[str], None]


def doubled(number: int, tell: Tell) -> int:
    tell(f"at {number}")
    return 2 * number


def ended(how: str, tell: Tell) -> None:
    """One that never ends by itself, one that fails, and one that is killed."""
    if how == "waits":
        threading.Event().wait()
    if how == "killed":
        os._exit(1)
    raise ValueError(how)


@pytest.mark.parametrize("count", [1, 2])
def test_results_come_in_the_order_of_the_tasks(count: int) -> None:
    said: list[str] = []
    assert side_by_side(doubled, [3, 1, 2], count, said.append) == [6, 2, 4]
    assert sorted(said) == ["at 1", "at 2", "at 3"]


@pytest.mark.parametrize(
    ("how", "error", "text"),
    [("fails", ValueError, "fails"), ("killed", ChildProcessError, "was there enough memory")],
)
def test_the_others_end_when_one_fails(how: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        side_by_side(ended, ["waits", how], 2)
    assert multiprocessing.active_children() == []

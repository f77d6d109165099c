"""When a process that serves collects its garbage (`mockbroker/cli/garbage.py`)."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from mockbroker.cli.garbage import LOOK_SECONDS, WORTH_IT, WhenIdle, WhileBusy


class Knot:
    """What refers to itself, and so is garbage that only a collection finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def old() -> Iterator["weakref.ref[Knot]"]:
    """Garbage of the oldest generation, which Python itself does not collect meanwhile."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(before[0], before[1], 1_000_000)
    knot = Knot()
    for _ in range(WORTH_IT):
        gc.collect(1)
    found = weakref.ref(knot)
    del knot
    gc.collect(1)
    assert found() is not None
    yield found
    gc.set_threshold(*before)


@pytest.mark.parametrize(("seconds_a_look", "collected"), [(0.0, True), (LOOK_SECONDS / 2, False)])
def test_all_garbage_goes_while_nobody_asks(
    old: "weakref.ref[Knot]", seconds_a_look: float, collected: bool
) -> None:
    looks = iter(range(1_000_000))
    collector = WhenIdle(lambda: next(looks) * seconds_a_look)
    for _ in range(3):
        collector.look()
    assert (old() is None) == collected


def test_nothing_is_collected_twice(old: "weakref.ref[Knot]") -> None:
    collections: list[int] = []
    gc.callbacks.append(lambda phase, told: collections.append(told["generation"]))
    try:
        collector = WhenIdle(lambda: 0.0)
        for _ in range(10):
            collector.look()
    finally:
        gc.callbacks.pop()
    assert collections.count(2) == 2, "its begin and its end, once"


@pytest.mark.parametrize("busy", [True, False])
def test_young_garbage_goes_while_somebody_asks(busy: bool) -> None:
    gc.collect()
    gc.disable()
    try:
        looks = iter(range(1_000_000))
        collector = WhileBusy(lambda: next(looks) * busy)
        knot = Knot()
        found = weakref.ref(knot)
        del knot
        assert collector.look() == busy
        assert (found() is None) == busy
    finally:
        gc.enable()

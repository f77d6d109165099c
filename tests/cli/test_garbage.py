"""When a process that serves collects its garbage (`mockbroker/cli/garbage.py`)."""

import gc
import weakref
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from mockbroker.cli.garbage import (
    LOOK_SECONDS,
    WORTH_IT,
    YOUNG_SECONDS,
    collect_when_idle,
    collect_while_busy,
)


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
@pytest.mark.trio
async def test_all_garbage_goes_while_nobody_asks(
    old: "weakref.ref[Knot]",
    seconds_a_look: float,
    collected: bool,
    autojump_clock: trio.testing.MockClock,
) -> None:
    looks = iter(range(1_000_000))
    with trio.move_on_after(3.5 * LOOK_SECONDS):
        await collect_when_idle(lambda: next(looks) * seconds_a_look)
    assert (old() is None) == collected
    assert next(looks) > 3


@pytest.mark.trio
async def test_nothing_is_collected_twice(
    old: "weakref.ref[Knot]", autojump_clock: trio.testing.MockClock
) -> None:
    collections: list[int] = []
    gc.callbacks.append(lambda phase, told: collections.append(told["generation"]))
    try:
        with trio.move_on_after(10.5 * LOOK_SECONDS):
            await collect_when_idle(lambda: 0.0)
    finally:
        gc.callbacks.pop()
    assert collections.count(2) == 2, "its begin and its end, once"


@pytest.mark.parametrize(("busy", "collected"), [(True, True), (False, False)])
@pytest.mark.trio
async def test_young_garbage_goes_while_somebody_asks(
    busy: bool, collected: bool, autojump_clock: trio.testing.MockClock
) -> None:
    gc.collect()
    knot = Knot()
    found = weakref.ref(knot)
    del knot
    with trio.move_on_after(10.5 * YOUNG_SECONDS):
        await collect_while_busy(lambda: trio.current_time() * busy)
    assert (found() is None) == collected

"""A clock with a cluster and no pump: how much time goes by is said by the test."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.cluster.cluster import Cluster
from mockbroker.server.clock import Clock
from tests.driving.cluster import NOW_MS, a_cluster
from tests.properties import examples


class Timed:
    """When what was set came, by the cluster's time."""

    def __init__(self, *, manual: bool) -> None:
        self.cluster: Cluster = a_cluster(brokers=1)
        self.clock = Clock(self.cluster, manual)
        self.came: dict[str, int] = {}

    def set(self, name: str, delay_ms: int, *, waits: bool) -> None:
        environment = self.cluster.environment

        def come() -> None:
            self.came[name] = self.cluster.now_ms - NOW_MS

        (environment.wait if waits else environment.after)(delay_ms, come)


@pytest.mark.parametrize("manual", [False, True])
def test_what_a_request_waits_for_is_over_outside_too(manual: bool) -> None:
    timed = Timed(manual=manual)
    timed.set("retention", 100, waits=False)
    timed.set("max_wait_ms", 100, waits=True)
    timed.clock.elapse(99)
    assert not timed.came
    timed.clock.elapse(100)
    assert timed.came == ({"max_wait_ms": 0} if manual else {"retention": 100, "max_wait_ms": 100})


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 500)), max_size=12), st.booleans())
@settings(max_examples=examples(50))
def test_time_is_what_went_by_outside_and_what_it_was_moved_by(
    steps: list[tuple[bool, int]], manual: bool
) -> None:
    """The time outside is told here only; the clock's own adds what the test itself takes."""
    timed = Timed(manual=manual)
    elapsed = moved = 0
    for move, ms in steps:
        if move:
            timed.cluster.advance(timed.cluster.now_ms + ms)
            moved += ms
        else:
            elapsed += ms
            timed.clock.elapse(elapsed)
        assert timed.cluster.now_ms - NOW_MS == moved + elapsed * (not manual)


@pytest.mark.parametrize("manual", [False, True])
def test_all_that_is_due_comes_in_order(manual: bool) -> None:
    timed = Timed(manual=manual)
    for name, delay_ms in (("b", 5_000), ("a", 4_000), ("c", 9_000_000)):
        timed.set(name, delay_ms, waits=False)
    timed.clock.advance("1h")
    assert list(timed.came) == ["a", "b"]

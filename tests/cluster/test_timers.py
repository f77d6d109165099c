"""Timers of the core, and waits, which go by the time outside too."""

import random

from mockbroker.cluster.cluster import Cluster
from mockbroker.protocol import releases


def test_timers_and_waits_fire_in_one_order() -> None:
    cluster = Cluster(releases.parse("4.4"), random.Random(1))
    fired: list[tuple[str, int]] = []
    for name, set_up, delay_ms in (
        ("c", cluster.after, 30),
        ("a", cluster.wait, 10),
        ("d", cluster.wait, 30),
        ("b", cluster.after, 20),
    ):
        set_up(delay_ms, lambda name=name: fired.append((name, cluster.now_ms)))  # type: ignore[misc]
    cluster.wait(15, lambda: fired.append(("never", cluster.now_ms))).cancel()
    assert cluster.next_deadline() == 10
    cluster.advance(30)
    assert fired == [("a", 10), ("b", 20), ("c", 30), ("d", 30)]


def test_a_wait_is_over_while_the_clock_stands_still_and_a_timer_is_not() -> None:
    cluster = Cluster(releases.parse("4.4"), random.Random(1), now_ms=1000)
    fired: list[str] = []
    cluster.after(10, lambda: fired.append("timer"))
    cluster.wait(10, lambda: fired.append("wait"))
    cluster.advance(1000, waited_ms=9)
    assert not fired
    cluster.advance(1000, waited_ms=10)
    assert (fired, cluster.now_ms) == (["wait"], 1000)
    cluster.wait(10, lambda: fired.append("later wait"))
    cluster.advance(1010, waited_ms=10)
    assert fired == ["wait", "timer", "later wait"]


def test_cancelled_timers_are_not_kept_until_they_would_be_due() -> None:
    """A request says how long it may wait: clients that say weeks are answered at once, again and again."""
    cluster = Cluster(releases.parse("4.4"), random.Random(1))
    fired: list[int] = []
    for number in range(5_000):
        for plan in (cluster.after, cluster.wait):
            timer = plan(1 << 31, lambda: fired.append(-1))
            if number % 50 == 0:
                plan(number, lambda number=number: fired.append(number))  # type: ignore[misc]
            timer.cancel()
            timer.cancel()
    assert len(cluster.timers) < 1_000
    cluster.advance(1 << 32)
    assert fired == sorted([*range(0, 5_000, 50)] * 2)
    assert len(cluster.timers) == 0

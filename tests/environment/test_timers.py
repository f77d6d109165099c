"""Timers of the core, and waits, which go by the time outside too."""

from mockbroker.environment import Environment
from mockbroker.protocol import releases
from mockbroker.seeded import streams


def test_timers_and_waits_fire_in_one_order() -> None:
    environment = Environment(releases.parse("4.4"), streams(1))
    fired: list[tuple[str, int]] = []
    for name, set_up, delay_ms in (
        ("c", environment.after, 30),
        ("a", environment.wait, 10),
        ("d", environment.wait, 30),
        ("b", environment.after, 20),
    ):
        set_up(delay_ms, lambda name=name: fired.append((name, environment.now_ms)))  # type: ignore[misc]
    environment.wait(15, lambda: fired.append(("never", environment.now_ms))).cancel()
    assert environment.timers.next_deadline() == 10
    environment.advance(30)
    assert fired == [("a", 10), ("b", 20), ("c", 30), ("d", 30)]


def test_a_wait_is_over_while_the_clock_stands_still_and_a_timer_is_not() -> None:
    environment = Environment(releases.parse("4.4"), streams(1), now_ms=1000)
    fired: list[str] = []
    environment.after(10, lambda: fired.append("timer"))
    environment.wait(10, lambda: fired.append("wait"))
    environment.advance(1000, waited_ms=9)
    assert not fired
    environment.advance(1000, waited_ms=10)
    assert (fired, environment.now_ms) == (["wait"], 1000)
    environment.wait(10, lambda: fired.append("later wait"))
    environment.advance(1010, waited_ms=10)
    assert fired == ["wait", "timer", "later wait"]


def test_cancelled_timers_are_not_kept_until_they_would_be_due() -> None:
    """A request says how long it may wait: clients that say weeks are answered at once, again and again."""
    environment = Environment(releases.parse("4.4"), streams(1))
    fired: list[int] = []
    for number in range(5_000):
        for plan in (environment.after, environment.wait):
            timer = plan(1 << 31, lambda: fired.append(-1))
            if number % 50 == 0:
                plan(number, lambda number=number: fired.append(number))  # type: ignore[misc]
            timer.cancel()
            timer.cancel()
    assert len(environment.timers) < 1_000
    environment.advance(1 << 32)
    assert fired == sorted([*range(0, 5_000, 50)] * 2)
    assert len(environment.timers) == 0

"""How often a pump looks at its sockets before it sleeps."""

import pytest

from mockbroker.server.poller import LOOKS, SLEEPS, Looking

EVENTS = [(7, 1)]
MOST = 64


class Sockets:
    """Something comes `after` so many looks, or as soon as one sleeps; a timer is due in `seconds_left`."""

    def __init__(self) -> None:
        self.after = 0
        self.looks = self.sleeps = 0
        self.slept = 0.0
        self.seconds_left = float("inf")

    def poll(self, seconds: float, most: int) -> list[tuple[int, int]]:
        assert most == MOST
        if seconds:
            self.sleeps += 1
            self.slept = seconds
            return EVENTS
        self.looks += 1
        self.after -= 1
        return EVENTS if self.after < 0 else []


@pytest.fixture
def sockets() -> Sockets:
    return Sockets()


@pytest.fixture
def looking(sockets: Sockets) -> Looking:
    return Looking(sockets.poll, lambda: sockets.seconds_left)


def wait(looking: Looking, sockets: Sockets, after: int) -> None:
    sockets.after = after
    assert looking.wait(0.5, MOST) == EVENTS


def test_it_does_not_sleep_while_requests_come_soon(looking: Looking, sockets: Sockets) -> None:
    for _ in range(100):
        wait(looking, sockets, LOOKS - 1)
    assert (sockets.looks, sockets.sleeps) == (100 * LOOKS, 0)


def test_it_hardly_ever_looks_while_none_do(looking: Looking, sockets: Sockets) -> None:
    for _ in range(2 * (SLEEPS + 1)):
        wait(looking, sockets, LOOKS)
    assert (sockets.looks, sockets.sleeps) == (2 * LOOKS, 2 * (SLEEPS + 1))


def test_one_that_comes_late_now_and_then_does_not_end_it(looking: Looking, sockets: Sockets) -> None:
    for number in range(100):
        wait(looking, sockets, LOOKS if number % 5 == 4 else 0)
    assert sockets.sleeps == 20
    assert sockets.looks == 80 + 20 * LOOKS


def test_every_second_one_is_not_often_enough(looking: Looking, sockets: Sockets) -> None:
    """As of clients that write the size of a request, and then the rest."""
    for number in range(20 * SLEEPS):
        wait(looking, sockets, LOOKS * (number % 2))
    assert sockets.looks < 20 * 2 * LOOKS


def test_it_looks_again_when_requests_come_soon_again(looking: Looking, sockets: Sockets) -> None:
    wait(looking, sockets, LOOKS)
    for _ in range(SLEEPS + 10):
        wait(looking, sockets, 0)
    assert sockets.looks == LOOKS + 10


@pytest.mark.parametrize("looked_in_vain", [0, 1])
def test_it_sleeps_no_longer_than_until_a_timer_is_due(
    looking: Looking, sockets: Sockets, looked_in_vain: int
) -> None:
    for _ in range(looked_in_vain):
        wait(looking, sockets, LOOKS)
    sockets.seconds_left = 0.001
    wait(looking, sockets, LOOKS)
    assert sockets.slept == 0.001

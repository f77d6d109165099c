"""Runs in which the machine stood still are made again."""

from types import SimpleNamespace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from mockbroker.clients.hunt import stillness
from mockbroker.clients.hunt.journal import Journal
from mockbroker.clients.hunt.plan import Plan
from mockbroker.clients.hunt.stage import Outcome
from mockbroker.clients.hunt.telling import lines


async def a_run(clock: MockClock, still_s: float) -> Outcome:
    outcome = Outcome(Plan(1, "4.4", 1, (), ()), Journal())
    async with stillness.noticing(outcome):
        await wait_all_tasks_blocked()
        clock.jump(still_s)
        await wait_all_tasks_blocked()
    return outcome


@pytest.mark.parametrize(("runs", "attempts"), [([890, 0.5, 0.5], 2), ([890, 890, 890, 890], 3)])
def test_what_was_disturbed_is_played_again(runs: list[float], attempts: int) -> None:
    clock, left = MockClock(), iter(runs)
    played = []

    async def main() -> Outcome:
        async def run() -> Outcome:
            played.append(await a_run(clock, next(left)))
            return played[-1]

        return await stillness.undisturbed(run)

    outcome = trio.run(main, clock=clock)
    assert (len(played), outcome) == (attempts, played[-1])
    assert outcome.stood_still == (runs[attempts - 1] > stillness.LIMIT_S)
    [told] = lines(played[0])
    assert "stands still" in told


def test_the_wall_clock_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000.0, 940.0, 940.0])
    monkeypatch.setattr("mockbroker.clients.hunt.stillness.time", SimpleNamespace(time=lambda: next(times)))
    assert trio.run(a_run, clock := MockClock(), 0.5, clock=clock).stood_still


def test_errors_leave_as_they_are() -> None:
    async def main() -> None:
        async with stillness.noticing(Outcome(Plan(1, "4.4", 1, (), ()), Journal())):
            raise LookupError

    with pytest.raises(LookupError):
        trio.run(main)

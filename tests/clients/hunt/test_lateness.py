"""What a client does too late is no violation if the machine was late."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from mockbroker.clients.drivers import OverdueError
from mockbroker.clients.drivers.lines import Hello
from mockbroker.clients.hunt import lateness
from mockbroker.clients.hunt.campaign import Campaign, Result
from mockbroker.clients.hunt.journal import Journal, Opened, Sent, Told
from mockbroker.clients.hunt.judging import excused, is_late, judge
from mockbroker.clients.hunt.plan import Plan
from mockbroker.clients.hunt.stage import Outcome
from mockbroker.clients.hunt.telling import lines


@pytest.fixture(autouse=True)
def _wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lateness, "time", SimpleNamespace(time=trio.current_time))


def empty() -> Outcome:
    return Outcome(Plan(1, "4.4", 1, (), ()), Journal())


async def a_run(clock: MockClock, *takes_s: float) -> Outcome:
    """A call does not return, and sleeps of 0.2 s take so long meanwhile."""
    outcome = empty()
    async with lateness.noticing(outcome):
        await wait_all_tasks_blocked()
        for each in takes_s:
            clock.jump(each)
            await wait_all_tasks_blocked()
    outcome.broken = OverdueError("poll", 20.0, None, "")
    return outcome


BUSY = (0.2, 0.2, 0.8) * 15
"""Five seconds of ten."""
SOMEWHAT_BUSY = (*[0.2] * 8, 0.4) * 20
TWICE_SHORT = (1.5, *[0.2] * 50, 1.5)
STILL = (0.2, 890.0)


@pytest.mark.parametrize(
    ("takes_s", "late"), [(BUSY, True), (STILL, True), (SOMEWHAT_BUSY, False), (TWICE_SHORT, False)]
)
def test_a_late_machine(takes_s: tuple[float, ...], late: bool) -> None:
    outcome = trio.run(a_run, clock := MockClock(), *takes_s, clock=clock)
    assert is_late(outcome) == late
    assert [each.invariant for each in excused(outcome)] == ["call-overdue"] * late
    assert [each.invariant for each in judge(outcome)] == ["call-overdue"] * (not late)
    assert any("the machine is late" in each for each in lines(outcome)) == late


@pytest.mark.parametrize(("runs", "attempts"), [([STILL, (0.5,), (0.5,)], 2), ([STILL] * 4, 3)])
def test_what_can_t_be_judged_is_played_again(runs: list[tuple[float, ...]], attempts: int) -> None:
    clock, left = MockClock(), iter(runs)
    played = []

    async def main() -> Outcome:
        async def run() -> Outcome:
            played.append(await a_run(clock, *next(left)))
            return played[-1]

        return await lateness.in_time(run)

    outcome = trio.run(main, clock=clock)
    assert (len(played), outcome) == (attempts, played[-1])
    assert is_late(outcome) == (runs[attempts - 1] is STILL)


@pytest.mark.parametrize(("late_s", "again", "holds"), [(3, False, False), (3, True, True), (6, True, False)])
def test_what_comes_too_late_again(late_s: float, again: bool, holds: bool) -> None:
    outcome = empty()
    outcome.broken, outcome.late_s, outcome.again = OverdueError("poll", 20.0, None, ""), late_s, again
    assert (len(judge(outcome)), len(excused(outcome))) == (int(holds), int(not holds))


def test_what_is_lost_is_lost_on_a_late_machine_too() -> None:
    outcome = empty()
    outcome.late_s = 10.0
    sent = outcome.journal.add(Sent(number=1, topic="t", partition=0, value=b"1:plain:", what="plain"))
    sent.handle, sent.told = "p", outcome.journal.add(Told(number=1, offset=0, error=None))
    outcome.journal.add(Opened(handle="p", config={"acks": "all"}))
    assert [each.invariant for each in judge(outcome)] == ["acknowledged-lost"]
    assert excused(outcome) == []


def test_the_wall_clock_jumps(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([1000.0, 940.0, 940.0])
    monkeypatch.setattr(lateness, "time", SimpleNamespace(time=lambda: next(times)))
    assert trio.run(a_run, clock := MockClock(), 0.2, clock=clock).late_s == pytest.approx(60.2)


def test_errors_leave_as_they_are() -> None:
    async def main() -> None:
        async with lateness.noticing(empty()):
            raise LookupError

    with pytest.raises(LookupError):
        trio.run(main)


@dataclass
class Lane:
    """Plays nothing: in each run a call does not return, and the machine is late as often as `late` says."""

    late: int
    played: list[int] = field(default_factory=list)

    async def hello(self) -> Hello:
        return Hello("a client", frozenset(), None)

    async def run(self, plan: Plan) -> Outcome:
        self.played.append(plan.seed)
        outcome = Outcome(plan, Journal())
        outcome.late_s = 10.0 if plan.seed == 1 and self.played.count(1) <= self.late else 0.0
        outcome.broken = OverdueError("poll", 20.0, None, "")
        return outcome

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("late", "played", "found"),
    [
        (0, [1, 1, 1, 2, 2, 2], [(2, 2)]),
        (1, [1, 2, 2, 2, 1, 1, 1], [(2, 2)]),
        (4, [1, 2, 2, 2, 1, 1, 1], []),
    ],
)
@pytest.mark.trio
async def test_a_plan_of_a_late_run_is_played_last(
    late: int, played: list[int], found: list[tuple[int, int]]
) -> None:
    results: dict[int, Result] = {}
    lane = Lane(late)
    await Campaign([lane], repeats=2).hunt([1, 2], lambda each: results.update({each.seed: each}), "4.4")
    assert lane.played == played
    assert [*results] == ([1, 2] if late == 0 else [2, 1])
    assert [(each.repeated, each.repeats) for each in results[1].found] == found
    assert bool(results[1].unproven) != bool(found)


@pytest.mark.trio
async def test_a_late_repetition_does_not_count() -> None:
    results: list[Result] = []

    class Later(Lane):
        async def run(self, plan: Plan) -> Outcome:
            return replace(await super().run(plan), late_s=10.0 if len(self.played) == 2 else 0.0)

    await Campaign([Later(0)], repeats=3).hunt([1], results.append, "4.4")
    assert [(each.repeated, each.repeats) for each in results[0].found] == [(2, 2)]

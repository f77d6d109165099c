"""Many seeds: drivers beside each other, each with one run at a time; what is found is repeated."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from ..drivers import Driver, open_driver
from .drawing import draw
from .judging import Violation, judge
from .plan import Plan
from .playing import play
from .stage import Outcome

REPEATS: Final = 3
"""How often a run with a violation is repeated."""
LANES: Final = 6
"""Drivers at a time: they wait for most of the time."""


@dataclass
class Found:
    """A violation of one seed, and how many of the repeats had it too."""

    violation: Violation
    outcome: Outcome
    repeated: int = 0


@dataclass
class Result:
    """What came of one seed."""

    seed: int
    client: str
    plan: Plan
    found: list[Found] = field(default_factory=list)


Tell = Callable[[Result], None]


class Lane:
    """A driver, and another one when it can't be used any more. One run at a time."""

    def __init__(self, command: Sequence[str], name: str, nursery: trio.Nursery) -> None:
        self._command, self._name, self._nursery = command, name, nursery
        self._driver: Driver | None = None
        self._leaves = self._left = trio.Event()
        self._runs = 0

    async def driver(self) -> Driver:
        """DriverFailedError, OSError."""
        if self._driver is None:
            self._leaves, self._left = trio.Event(), trio.Event()
            driver: Driver = await self._nursery.start(self._keep, self._leaves, self._left)
            self._driver = driver
        return self._driver

    async def _keep(
        self,
        leaves: trio.Event,
        left: trio.Event,
        task_status: trio.TaskStatus[Driver] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        try:
            async with open_driver(self._command) as driver:
                task_status.started(driver)
                await leaves.wait()
        finally:
            left.set()

    async def run(self, plan: Plan) -> Outcome:
        driver = await self.driver()
        self._runs += 1
        outcome = await play(plan, driver, f"{self._name}-{self._runs}")
        if outcome.broken is not None or driver.failed:
            await self.close()
        return outcome

    async def close(self) -> None:
        if self._driver is not None:
            self._driver = None
            self._leaves.set()
            await self._left.wait()


async def hunt(
    command: Sequence[str],
    seeds: Sequence[int],
    tell: Tell,
    *,
    lanes: int = LANES,
    kafka: str = "4.4",
    drawn: Callable[[int, frozenset[str], str], Plan] = draw,
) -> None:
    """Plays each seed, and tells what came of it as soon as it is known. DriverFailedError if the driver
    can't be started, OSError."""
    to_do: Iterator[int] = iter(seeds)

    async def work(number: int) -> None:
        lane = Lane(command, f"{number}", nursery)
        for seed in to_do:
            driver = await lane.driver()
            plan = drawn(seed, driver.hello.capabilities, kafka)
            tell(await _try(lane, plan, driver.hello.client))
        await lane.close()

    async with trio.open_nursery() as nursery:
        for number in range(min(lanes, len(seeds))):
            nursery.start_soon(work, number)


async def _try(lane: Lane, plan: Plan, client: str) -> Result:
    outcome = await lane.run(plan)
    result = Result(plan.seed, client, plan, [Found(each, outcome) for each in judge(outcome)])
    if result.found:
        for _ in range(REPEATS):
            again = {each.invariant for each in judge(await lane.run(plan))}
            for found in result.found:
                found.repeated += found.violation.invariant in again
    return result


__all__ = ("LANES", "REPEATS", "Found", "Lane", "Result", "hunt")

"""Many seeds: drivers beside each other, each with one run at a time; what is found is repeated."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Generic, Protocol, TypeVar

import trio

from ..drivers import Driver, LeftOut, open_driver
from ..drivers.lines import Hello
from ..upstream.upstream import Upstream
from .correspondence import user_of
from .coverage import Known, Learning, more
from .drawing import draw, workloads
from .drawn_faults import Asked
from .elsewhere import lacks
from .harm import cause_of
from .judging import Violation, excused, judge
from .lateness import in_time
from .placing import Acted
from .plan import Plan
from .playing import Script, play
from .shrinking import LIMIT_S, shrink
from .slowness import Suspects, played_alone
from .stage import PATIENCE, Outcome, Patience

REPEATS: Final = 3
"""How often a run with a violation is repeated."""
ENOUGH: Final = 3
"""After so many seeds in which an invariant was violated every time, others are not repeated."""
_LESSONS: Final = 3
"""From so many runs it is learned what a client asks in a workload."""
_OVERWRITES: Final = {"MALLOC_PERTURB_": "165"}
"""glibc then overwrites what is freed: who still uses it dies of it, as it sometimes would without."""
LANES: Final = 8
"""Drivers at a time: they wait for most of the time."""


@dataclass
class Found:
    """A violation of one seed. `repeated` says how many of `repeats` runs of the same plan violated the same
    invariant."""

    violation: Violation
    outcome: Outcome
    repeated: int = 0
    repeats: int = 0
    there: int | None = None
    """How many runs of it with an upstream violated the same invariant; None if there were none."""

    @property
    def cause(self) -> tuple[str, str]:
        """The invariant, and what tells violations of it apart."""
        return self.violation.invariant, cause_of(self.violation, self.outcome)

    def shown_by(self, outcome: Outcome) -> bool:
        """Whether another run shows the same."""
        return self.cause in ((each.invariant, cause_of(each, outcome)) for each in judge(outcome))

    @property
    def sure(self) -> bool:
        return self.repeats > 0 and self.repeated == self.repeats


@dataclass
class Result:
    """What came of one seed."""

    seed: int
    client: str
    plan: Plan
    found: list[Found] = field(default_factory=list)
    acted: list[Acted] = field(default_factory=list)
    """On what faults have acted in its first run."""
    lacks: Sequence[str] = ()
    """What of it an upstream can't do, if it should have been played there."""
    unproven: Sequence[Violation] = ()
    """What it violated whenever it was played, and the machine was late each time."""


Tell = Callable[[Result], None]
Drawn = Callable[[int, frozenset[str], str], Plan]


class Lane(Protocol):
    """Plays plans, one at a time."""

    async def hello(self) -> Hello:
        """What is hunted. DriverFailedError, OSError."""

    async def run(self, plan: Plan) -> Outcome: ...

    async def close(self) -> None: ...


L = TypeVar("L", bound=Lane)


class DriverLane:
    """A driver, and another one when it can't be used any more. One run at a time."""

    def __init__(
        self, command: Sequence[str], name: str, nursery: trio.Nursery, patience: Patience, left_out: LeftOut
    ) -> None:
        self._command, self._name, self._nursery = command, name, nursery
        self._patience, self._left_out = patience, left_out
        self._driver: Driver | None = None
        self._leaves = self._left = trio.Event()
        self._runs = 0

    async def hello(self) -> Hello:
        return (await self.open()).hello

    async def open(self) -> Driver:
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
            async with open_driver(self._command, _OVERWRITES) as driver:
                driver.left_out = self._left_out
                task_status.started(driver)
                await leaves.wait()
        finally:
            left.set()

    async def run(
        self,
        plan: Plan,
        script: Script | None = None,
        learning: Learning | None = None,
        upstream: Upstream | None = None,
    ) -> Outcome:
        """ValueError if the plan is one of an application; DriverFailedError, OSError; UpstreamError and
        NotWithUpstreamError with an `upstream`."""
        if user_of(plan) is not None:
            raise ValueError("this is a plan for an application: give --application COMMAND")
        driver = await self.open()
        self._runs += 1
        usable = False
        try:
            id_ = f"{self._name}-{self._runs}"
            outcome = await play(
                plan, driver, id_, self._patience, script, learning=learning, upstream=upstream
            )
            usable = outcome.broken is None and not outcome.busy and not driver.failed
        finally:
            # After a run that was cancelled a request may be half written, and its handles are open.
            if not usable:
                with trio.CancelScope(shield=True):
                    await self.close()
        return outcome

    async def close(self) -> None:
        if self._driver is not None:
            self._driver = None
            self._leaves.set()
            await self._left.wait()


class Campaign(Generic[L]):
    """Lanes that all play the same client. Drivers are started and ended by `campaign`."""

    def __init__(
        self,
        lanes: Sequence[L],
        repeats: int,
        left_out: LeftOut | None = None,
        there: Callable[[L, Plan], Awaitable[Outcome]] | None = None,
    ) -> None:
        """`there` plays a plan with an upstream, if there is one."""
        self.lanes, self._repeats, self._there = lanes, repeats, there
        self.left_out = left_out or LeftOut()
        self._sure: Counter[tuple[str, str]] = Counter()

    async def hunt(self, seeds: Iterable[int], tell: Tell, kafka: str, drawn: Drawn = draw) -> None:
        """Plays each seed, and reports the result as soon as it is known. DriverFailedError if a driver
        can't be started, OSError."""
        to_do, looks_slow = iter(seeds), Suspects()
        later: list[tuple[Result, Outcome]] = []

        async def work(lane: L) -> None:
            for seed in to_do:
                hello = await lane.hello()
                plan = drawn(seed, hello.capabilities, kafka)
                result, outcome = await self._try(lane, plan, hello.client)
                if excused(outcome) or looks_slow.take(outcome):
                    later.append((result, outcome))
                else:
                    tell(result)

        try:
            async with trio.open_nursery() as nursery:
                for lane in self.lanes:
                    nursery.start_soon(work, lane)
            while later:
                result, outcome = later[0]
                if excused(outcome):
                    await self._try_alone(result)
                else:
                    slow = await played_alone(outcome, self.lanes[0].run)
                    result.found += [Found(each, outcome, self._repeats, self._repeats) for each in slow]
                tell(later.pop(0)[0])
        finally:
            for result, _ in later:
                tell(result)

    async def _try(self, lane: L, plan: Plan, client: str) -> tuple[Result, Outcome]:
        outcome = await lane.run(plan)
        violations = [Found(each, outcome) for each in judge(outcome)]
        result = Result(plan.seed, client, plan, violations, [*outcome.journal.of(Acted)])
        if not all(self._sure[each.cause] >= ENOUGH for each in result.found):
            await self._repeat(lane, plan, result.found)
        if self._there is not None:
            result.lacks = lacks(plan)
            if not result.lacks:
                await self._compare(lane, result)
        return result, outcome

    async def _repeat(self, lane: L, plan: Plan, found: Sequence[Found]) -> None:
        """A run that can't tell of something does not count for that."""
        for _ in range(self._repeats):
            outcome = await lane.run(plan)
            again, unproven = ({v.invariant for v in each} for each in (judge(outcome), excused(outcome)))
            for each in found:
                each.repeated += each.violation.invariant in again
                each.repeats += each.violation.invariant not in unproven
        self._sure.update({each.cause for each in found if each.sure})

    async def _try_alone(self, result: Result) -> None:
        """Adds what a plan violates when nothing else is played."""
        lane = self.lanes[0]
        outcome = await in_time(partial(lane.run, result.plan), again=True)
        known = {each.cause for each in result.found}
        found = [each for each in (Found(v, outcome) for v in judge(outcome)) if each.cause not in known]
        if found:
            await self._repeat(lane, result.plan, found)
        result.found += found
        result.unproven = excused(outcome)

    async def _compare(self, lane: L, result: Result) -> None:
        """Plays a plan with the upstream, and again if anything was found there or with the mock. Adds what
        only the upstream shows."""
        outcome, known = await self.there(lane, result.plan), {e.violation.invariant for e in result.found}
        told = {each.invariant: each for each in judge(outcome)}
        result.found += [Found(each, outcome) for name, each in told.items() if name not in known]
        counts = Counter(told.keys())
        for _ in range(self._repeats - 1 if result.found else 0):
            counts.update({each.invariant for each in judge(await self.there(lane, result.plan))})
        for found in result.found:
            found.there = counts[found.violation.invariant]

    async def there(self, lane: L, plan: Plan) -> Outcome:
        """A run with the upstream. NotWithUpstreamError, UpstreamError, OSError."""
        if self._there is None:
            raise ValueError("there is no upstream: give --upstream HOST:PORT")
        return await self._there(lane, plan)

    async def smallest(
        self, found: Found, limit_s: float = LIMIT_S, scope: trio.CancelScope | None = None
    ) -> Outcome:
        """A run of the smallest plan that still shows the same; of the smallest so far if `scope` is
        cancelled."""
        runs, outcome = [lane.run for lane in self.lanes], found.outcome
        _, outcome = await shrink(outcome.plan, outcome, found.shown_by, runs, limit_s, scope)
        return outcome


async def learn(lanes: Sequence[DriverLane], known: Known, kafka: str, workload: str | None = None) -> None:
    """Plays plans of the workloads, or of one, of which it is not known what the client asks in them, without
    any event. DriverFailedError, OSError."""
    capabilities = (await lanes[0].hello()).capabilities
    every = workloads(capabilities) if workload is None else [workload]
    left = [each for each in every if each not in known.requests]
    to_do = iter([(each, seed) for each in left for seed in range(_LESSONS)])
    asked: dict[str, list[Asked]] = {each: [] for each in left}

    async def work(lane: DriverLane) -> None:
        for workload, seed in to_do:
            lesson = Learning()
            plan = draw(seed, capabilities, kafka, workload)
            await lane.run(replace(plan, steps=()), learning=lesson)
            asked[workload] = more(asked[workload], lesson.asked())

    async with trio.open_nursery() as nursery:
        for lane in lanes:
            nursery.start_soon(work, lane)
    known.requests.update(asked)


@contextlib.asynccontextmanager
async def campaign(
    command: Sequence[str],
    lanes: int = LANES,
    *,
    repeats: int = REPEATS,
    patience: Patience = PATIENCE,
    upstream: Upstream | None = None,
) -> AsyncIterator[Campaign[DriverLane]]:
    """Drivers that are started when they are needed, and ended with the block."""
    left_out = LeftOut()

    async def there(lane: DriverLane, plan: Plan) -> Outcome:
        return await lane.run(plan, upstream=upstream)

    async with trio.open_nursery() as nursery:
        made = [DriverLane(command, f"{number}", nursery, patience, left_out) for number in range(lanes)]
        yield Campaign(made, repeats, left_out, there if upstream else None)
        for lane in made:
            await lane.close()

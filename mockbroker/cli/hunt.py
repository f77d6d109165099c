"""`mockbroker hunt`: plays random workloads with a client, and shows where what it reported is not true."""

import signal
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any, Final

import trio
from rich.console import Console

from ..clients.drivers import DriverFailedError
from ..clients.drivers.building import BuildError
from ..clients.hunt.campaign import Campaign, Found, Result, learn
from ..clients.hunt.correspondence import fields
from ..clients.hunt.coverage import Known
from ..clients.hunt.coverage import read as read_coverage
from ..clients.hunt.drawing import DRAWING
from ..clients.hunt.elsewhere import lacks
from ..clients.hunt.judging import Violation, excused, judge
from ..clients.hunt.known import KnownViolation, covering, read_known, write_known
from ..clients.hunt.lateness import in_time
from ..clients.hunt.merging import CampaignRecord, write_campaign
from ..clients.hunt.merging import merge as merged
from ..clients.hunt.plan import Plan
from ..clients.hunt.stage import Outcome
from ..clients.hunt.telling import lines
from ..clients.hunt.writing import Group, Groups, Record, read, write
from ..errors import first_of
from ..progress import Counted, counted
from .hunt_settings import Settings
from .hunt_tables import coverage_table, findings_table

__all__ = ("Settings", "fields", "merge", "play", "report", "run")
TIMES: Final = 3
"""How often a plan is played again."""
_SHOWN: Final = 150


def run(settings: Settings, seeds: range) -> bool:
    """Prints what was found, and returns whether anything was. ValueError, BuildError, DriverFailedError,
    OSError; all of these, and KeyboardInterrupt, after it has printed what was found so far, if anything was
    played."""
    return _searched(_Hunt(settings, seeds))


def play(settings: Settings, path: Path) -> bool:
    """Plays one plan again, makes it smaller if `shrink_s` says so, and returns whether an invariant was
    violated. Raises what `run` does."""
    return _searched(_Replay(settings, read(path)))


def report(path: Path) -> None:
    """Prints what the campaigns of a coverage file have played, and what they never have. ValueError,
    OSError."""
    console = Console(emoji=False, soft_wrap=True, highlight=False)
    if not path.exists():
        raise ValueError(f"no file {path}: hunt --coverage {path} writes it")
    for name, known in read_coverage(path).clients.items():
        console.rule(name)
        console.print(coverage_table(known))


def merge(folders: Sequence[Path], out: Path) -> bool:
    """Writes one campaign of several, and returns whether anything was found. ValueError, OSError."""
    console = Console(emoji=False, soft_wrap=True, highlight=False)
    whole, records = merged(folders, out)
    if records:
        console.print(findings_table(records, {}))
    console.print(f"{whole.client}: {len(whole.seeds):,} seeds, in {out}", markup=False)
    return bool(records)


def _searched(search: "_Search") -> bool:
    """Runs it, and returns whether anything was found."""
    try:
        trio.run(search.run)
    except BaseExceptionGroup as group:
        raise first_of(group) from None
    if search.failed is not None:
        raise search.failed
    if search.interrupted:
        raise KeyboardInterrupt
    return bool(search.groups)


async def _tried(settings: Settings, version: str, plan: Plan) -> str:
    """Plays a plan with another version of the client."""
    shown: Counter[str] = Counter()
    told: list[str] = []
    try:
        async with settings.campaign(1, version) as drivers:
            for _ in range(TIMES):
                shown.update({each.invariant for each in judge(await drivers.lanes[0].run(plan))})
    except* (BuildError, DriverFailedError, OSError) as group:
        told = str(first_of(group)).splitlines()[-1:]
    return f"{version}: {', '.join(told) or _times(shown)}"


def _times(shown: Counter[str]) -> str:
    """How often invariants were violated in `TIMES` runs."""
    told = [f"{invariant} in {count} of {TIMES} runs" for invariant, count in shown.items()]
    return ", ".join(told) or "nothing is violated"


class _Search(ABC):
    """What is played, and how what it finds is shown."""

    def __init__(self, settings: Settings, lanes: int) -> None:
        self._settings, self._campaign = settings, settings.campaign(lanes)
        self._console = Console(emoji=False, soft_wrap=True, highlight=False)
        self._errors = Console(emoji=False, stderr=True)
        self.groups = Groups()
        self.interrupted = False
        self.failed: BaseException | None = None
        """What has ended it before all was played."""
        self._client = ""
        self._scope = trio.CancelScope()
        """What Ctrl-C ends."""
        self._played = False
        self._hurries = False

    async def run(self) -> None:
        async with self._campaign as drivers, trio.open_nursery() as nursery:
            await nursery.start(self._heed)
            with self._scope:
                await self._play(drivers)
            self._played = True
            for line in drivers.left_out.lines(self._client):
                self._console.print(line, markup=False)
            await self._tell(drivers)
            nursery.cancel_scope.cancel()

    @abstractmethod
    async def _play(self, drivers: Campaign[Any]) -> None:
        """Plays until it is over, or interrupted."""

    async def _tell(self, drivers: Campaign[Any]) -> None:
        """Shows the groups that are not known, the worst first; of those that the smallest plan of another
        one shows too, only the names."""
        left = sorted(self._unknown(), key=lambda each: each.record(self._client).order)
        while left:
            group = left.pop(0)
            outcome = await self._smallest(drivers, group)
            others = [
                each for each in left if each.best.shown_by(outcome) and {*each.plans} <= {*group.plans}
            ]
            await self._show(group, outcome, others)
            left = [each for each in left if each not in others]

    def _unknown(self) -> list[Group]:
        return list(self.groups)

    async def _heed(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Ctrl-C ends what is played, and what was found is made smaller; Ctrl-C during that leaves it out,
        and what was found is shown as it is. The next one ends everything."""
        with trio.open_signal_receiver(signal.SIGINT) as signals:
            task_status.started()
            async for _ in signals:
                self.interrupted = True
                self._hurries = self._played
                self._scope.cancel()
                if self._hurries:
                    return

    async def _smallest(self, drivers: Campaign[Any], group: Group) -> Outcome:
        """A run of the smallest plan that is found in time."""
        limit_s, found = self._settings.shrink_s, group.best
        if not found.sure or not limit_s or self._hurries:
            return found.outcome
        self._scope = trio.CancelScope()
        name = group.record(self._client).name
        self._errors.print(f"looking for a smaller plan of {name} for {limit_s:g} s (Ctrl-C ends that)")
        return await drivers.smallest(found, limit_s, self._scope)

    async def _show(self, group: Group, outcome: Outcome, others: Sequence[Group]) -> None:
        """Prints the story of a group, or writes it."""
        settings = self._settings
        told = [str(each) for each in judge(outcome) if each.invariant == group.invariant]
        told += [f"the same plan shows {each.record(self._client).name}" for each in others]
        told += await self._with_versions(outcome.plan)
        self._console.rule(group.record(self._client).name)
        if settings.out is not None:
            home = write(settings.out, group, self._client, outcome, told)
            self._console.print(f"{home}", markup=False)
            for each in others:
                write(
                    settings.out, each, self._client, outcome, [f"see {home.name}, which has the same plan"]
                )
        else:
            for user in outcome.plan.users:
                for step in user.steps:
                    self._console.print(f"{user.name}: {step}", markup=False)
            self._console.print(*lines(outcome), sep="\n", markup=False)
        self._console.print(*told, sep="\n", markup=False)

    async def _with_versions(self, plan: Plan) -> list[str]:
        told: list[str] = []
        if not self._hurries:
            with trio.CancelScope() as self._scope:
                told += [await _tried(self._settings, each, plan) for each in self._settings.versions]
        return told


class _Hunt(_Search):
    def __init__(self, settings: Settings, seeds: range) -> None:
        super().__init__(settings, min(settings.lanes, len(seeds)))
        self._seeds = seeds
        self._done: list[int] = []
        self._lacks = Counter[Sequence[str]]()
        """What of seeds the upstream can't do."""
        self._coverage = None if settings.coverage is None else read_coverage(settings.coverage)
        self._ruled = [] if settings.ruled is None else read_known(settings.ruled)

    async def _play(self, drivers: Campaign[Any]) -> None:
        with counted("hunt", "learning", len(self._seeds), self._errors) as so_far:
            drawn = self._settings.drawn
            known: Known | None = None
            if self._coverage is not None:
                client = (await drivers.lanes[0].hello()).client
                known = self._coverage.of(client, self._settings.kafka)
                await learn(drivers.lanes, known, self._settings.kafka, self._settings.workload)
                self._save()
                # What is played does not depend on which seed is faster than which.
                drawn = partial(drawn, guide=deepcopy(known))
            so_far.advance(0, "seeds")
            try:
                await drivers.hunt(
                    self._seeds,
                    lambda result: self._take(so_far, result, known),
                    self._settings.kafka,
                    drawn,
                )
            except* (DriverFailedError, OSError) as group:
                if not self._done:
                    raise
                # A driver that can't be started finds no smaller plan.
                self.failed, self._hurries = first_of(group), True
            finally:
                self._save()

    def _save(self) -> None:
        if self._coverage is not None and self._settings.coverage is not None:
            self._settings.coverage.write_text(self._coverage.to_json())

    async def _tell(self, drivers: Campaign[Any]) -> None:
        told = f"{self._client}: {len(self._done):,} seeds"
        every = [group.record(self._client) for group in self.groups]
        if every:
            ruled = {each.name: ruling.told for each in every if (ruling := self._ruling(each)) is not None}
            self._console.print(findings_table(every, ruled, self._there()))
            self._console.print(told)
            self._write_known()
        else:
            self._console.print(f"{told}, nothing is violated")
        for line in self._not_there():
            self._console.print(line, markup=False)
        self._keep_ruled(every)
        if self._settings.out is not None and self._done:
            record = CampaignRecord(self._client, self._settings.kafka, DRAWING, tuple(sorted(self._done)))
            write_campaign(self._settings.out, record, self._coverage)
        await super()._tell(drivers)

    def _there(self) -> dict[str, str] | None:
        """What the upstream has shown of each finding, by its name."""
        if self._settings.upstream is None:
            return None
        return {group.record(self._client).name: _shown_there(group) for group in self.groups}

    def _not_there(self) -> Iterator[str]:
        if self._settings.upstream is not None:
            left = sum(self._lacks.values())
            yield f"{len(self._done) - left:,} of these were also played with the upstream"
            for lacks, count in self._lacks.most_common():
                yield f"  {count:,}: not with an upstream: {', '.join(lacks)}"

    def _ruling(self, record: Record) -> KnownViolation | None:
        client = self._settings.client or record.client
        return covering(self._ruled, client, record.invariant, record.application, record.cause)

    def _unknown(self) -> list[Group]:
        return [each for each in self.groups if self._ruling(each.record(self._client)) is None]

    def _write_known(self) -> None:
        """As they are: a campaign's folder has all that it has found."""
        for group in self.groups:
            ruling = self._ruling(group.record(self._client))
            if ruling is not None and self._settings.out is not None:
                told = [f"known: {ruling.told}", *map(str, judge(group.best.outcome))]
                write(self._settings.out, group, self._client, group.best.outcome, told)

    def _keep_ruled(self, every: Sequence[Record]) -> None:
        """Adds what is new to the file, for somebody to rule on."""
        if self._settings.ruled is not None:
            new = [
                KnownViolation(
                    self._settings.client or each.client, each.invariant, each.application, each.cause
                )
                for each in every
                if self._ruling(each) is None
            ]
            write_known(self._settings.ruled, [*self._ruled, *new])

    def _take(self, so_far: Counted, result: Result, known: Known | None) -> None:
        self._client = result.client
        self._done.append(result.seed)
        so_far.advance()
        if result.lacks:
            self._lacks[result.lacks] += 1
        if known is not None:
            known.add(result.plan, result.acted)
        for each in result.unproven:
            so_far.console.print(f"seed {result.seed}: {_unproven(each)}", markup=False)
        for group in self.groups.add(result):
            so_far.console.print(f"seed {result.seed}: {_line(group)}", markup=False)


class _Replay(_Search):
    """Plays one plan several times. Shows at once what it violates, and then a smaller plan, if any."""

    def __init__(self, settings: Settings, plan: Plan) -> None:
        super().__init__(settings, settings.lanes if settings.shrink_s else 1)
        self._plan = plan

    async def _play(self, drivers: Campaign[Any]) -> None:
        lane = drivers.lanes[0]
        found: dict[str, Found] = {}
        for number in range(TIMES):
            outcome = await in_time(partial(lane.run, self._plan))
            self._client = (await lane.hello()).client
            violations = judge(outcome)
            if number == 0:
                self._console.print(*lines(outcome), sep="\n", markup=False)
            told = [str(each) for each in violations] or ["nothing is violated"]
            told += map(_unproven, excused(outcome))
            self._console.print(*told, sep="\n", markup=False)
            for each in {each.invariant: each for each in violations}.values():
                found.setdefault(each.invariant, Found(each, outcome, repeats=TIMES)).repeated += 1
            self.groups = Groups()
            self.groups.add(Result(self._plan.seed, self._client, self._plan, list(found.values())))
        if self._settings.upstream is not None:
            self._console.print(await self._there(drivers, lane), markup=False)

    async def _there(self, drivers: Campaign[Any], lane: Any) -> str:
        """What the upstream shows of the plan."""
        if needs := lacks(self._plan):
            return f"not with an upstream: {', '.join(needs)}"
        shown = Counter[str]()
        for _ in range(TIMES):
            shown.update({each.invariant for each in judge(await drivers.there(lane, self._plan))})
        return f"with the upstream: {_times(shown)}"

    async def _tell(self, drivers: Campaign[Any]) -> None:
        if self._settings.shrink_s or self._settings.out is not None:
            await super()._tell(drivers)
        else:
            for told in await self._with_versions(self._plan):
                self._console.print(told, markup=False)


def _shown_there(group: Group) -> str:
    """In how many of its seeds an upstream has shown it."""
    shown = sum(map(bool, group.there.values()))
    return f"{shown} of {len(group.there)}" if group.there else "not played"


def _unproven(violation: Violation) -> str:
    return f"the machine was too late to tell: {str(violation).partition(chr(10))[0]}"


def _line(group: Group) -> str:
    text = str(group.best.violation).partition("\n")[0]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

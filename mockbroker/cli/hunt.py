"""`mockbroker hunt`: random workloads for a client, and what it told its user that is not so."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import trio
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..conformance.drivers import DriverFailedError, command_for
from ..conformance.hunt.campaign import Campaign, Result, campaign
from ..conformance.hunt.judging import judge
from ..conformance.hunt.stage import Outcome
from ..conformance.hunt.telling import lines
from ..conformance.hunt.writing import Group, Groups, read, write

_SHOWN: Final = 150


def command(client: str | None, version: str | None, client_command: str | None) -> Sequence[str]:
    """What starts the client's driver. ValueError; BuildError."""
    if (client is None) == (client_command is None):
        raise ValueError("which client? Give --client NAME or --client-command COMMAND")
    if client_command is not None:
        return shlex.split(client_command)
    assert client is not None
    return command_for(client, version)


def run(
    driver: Sequence[str], seeds: range, *, kafka: str, lanes: int, out: Path | None, shrink_s: float
) -> bool:
    """Prints what was found, and returns whether anything was. DriverFailedError, OSError."""
    console, errors = Console(soft_wrap=True, highlight=False), Console(stderr=True)
    hunt = _Hunt(driver, seeds, kafka, lanes, out, shrink_s, console, errors)
    try:
        trio.run(hunt.run)
    except* DriverFailedError as group:
        raise DriverFailedError(str(_first(group))) from None
    except* OSError as group:
        raise OSError(str(_first(group))) from None
    return bool(hunt.groups.by_name)


def play(driver: Sequence[str], path: Path, times: int) -> bool:
    """Plays one plan again, and returns whether an invariant was violated. ValueError, OSError,
    DriverFailedError."""
    console, plan = Console(soft_wrap=True, highlight=False), read(path)
    violated = False

    async def repeat() -> None:
        nonlocal violated
        async with campaign(driver, 1) as drivers:
            (lane,) = drivers.lanes
            for number in range(times):
                outcome = await lane.run(plan)
                told = [str(each) for each in judge(outcome)]
                violated = violated or bool(told)
                if number == 0:
                    console.print(*lines(outcome), sep="\n", markup=False)
                console.print(*(told or ["nothing is violated"]), sep="\n", markup=False)

    trio.run(repeat)
    return violated


class _Hunt:
    def __init__(
        self,
        driver: Sequence[str],
        seeds: range,
        kafka: str,
        lanes: int,
        out: Path | None,
        shrink_s: float,
        console: Console,
        errors: Console,
    ) -> None:
        self._driver, self._seeds, self._kafka, self._lanes = driver, seeds, kafka, lanes
        self._out, self._shrink_s = out, shrink_s
        self._console, self._errors = console, errors
        self.groups = Groups()
        self._client = ""
        self._done = 0

    async def run(self) -> None:
        async with campaign(self._driver, min(self._lanes, len(self._seeds))) as drivers:
            with _progress(self._errors) as progress:
                task = progress.add_task("seeds", total=len(self._seeds))
                await drivers.hunt(
                    self._seeds, lambda result: self._take(progress, task, result), self._kafka
                )
            self._console.print(_table(self.groups))
            self._console.print(f"{self._client}: {self._done:,} seeds")
            for group in self.groups.by_name.values():
                await self._show(drivers, group)

    def _take(self, progress: Progress, task: TaskID, result: Result) -> None:
        self._client = result.client
        self._done += 1
        progress.advance(task)
        known = set(self.groups.by_name)
        self.groups.add(result)
        for name in self.groups.by_name.keys() - known:
            progress.console.print(f"seed {result.seed}: {_line(self.groups.by_name[name])}", markup=False)

    async def _show(self, drivers: Campaign, group: Group) -> None:
        """Shrinks the plan of a group, and prints its story or writes it."""
        found = group.best
        outcome = found.outcome
        if found.sure and self._shrink_s:
            with self._errors.status(f"making a smaller plan of {group.name}"):
                outcome = await drivers.smallest(found, self._shrink_s)
        told = [str(each) for each in judge(outcome) if each.invariant == group.invariant]
        self._console.rule(group.name)
        if self._out is not None:
            home = write(self._out, group, self._client, outcome, told)
            self._console.print(f"{home}", markup=False)
        else:
            self._tell(outcome)
        self._console.print(*told, sep="\n", markup=False)

    def _tell(self, outcome: Outcome) -> None:
        for user in outcome.plan.users:
            for step in user.steps:
                self._console.print(f"{user.name}: {step}", markup=False)
        self._console.print(*lines(outcome), sep="\n", markup=False)


def _first(group: BaseException) -> BaseException:
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    return group


def _line(group: Group) -> str:
    text = str(group.best.violation).partition("\n")[0]
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _table(groups: Groups) -> Table:
    table = Table("invariant", "application", "seeds", "every time", "without any event", "first seed")
    for group in groups.by_name.values():
        counts = (len(group.seeds), group.sure, group.quiet, min(group.seeds))
        table.add_row(group.invariant, group.kind, *map(str, counts))
    return table


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console)

"""`mockbroker check`: known stories and every behaviour, played to clients."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import trio
from rich.console import Console

from ..clients.check import cells
from ..clients.check.cells import Cell
from ..clients.check.checking import check
from ..clients.check.others import others
from ..clients.check.report import Report
from ..clients.check.reports import cards, junit, page, table
from ..clients.check.reports import data as json_file
from ..clients.check.verdicts import Judged
from ..clients.drivers import SHIPPED, LeftOut, command_for
from ..clients.upstream.upstream import Upstream
from ..errors import first_of
from ..policies.catalogue import known
from ..progress import counted
from ..protocol.releases import parse

EVERY: Final = "all"


@dataclass(frozen=True)
class Settings:
    """`policies` are answers to play the scenarios with, instead of all others of each behaviour."""

    clients: Sequence[str]
    version: str | None
    command: str | None
    releases: Sequence[str]
    fixed: Sequence[bool]
    only: Sequence[str]
    policies: Mapping[str, str]
    behaviours: bool
    lanes: int
    junit: Path | None = None
    json: Path | None = None
    html: Path | None = None
    cards: Path | None = None
    upstream: Upstream | None = None
    """The real cluster with which scenarios are played, too."""
    console: Console = field(default_factory=lambda: Console(emoji=False, highlight=False))

    def drivers(self) -> list[tuple[str, tuple[str, ...]]]:
        """The clients by name, and the options that name each. ValueError."""
        if bool(self.clients) == (self.command is not None):
            raise ValueError("which client? Give --client NAME or --client-command COMMAND")
        if self.command is not None:
            if self.version is not None:
                raise ValueError("a driver of your own has no versions: give --client NAME")
            return [("client", ("--client-command", self.command))]
        names = list(SHIPPED) if EVERY in self.clients else list(dict.fromkeys(self.clients))
        version = () if self.version is None else ("--client-version", self.version)
        return [(name, ("--client", name, *version)) for name in names]

    def words(self, name: str) -> Sequence[str]:
        """What starts a client's driver, built if need be. ValueError; BuildError."""
        if self.command is not None:
            return shlex.split(self.command)
        console = Console(emoji=False, stderr=True)
        if not console.is_terminal:
            console.print(f"mockbroker check: building the driver of {name}", soft_wrap=True)
        with console.status(f"building the driver of {name}"):
            return command_for(name, self.version)

    def check(self) -> None:
        """ValueError for what does not exist."""
        if self.cards is not None and self.upstream is not None:
            raise ValueError("cards are about mocks: leave out --cards, or --upstream")
        if not self.releases:
            raise ValueError("which releases? Give --kafka R,R,…")
        for release in self.releases:
            parse(release)
        for name, answer in self.policies.items():
            known(name).choose(parse(self.releases[0]), {name: answer})


def run(settings: Settings) -> bool:
    """Prints a table for each client, writes the files that are wanted, and returns whether anything tells
    against a client. A client's card is written as soon as it has been played. ValueError, BuildError,
    OSError."""
    settings.check()
    scenarios = cells.scenarios(settings.only)
    there = "" if settings.upstream is None else str(settings.upstream)
    plan = list(cells.planned(scenarios, settings.releases, settings.fixed, settings.policies, there))
    reports = []
    for name, options in settings.drivers():
        reports.append(_one(settings, name, options, settings.words(name), plan))
        if settings.cards is not None:
            cards.write(settings.cards, reports[-1:])
    for path, write in (
        (settings.junit, junit.write),
        (settings.json, json_file.write),
        (settings.html, page.write),
    ):
        if path is not None:
            write(path, reports)
    return any(report.unexpected for report in reports)


def _one(
    settings: Settings, name: str, options: tuple[str, ...], words: Sequence[str], plan: Sequence[Cell]
) -> Report:
    left_out = LeftOut()
    client, judged = _played(settings, name, words, plan, left_out)
    if settings.behaviours and not settings.policies:
        more = list(others(judged, settings.releases[-1]))
        _, also = _played(settings, f"{name}, other answers", words, more, left_out)
        judged += also
    report = Report(name, client or name, options, tuple(judged))
    for each in table.tables(report):
        settings.console.print(each)
    for line in left_out.lines(report.client):
        settings.console.print(line, markup=False, soft_wrap=True)
    for one in report.unexpected:
        settings.console.print(f"{one.cell.scenario.name}, {one.cell.brokers}: {one.told}", markup=False)
        settings.console.print(*(f"  {each}" for each in one.verdict.evidence), sep="\n", markup=False)
        settings.console.print(f"  {one.cell.command(options)}", markup=False, soft_wrap=True)
    return report


def _played(
    settings: Settings, title: str, words: Sequence[str], plan: Sequence[Cell], left_out: LeftOut
) -> tuple[str, list[Judged]]:
    with counted("check", title, len(plan), Console(emoji=False, stderr=True)) as so_far:

        async def main() -> tuple[str, list[Judged]]:
            return await check(
                words,
                plan,
                lambda _: so_far.advance(),
                lanes=settings.lanes,
                left_out=left_out,
                upstream=settings.upstream,
            )

        try:
            return trio.run(main)
        except BaseExceptionGroup as group:
            raise first_of(group) from None

"""Interleaved rounds: each starts every peer fresh, in turn, and lets the same client measure it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from statistics import mean, median
from typing import Any

from benchmarks import inside
from benchmarks.bench import ScenarioResult
from benchmarks.peers import BEFORE, OURS, Commands, NotStartedError, Running, started
from benchmarks.process import resident_mb
from benchmarks.scenarios import Scenario
from benchmarks.trees import ROOT, NotATreeError

IDLE_SECONDS = 0.5
"""A peer is left alone for this long before its idle memory is read."""


@dataclass
class Measured:
    """One peer in one round. A peer that could not be measured has a `failure`."""

    starts: list[Running] = field(default_factory=list)
    """With one broker, where there is one."""
    idle_mb: list[float] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, ScenarioResult] = field(default_factory=dict)
    inside: dict[str, float] = field(default_factory=dict)
    """By the names of `benchmarks.inside.ROWS`."""
    failure: str | None = None

    @property
    def start_up_seconds(self) -> float | None:
        return median(each.start_up_seconds for each in self.starts) if self.starts else None

    @property
    def start_up_cpu_us(self) -> float | None:
        """The mean, for it is counted in ticks of 10 ms."""
        ticks = [each.start_up_cpu_us for each in self.starts if each.start_up_cpu_us is not None]
        return mean(ticks) if ticks else None

    @property
    def resident_idle_mb(self) -> float | None:
        return median(self.idle_mb) if self.idle_mb else None

    def row(self) -> dict[str, Any]:
        """As JSON has it."""
        start = {"start_up_seconds": self.start_up_seconds, "resident_idle_mb": self.resident_idle_mb}
        return {**start, **asdict(self)}


@dataclass(frozen=True)
class Plan:
    """Seconds to measure and to warm up, the scenarios to run, and the rows to measure inside."""

    seconds: float
    warm_up: float
    scenarios: list[Scenario]
    inside: list[inside.Row] = field(default_factory=list)

    @property
    def size(self) -> int:
        return len(self.scenarios) + len(self.inside)

    def parts(self) -> list[Plan]:
        """One thing at a time, so that what is compared is measured within seconds."""
        alone = [[row] for row in self.inside if not row.program]
        programs = dict.fromkeys(row.program for row in self.inside if row.program)
        together = [[row for row in self.inside if row.program == program] for program in programs]
        return [
            *(replace(self, scenarios=[scenario], inside=[]) for scenario in self.scenarios),
            *(replace(self, scenarios=[], inside=rows) for rows in (*alone, *together)),
        ]

    def groups(self) -> list[list[Scenario]]:
        """Scenarios that share one start of a peer; the start itself is measured where nothing else is."""
        if self.inside and not self.scenarios:
            return []
        alone = [[scenario] for scenario in self.scenarios if scenario.alone]
        plain = [each for each in self.scenarios if not each.alone and not each.tls]
        secured = [each for each in self.scenarios if not each.alone and each.tls]
        return [*alone, *filter(None, [plain, secured])] or [[]]


def measure(
    commands: Commands, plan: Plan, measured: Measured, report: Callable[[str], None], *, ours: bool = True
) -> None:
    """Start a peer for each group of scenarios; `report` is called as each begins, with its title."""
    try:
        if commands.tree is not None:
            rows = inside.measure(commands.tree, plan.inside, plan.seconds, lambda row: report(row.title))
            measured.inside |= rows
        for group in plan.groups():
            brokers, tls = (group[0].brokers, group[0].tls) if group else (1, False)
            if group and group[0].only_ours and not ours:
                measured.outcomes[group[0].name] = ScenarioResult(left_out="is not attacked")
                continue
            able = [scenario for scenario in group if scenario.name.startswith(commands.scenarios)]
            unable = ScenarioResult(left_out="cannot be asked that")
            measured.outcomes |= {scenario.name: unable for scenario in group if scenario not in able}
            if group and not able:
                continue
            command = commands.tls if tls else commands.by_brokers.get(brokers)
            if command is None:
                way = "with TLS" if tls else f"with {brokers} brokers"
                left_out = ScenarioResult(left_out=f"is not started {way}")
                measured.outcomes |= {scenario.name: left_out for scenario in group}
                continue
            with started(command, commands.tree, tls=tls) as running:
                time.sleep(IDLE_SECONDS)
                if brokers == 1 and not tls:
                    measured.starts.append(running)
                    idle_mb = resident_mb(running.pid)
                    measured.idle_mb += [] if idle_mb is None else [idle_mb]
                _run_client(running, plan, able, measured, report)
    except (NotStartedError, NotATreeError) as reason:
        measured.failure = str(reason)


def measure_round(
    which: int, commands: dict[str, Commands], plan: Plan, report: Callable[[str, str], None]
) -> dict[str, Measured]:
    """One round: all of it peer by peer; with `before` among them, thing by thing, who begins in turn.

    `report` is called with a peer's name and with what begins.
    """
    entry = {name: Measured() for name in commands}
    for number, part in enumerate(plan.parts() if BEFORE in commands else [plan]):
        names = list(commands)
        for name in names if (which + number) % 2 == 0 else reversed(names):
            told, ours = partial(report, name), name in (OURS, BEFORE)
            measure(commands[name], part, entry[name], told, ours=ours)
    return entry


def _run_client(
    running: Running,
    plan: Plan,
    group: list[Scenario],
    measured: Measured,
    report: Callable[[str], None],
) -> None:
    """One client process for a group of scenarios."""
    if not group:
        return
    names = ",".join(scenario.name for scenario in group)
    options = {"pid": running.pid, "seconds": plan.seconds, "warm-up": plan.warm_up, "scenarios": names}
    command = [sys.executable, "-m", "benchmarks.client", running.address]
    command += [f"--{name}={value}" for name, value in options.items()]
    command += ["--tls"] if group[0].tls else []
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=complaints, text=True) as client,
    ):
        assert client.stdout is not None
        report(group[0].title)
        try:
            for done, line in enumerate(_lines(client.stdout)):
                if done == 0:
                    measured.versions = line["versions"]
                    continue
                name = line.pop("scenario")
                measured.outcomes[name] = ScenarioResult(**line)
                if done < len(group):
                    report(group[done].title)
        except BaseException:
            client.kill()
            raise
        client.wait()
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip().splitlines()
    for scenario in group:
        if scenario.name not in measured.outcomes:
            reason = said[-1] if said else f"exit status {client.returncode}"
            measured.outcomes[scenario.name] = ScenarioResult(error=f"the client ended early: {reason}")


def _lines(stream: Any) -> Iterator[dict[str, Any]]:
    for line in stream:
        yield json.loads(line)

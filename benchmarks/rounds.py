"""Interleaved rounds: each starts every peer fresh, in turn, and lets the same client measure it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.bench import Outcome
from benchmarks.peers import ROOT, Commands, NotStartedError, Running, started
from benchmarks.process import resident_mb
from benchmarks.scenarios import Scenario

IDLE_SECONDS = 0.5
"""A peer is left alone for this long before its idle memory is read."""


@dataclass
class Measured:
    """One peer in one round. A peer that could not be measured has a `failure`."""

    start_up_seconds: float | None = None
    resident_idle_mb: float | None = None
    versions: dict[str, int] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failure: str | None = None


@dataclass(frozen=True)
class Plan:
    """Seconds to measure and to warm up, and the scenarios to run."""

    seconds: float
    warm_up: float
    scenarios: list[Scenario]

    def groups(self) -> list[list[Scenario]]:
        """Scenarios that share one start of a peer; never none, since the start itself is measured."""
        together = [scenario for scenario in self.scenarios if not scenario.alone]
        alone = [[scenario] for scenario in self.scenarios if scenario.alone]
        return [*alone, together] if together or not alone else alone


def measure(
    commands: Commands, plan: Plan, report: Callable[[Scenario], None], *, ours: bool = True
) -> Measured:
    """Start a peer for each group of scenarios; `report` is called as each scenario begins.

    Start-up and idle memory are those of a start with one broker, where there is one.
    """
    measured = Measured()
    try:
        for group in plan.groups():
            brokers = group[0].brokers if group else 1
            if group and group[0].only_ours and not ours:
                measured.outcomes[group[0].name] = Outcome(left_out="is not attacked")
                continue
            if brokers not in commands:
                left_out = Outcome(left_out=f"is not started with {brokers} brokers")
                measured.outcomes |= {scenario.name: left_out for scenario in group}
                continue
            with started(commands[brokers]) as running:
                time.sleep(IDLE_SECONDS)
                if brokers == 1 or measured.start_up_seconds is None:
                    measured.start_up_seconds = running.start_up_seconds
                    measured.resident_idle_mb = resident_mb(running.pid)
                _run_client(running, plan, group, measured, report)
    except NotStartedError as reason:
        measured.failure = str(reason)
    return measured


def _run_client(
    running: Running,
    plan: Plan,
    group: list[Scenario],
    measured: Measured,
    report: Callable[[Scenario], None],
) -> None:
    """One client process for a group of scenarios."""
    if not group:
        return
    names = ",".join(scenario.name for scenario in group)
    options = {"pid": running.pid, "seconds": plan.seconds, "warm-up": plan.warm_up, "scenarios": names}
    command = [sys.executable, "-m", "benchmarks.client", running.address]
    command += [f"--{name}={value}" for name, value in options.items()]
    with (
        tempfile.TemporaryFile() as complaints,
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=complaints, text=True) as client,
    ):
        assert client.stdout is not None
        report(group[0])
        try:
            for done, line in enumerate(_lines(client.stdout)):
                if done == 0:
                    measured.versions = line["versions"]
                    continue
                name = line.pop("scenario")
                measured.outcomes[name] = Outcome(**line)
                if done < len(group):
                    report(group[done])
        except BaseException:
            client.kill()
            raise
        client.wait()
        complaints.seek(0)
        said = complaints.read().decode(errors="replace").strip().splitlines()
    for scenario in group:
        if scenario.name not in measured.outcomes:
            reason = said[-1] if said else f"exit status {client.returncode}"
            measured.outcomes[scenario.name] = Outcome(error=f"the client ended early: {reason}")


def _lines(stream: Any) -> Iterator[dict[str, Any]]:
    for line in stream:
        yield json.loads(line)

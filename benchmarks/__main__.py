"""`python -m benchmarks`: measure mockbroker and other mocks, each round fresh and in turn."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks import report
from benchmarks.peers import OURS, PEERS, Commands, UnavailableError
from benchmarks.rounds import Plan, measure
from benchmarks.scenarios import SCENARIOS, Scenario, choose

PEER_NAMES = ", ".join(peer.name for peer in PEERS)
SCENARIO_NAMES = ", ".join(scenario.name for scenario in SCENARIOS)


def _console(*, stderr: bool = False) -> Console:
    """Wide enough for the table where the output is no terminal."""
    console = Console(stderr=stderr)
    return console if console.is_terminal else Console(stderr=stderr, width=140)


def _commands(only: str, console: Console) -> dict[str, Commands]:
    """What to run for each peer that was asked for and can be had; a word on any other."""
    wanted = [name.strip() for name in only.split(",") if name.strip()]
    unknown = set(wanted) - {peer.name for peer in PEERS}
    if unknown:
        raise typer.BadParameter(f"no such peer: {', '.join(sorted(unknown))}; there are {PEER_NAMES}")
    commands = {}
    for peer in PEERS:
        if wanted and peer.name not in wanted:
            continue
        try:
            commands[peer.name] = peer.commands()
        except UnavailableError as reason:
            console.print(f"{peer.name} is left out: {reason}", style="yellow")
    return commands


def _measure_rounds(commands: dict[str, Commands], plan: Plan, count: int, console: Console) -> report.Rounds:
    rounds: report.Rounds = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=count * len(commands) * len(plan.scenarios))
        begun = 0
        for which in range(count):
            entry = {}
            for at, (name, command) in enumerate(commands.items()):

                def show(scenario: Scenario, where: str = f"round {which + 1}/{count} · {name}") -> None:
                    nonlocal begun
                    progress.update(task, completed=begun, description=f"{where} · {scenario.title}")
                    begun += 1

                entry[name] = measure(command, plan, show, ours=name == OURS)
                begun = (which * len(commands) + at + 1) * len(plan.scenarios)
                progress.update(task, completed=begun)
            rounds.append(entry)
    return rounds


def run(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; each starts every peer afresh.")] = 3,
    seconds: Annotated[
        float, typer.Option(min=0.01, help="Measured time of each scenario, in seconds.")
    ] = 0.7,
    warm_up: Annotated[float, typer.Option(min=0, help="Seconds before each measurement.")] = 0.15,
    only: Annotated[str, typer.Option(help=f"Peers, comma-separated: {PEER_NAMES}.")] = "",
    scenarios: Annotated[str, typer.Option(help=f"Name prefixes, comma-separated: {SCENARIO_NAMES}.")] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write all rounds here, as JSON.")] = None,
) -> None:
    """Drive mockbroker, librdkafka's mock and kfake with one client, and compare them."""
    console, progress_console = _console(), _console(stderr=True)
    plan = Plan(seconds, warm_up, choose(scenarios))
    if not plan.scenarios:
        raise typer.BadParameter(f"no scenario begins with {scenarios!r}; there are {SCENARIO_NAMES}")
    commands = _commands(only, progress_console)
    if not commands:
        raise typer.Exit(1)
    measured = _measure_rounds(commands, plan, rounds, progress_console)
    if json_file:
        machine = {
            "platform": platform.platform(),
            "python": platform.python_version(),
            "cpus": os.cpu_count(),
        }
        settings = {"seconds": seconds, "warm_up": warm_up, "machine": machine}
        entries = [{name: asdict(peer) for name, peer in entry.items()} for entry in measured]
        json_file.write_text(json.dumps({**settings, "rounds": entries}, indent=1) + "\n")
    console.print(report.table(measured, plan.scenarios))
    for note in report.notes(measured, plan.scenarios):
        console.print(note, style="dim", highlight=False)
    errors = report.errors(measured, plan.scenarios)
    for error in errors:
        console.print(f"ERR {error}", style="red", markup=False, highlight=False)
    if errors:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(run)

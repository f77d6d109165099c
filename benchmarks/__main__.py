"""`python -m benchmarks`: measure mockbroker and other mocks, each round fresh and in turn."""

from __future__ import annotations

import json
import os
import platform
import resource
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks import inside, report
from benchmarks.peers import BEFORE, OURS, PEERS, Commands, UnavailableError, mockbroker
from benchmarks.rounds import Plan, measure_round
from benchmarks.scenarios import SCENARIOS, choose
from benchmarks.trees import NotATreeError, Tree

PEER_NAMES = ", ".join(peer.name for peer in PEERS)
SCENARIO_NAMES = ", ".join([*(each.name for each in SCENARIOS), *(row.name for row in inside.ROWS)])


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
        if peer.name not in wanted if wanted else not peer.usual:
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
        task = progress.add_task("", total=count)
        for which in range(count):

            def show(name: str, title: str, round_: str = f"round {which + 1}/{count}") -> None:
                progress.update(task, description=f"{round_} · {name} · {title}")

            rounds.append(measure_round(which, commands, plan, show))
            progress.advance(task)
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
    against: Annotated[
        Path | None,
        typer.Option(
            help="Another checkout of mockbroker, to compare with in place of other mocks. "
            "Exit status 1 where CPU time or memory is worse.",
            exists=True,
            file_okay=False,
            resolve_path=True,
        ),
    ] = None,
) -> None:
    """Drive mockbroker, librdkafka's mock and kfake with one client, and compare them."""
    console, progress_console = _console(), _console(stderr=True)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    chosen = choose(scenarios)
    if against is not None and not scenarios:
        chosen = [scenario for scenario in chosen if not scenario.only_ours]
    plan = Plan(seconds, warm_up, chosen, inside.choose(scenarios))
    if not plan.size:
        raise typer.BadParameter(f"no scenario begins with {scenarios!r}; there are {SCENARIO_NAMES}")
    commands = _commands(only or OURS * (against is not None), progress_console)
    if against is not None:
        commands[BEFORE] = _before(Tree(against))
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
        entries = [{name: peer.row() for name, peer in entry.items()} for entry in measured]
        json_file.write_text(json.dumps({**settings, "rounds": entries}, indent=1) + "\n")
    console.print(report.table(measured, plan.scenarios))
    for note in report.notes(measured, plan.scenarios):
        console.print(note, style="dim", highlight=False)
    errors = report.errors(measured, plan.scenarios)
    for error in errors:
        console.print(f"ERR {error}", style="red", markup=False, highlight=False)
    slower = _tell_worse(measured, plan, console) if OURS in commands and BEFORE in commands else False
    if errors or slower:
        raise typer.Exit(1)


def _before(tree: Tree) -> Commands:
    try:
        tree.check()
    except NotATreeError as reason:
        raise typer.BadParameter(str(reason)) from None
    return mockbroker(tree)


def _tell_worse(measured: report.Rounds, plan: Plan, console: Console) -> bool:
    """Whether a row that the machine's other work hardly touches is worse than before."""
    by_clock = report.worse(measured, plan.scenarios, steady=False)
    found = report.worse(measured, plan.scenarios, steady=True)
    for what, rows in (
        ("the wall clock, which other work on the machine changes", by_clock),
        ("CPU time or memory", found),
    ):
        said = "".join(f"\n  {row}" for row in rows) or " none"
        told = f"below {report.LEAST} of before by {what}:{said}"
        console.print(told, highlight=False, markup=False, soft_wrap=True)
    return bool(found)


if __name__ == "__main__":
    typer.run(run)

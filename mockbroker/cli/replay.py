"""`mockbroker replay`: runs a history from a file again, and prints it line by line."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from ..nearest import nearest
from ..plan_files import PlanError
from ..policies import fixes
from ..simulation.checking import check
from ..simulation.consumer_setting import Commit
from ..simulation.history import History, happen
from ..simulation.invariants import INVARIANTS
from ..simulation.ledger import Violation
from ..simulation.plan import Plan
from ..simulation.tracing import watch
from ..trace.files import JsonLines

_WIDTH: Final = 10


def run(
    path: Path,
    *,
    kafka: str | None,
    policies: Mapping[str, str],
    fixed: bool,
    commit: str | None,
    trace: Path | None,
    clients: Sequence[str],
) -> bool:
    """Prints the timeline, and returns whether an invariant was violated. ValueError, OSError,
    BuildError, DriverFailedError."""
    if clients and trace is not None:
        raise ValueError("--trace is written by the simulator only: it can't be combined with --client")
    plan = _changed(read_plan(path), kafka, policies, fixed, commit)
    console = Console(emoji=False, soft_wrap=True, highlight=False)
    commands = _commands(clients)
    _tell(console, plan.in_words)
    if commands:
        return _play(console, plan, commands)
    history = simulate(plan, trace)
    for line in history.lines:
        _tell_line(console, *line)
    return _tell_verdict(console, history.violations)


def _commands(clients: Sequence[str]) -> list[Sequence[str]]:
    """The commands of these clients' drivers."""
    from ..clients.drivers import command_for

    with Console(emoji=False, stderr=True).status("building drivers"):
        return [command_for(each) for each in clients]


def _play(console: Console, plan: Plan, commands: Sequence[Sequence[str]]) -> bool:
    """Replays with one client after the other."""
    from ..clients import replay as real

    simulated = _names(happen(plan).violations)
    violated = False
    for command in commands:
        with real.open_client(command) as client:
            for missing in real.missing(plan, client):
                _tell(console, f"{client.name}: {missing}", "yellow")
            replayed = real.play(plan, client, lambda *line: _tell_line(console, *line))
            for line in client.driver.left_out.lines(client.name):
                _tell(console, line, "yellow")
        _tell(console, f"in the simulator: {', '.join(simulated) or 'no invariant'} violated")
        found = _names(replayed.violations)
        violated = violated or bool(found)
        if shared := [each for each in found if each in simulated]:
            _tell(console, f"{client.name} violates too: {', '.join(shared)}", "bold red")
        elif simulated:
            _tell(console, f"{client.name} does not violate it", "green")
        if others := [each for each in found if each not in simulated]:
            _tell(console, f"{client.name} violates in addition: {', '.join(others)}", "bold red")
    return violated


def read_plan(path: Path) -> Plan:
    try:
        return check(Plan.from_json(path.read_text()))
    except ValueError as error:
        raise PlanError(f"{path}: {error}") from None


def _changed(
    plan: Plan, kafka: str | None, policies: Mapping[str, str], fixed: bool, commit: str | None
) -> Plan:
    """The plan, in which options of the command line replace what the file says."""
    answers = {**plan.policies, **(fixes() if fixed else {}), **policies}
    consumer = plan.consumer if commit is None else replace(plan.consumer, commit=_strategy(commit))
    return check(replace(plan, kafka=kafka or plan.kafka, policies=answers, consumer=consumer))


def _strategy(name: str) -> Commit:
    try:
        return Commit(name)
    except ValueError:
        raise ValueError(f"--commit {name!r} is not known{nearest(name, [*Commit])}") from None


def simulate(plan: Plan, trace: Path | None) -> History:
    if trace is None:
        return happen(plan, recording=True)
    with trace.open("w") as file:
        lines = JsonLines(file)
        return happen(plan, recording=True, watch=lambda world: watch(world, lines))


def _tell_line(console: Console, at_ms: int, who: str, what: str) -> None:
    violates = what.partition(":")[0] in INVARIANTS
    style = "bold red" if violates else "dim" if who == "cluster" else ""
    _tell(console, f"{at_ms / 1000:8.3f} s  {who:{_WIDTH}}  {what}", style)


def _tell_verdict(console: Console, violations: Iterable[Violation]) -> bool:
    names = _names(violations)
    if names:
        _tell(console, f"violated: {', '.join(names)}", "bold red")
    else:
        _tell(console, "no invariant is violated", "green")
    return bool(names)


def _names(violations: Iterable[Violation]) -> list[str]:
    """The names of the invariants, each once."""
    return list(dict.fromkeys(each.invariant for each in violations))


def _tell(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style))

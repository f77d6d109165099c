"""`mockbroker replay`: a history from a file, once more and line by line."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from ..policies import fixes
from ..simulation.checking import check
from ..simulation.history import History, happen
from ..simulation.ledger import Violation
from ..simulation.plan import Plan, PlanError
from ..simulation.tracing import watch
from ..trace.files import JsonLines

_WIDTH: Final = 10


def run(
    path: Path, *, kafka: str | None, policies: Mapping[str, str], fixed: bool, trace: Path | None
) -> bool:
    """Prints the timeline; whether an invariant was violated. ValueError, OSError."""
    plan = _changed(_read(path), kafka, policies, fixed)
    console = Console(soft_wrap=True, highlight=False)
    _tell(console, _setting(plan))
    history = _simulate(plan, trace)
    _tell_lines(console, history.lines, history.violations)
    return _tell_verdict(console, history.violations)


def _read(path: Path) -> Plan:
    try:
        return check(Plan.from_json(path.read_text()))
    except ValueError as error:
        raise PlanError(f"{path}: {error}") from None


def _changed(plan: Plan, kafka: str | None, policies: Mapping[str, str], fixed: bool) -> Plan:
    """With what the command line says in place of what the file says."""
    answers = {**plan.policies, **(fixes() if fixed else {}), **policies}
    return check(replace(plan, kafka=kafka or plan.kafka, policies=answers))


def _simulate(plan: Plan, trace: Path | None) -> History:
    if trace is None:
        return happen(plan, recording=True)
    with trace.open("w") as file:
        lines = JsonLines(file)
        return happen(plan, recording=True, watch=lambda world: watch(world, lines))


def _setting(plan: Plan) -> str:
    producers = ", ".join(f"{each.generation} acks={each.acks}" for each in plan.producers)
    policies = "".join(f" {name}={answer}" for name, answer in plan.policies.items())
    return (
        f"seed {plan.seed}, Kafka {plan.kafka}{policies}\n"
        f"consumers commit {plan.consumer.commit}, reset to {plan.consumer.reset}; producer {producers}; "
        f"min.insync.replicas {plan.min_insync}{', unclean elections' * plan.unclean}"
    )


def _tell_lines(
    console: Console, lines: Iterable[tuple[int, str, str]], violations: Iterable[Violation]
) -> None:
    violating = {f"{each.invariant}: {each.text}" for each in violations}
    for at_ms, who, what in lines:
        style = "bold red" if what in violating else "dim" if who == "cluster" else ""
        _tell(console, f"{at_ms / 1000:8.3f} s  {who:{_WIDTH}}  {what}", style)


def _tell_verdict(console: Console, violations: Iterable[Violation]) -> bool:
    names = list(dict.fromkeys(each.invariant for each in violations))
    if names:
        _tell(console, f"violated: {', '.join(names)}", "bold red")
    else:
        _tell(console, "no invariant is violated", "green")
    return bool(names)


def _tell(console: Console, text: str, style: str = "") -> None:
    console.print(Text(text, style))

"""A scenario that is played elsewhere than on a mock of its own."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..faults import Fault, FaultError
from .document import Document
from .scenario import Action, Scenario, fault_in, meant, of

_DECIDES: Final = ("policies", "fixed")
"""Without them clients would meet something else."""


@dataclass(frozen=True)
class Stage:
    """Where it is played. `operations` are those that there are, `refused` says why there is no other one,
    and what to do; `decides` says the same of a mock's behaviours. `check` raises FaultError for a fault that
    can't be brought about."""

    operations: Collection[str]
    refused: str
    decides: str
    check: Callable[[Fault], None]


def load(path: Path, stage: Stage) -> Scenario:
    """Reads a file. ScenarioError says where it is wrong, or what can't be played there."""
    document = Document(path)
    scenario = of(document)
    for name in _DECIDES:
        if scenario.cluster.get(name):
            raise document.wrong("cluster", None, name, f"{name}: {stage.decides}")
    for index, fault in enumerate(scenario.faults):
        _check(document, "fault", index, fault.given, stage)
    for table, index, action in _actions(scenario):
        if action.operation.name not in stage.operations:
            raise document.wrong(table, index, "do", f"{action.operation.name} {stage.refused}")
        if action.operation.rest is not None:
            _check(document, table, index, action.arguments, stage)
    return scenario


def _actions(scenario: Scenario) -> Iterator[tuple[str, int, Action]]:
    for index, step in enumerate(scenario.steps):
        yield "step", index, step.action
    for index, check in enumerate(scenario.checks):
        yield "check", index, check.action


def _check(document: Document, table: str, index: int, given: Mapping[str, Any], stage: Stage) -> None:
    try:
        stage.check(fault_in(given))
    except FaultError as error:
        raise document.wrong(table, index, meant(error, given), str(error)) from None

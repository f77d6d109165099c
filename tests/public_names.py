"""The names that users write, a line for each: `python -m tests.public_names` keeps them beside itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from typer.main import get_command

import mockbroker
from mockbroker.cli.app import app
from mockbroker.cluster_options import OPTIONS as OF_CLUSTERS
from mockbroker.control.fault_schema import fault_schema
from mockbroker.control.table import OPERATIONS
from mockbroker.policies import CATALOGUE
from mockbroker.proxy_options import OPTIONS as OF_PROXIES
from mockbroker.pytest_plugin import _FIXTURES
from mockbroker.pytest_plugin.options import MARKER, MATRIX, PROXY
from mockbroker.trace.events import KINDS

KEPT: Final = Path(__file__).with_name("public_names.txt")


def names() -> list[str]:
    """Sorted. What has arguments is followed by their names."""
    return sorted({*_python(), *_options(), *_pytest(), *_operations(), *_commands(), *_vocabulary()})


def _python() -> Iterator[str]:
    for name in mockbroker.__all__:
        found = getattr(mockbroker, name)
        yield f"mockbroker.{name}"
        if not inspect.isclass(found) or not found.__module__.startswith("mockbroker"):
            continue
        for own, member in inspect.getmembers(found):
            if own.startswith("_") or hasattr(Exception, own):
                continue
            yield f"mockbroker.{name}.{own}{_arguments(member)}"


def _arguments(member: Any) -> str:
    if not inspect.isroutine(member):
        return ""
    try:
        parameters = inspect.signature(member).parameters
    except ValueError:  # one that is written in C
        return "()"
    return f"({', '.join(each for each in parameters if each not in ('self', 'cls'))})"


def _options() -> Iterator[str]:
    yield from (f"option of clusters: {name}" for name in OF_CLUSTERS)
    yield from (f"option of proxies: {name}" for name in OF_PROXIES)


def _pytest() -> Iterator[str]:
    yield from (f"marker: {name}" for name in (MARKER, MATRIX, PROXY))
    yield from (f"fixture: {name}" for name in _FIXTURES)


def _operations() -> Iterator[str]:
    for name, each in OPERATIONS.items():
        arguments = ", ".join(sorted(name for name, one in each.parameters.items() if not one.rest))
        yield f"operation: {name} = {each.method} {each.path} ({arguments})"


def _commands() -> Iterator[str]:
    return _of_command(get_command(app), "mockbroker")


def _of_command(command: Any, path: str) -> Iterator[str]:
    yield f"command: {path}"
    for each in command.params:
        yield from (f"command: {path} {option}" for option in (*each.opts, *each.secondary_opts))
    for name, each in getattr(command, "commands", {}).items():
        yield from _of_command(each, f"{path} {name}")


def _vocabulary() -> Iterator[str]:
    schema = fault_schema()
    yield from (f"field of faults: {name}" for name in schema["properties"])
    for action in schema["oneOf"]:
        own = sorted(name for name in action["properties"] if name not in ("do", "when"))
        yield f"fault: {action['title']} ({', '.join(own)})"
    for behaviour in CATALOGUE.values():
        yield from (f"behaviour: {behaviour.name}={answer}" for answer in behaviour.answers)
    yield from (f"event of a trace: {kind}" for kind in KINDS)


if __name__ == "__main__":
    KEPT.write_text("\n".join(names()) + "\n")

"""The pages of `docs/reference/` on the control API and on traces."""

import inspect
from collections.abc import Iterator
from dataclasses import fields
from itertools import groupby

from mockbroker.control.registry import Operation
from mockbroker.control.table import OPERATIONS
from mockbroker.trace.events import KINDS, SCHEMA_VERSION
from mockbroker.trace.files import AS_JSON, COLUMNS

_CONTROL = """
Every operation, over HTTP and as `mockbroker ctl NAME`. Arguments are in the path, else in the query of a GET
or DELETE, or in a body of JSON; those in brackets may be left out. `GET /openapi.json` has the same for
programs, with the types of arguments and answers. [Control from any language](../control.md) has examples.
""".strip().splitlines()
_TRACE = f"""
The kinds of events, and their fields in files (schema version {SCHEMA_VERSION}). Each has `kind`, `number`,
which counts all events of a cluster from 1, and `time_ms`, Unix time in ms by the cluster's clock. Columns of
any shape are text with JSON in Parquet. See [what happened](../trace.md).
""".strip().splitlines()
_OF_ALL = ("number", "time_ms")


def control() -> Iterator[str]:
    yield "# Control API\n"
    yield from _CONTROL
    for noun, operations in groupby(sorted(OPERATIONS.values(), key=_noun), _noun):
        yield f"\n## {noun.capitalize()}\n"
        yield "| `ctl` | over HTTP | arguments | |"
        yield "|---|---|---|---|"
        for each in operations:
            yield f"| `{each.name}` | `{each.method} {each.path}` | {_arguments(each)} | {_sentence(each)} |"


def _noun(operation: Operation) -> str:
    return operation.name.partition(" ")[0]


def _sentence(operation: Operation) -> str:
    paragraph = " ".join(operation.description.partition("\n\n")[0].split())
    return f"{paragraph.partition('. ')[0].removesuffix('.')}."


def _arguments(operation: Operation) -> str:
    arguments = []
    for each in operation.parameters.values():
        name = "fields" if each.rest else each.name
        help_ = each.described.help
        shown = f"`{name}`" if each.required else f"[`{name}`]"
        arguments.append(f"{shown}: {help_}" if help_ else shown)
    return "<br>".join(arguments) or "–"


def trace() -> Iterator[str]:
    yield "# Events of a trace\n"
    yield from _TRACE
    for kind, event in sorted(KINDS.items()):
        yield f"\n## `{kind}`\n"
        yield inspect.cleandoc(event.__doc__ or "")
        yield "\n| field | type |"
        yield "|---|---|"
        for each in fields(event):
            if each.name not in _OF_ALL:
                type_ = "any" if each.name in AS_JSON else COLUMNS[each.name]
                yield f"| `{each.name}` | {type_.replace('<', ' of ').replace('>', '')} |"

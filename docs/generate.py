"""Writes `docs/reference/` and other pages from the code: `make docs`. A test fails when one is stale."""

import dataclasses
import enum
import inspect
import itertools
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from typer import Typer
from typer.main import get_command
from typer.testing import CliRunner

from mockbroker.cli.app import app
from mockbroker.cli.ctl import app as ctl
from mockbroker.cli.policies import spans
from mockbroker.conformance.commands import app as conformance
from mockbroker.control.table import OPERATIONS
from mockbroker.faults.actions import ACTIONS
from mockbroker.faults.legal import legal_codes, shown_versions, source
from mockbroker.faults.match import api_name
from mockbroker.pipeline.signatures import signatures
from mockbroker.pipeline.symptoms import KINDS
from mockbroker.policies import CATALOGUE, Behaviour, module_of
from mockbroker.protocol.api_keys import CODEC_VERSIONS
from mockbroker.protocol.releases import NEWEST, facts, names, parse
from mockbroker.simulation.consumer_setting import Commit
from mockbroker.simulation.invariants import INVARIANTS
from mockbroker.simulation.producer_setting import Generation
from mockbroker.simulation.steps import STEPS

from . import apis, hunted, interfaces, questions, recorded, trust
from .log_lines.catalogue import page as log_lines
from .names import main as write_names

_DOCS: Final = Path(__file__).parent
REFERENCE: Final = _DOCS / "reference"
_RELEASES = names()


def _policies() -> Iterator[str]:
    yield "# Behaviours\n"
    yield "Each behaviour is a question that a broker has to answer, with named answers. `--kafka` chooses"
    yield f"the answers of a release ({NEWEST} by default), and `--policy NAME=ANSWER` overrides one. If"
    yield "there is a proposed fix, it is in bold. Answers that no release gave are available *only by"
    yield "choice*. Known bugs that can't be chosen as behaviours are listed in"
    yield "[left-out.md](../left-out.md).\n"
    yield "A release stands for one patch of it, nearly always its last, with everything fixed by then:"
    yield from textwrap.wrap(", ".join(facts(parse(each)).measured_on for each in _RELEASES) + ".", 105)
    for behaviour in CATALOGUE.values():
        yield f"\n## {behaviour.name}\n"
        ids = f" ({', '.join(behaviour.ids)})" if behaviour.ids else ""
        yield f"{behaviour.summary[0].upper()}{behaviour.summary[1:]}{ids}.\n"
        yield from _explained(behaviour)
        yield "| answer | releases |"
        yield "|---|---|"
        for answer in behaviour.answers:
            name = f"**`{answer}`**" if answer == behaviour.fixed else f"`{answer}`"
            yield f"| {name} | {spans(behaviour, answer) or 'only by choice'} |"
        yield from _own(behaviour)


def _own(behaviour: Behaviour[Any]) -> Iterator[str]:
    """What a user's own answer takes and gives, from the docstring of the type of answers."""
    source = inspect.getsource(module_of(behaviour))
    found = re.search(r'^Answer = Callable.*\n"""(.*?)\.?"""', source, re.MULTILINE | re.DOTALL)
    if found:
        text = " ".join(found[1].split())
        yield ""
        yield from textwrap.wrap(f"[An answer of your own](../own-policies.md) takes and gives: {text}.", 105)


def _explained(behaviour: Behaviour[Any]) -> Iterator[str]:
    """What a client sees, as the behaviour's module has it."""
    for paragraph in inspect.cleandoc(module_of(behaviour).__doc__ or "").split("\n\n")[1:]:
        yield paragraph
        yield ""


def _faults() -> Iterator[str]:
    yield "# What a fault does\n"
    yield "Each fault with its fields, besides those that select [requests](../faults.md#which-requests), and"
    yield "with `when` it may happen, the default first."
    for name, action in sorted(ACTIONS.items()):
        yield f"\n## {name}\n"
        yield inspect.cleandoc(action.__doc__ or "")
        if action.unlike:
            yield ""
            yield from textwrap.wrap(f"No real broker does so: {action.unlike}.", 105)
        yield f"\n`when`: {', '.join(action.when)}."
        for field in dataclasses.fields(action):
            default = "" if field.default is dataclasses.MISSING else f", {field.default!r} if left out"
            if field.init:
                kind = getattr(field.type, "__name__", field.type)
                help_text = f" {field.metadata['help']}" if "help" in field.metadata else ""
                yield f"`{field.name.rstrip('_')}`: {kind}{default}.{help_text}"


def _error_codes() -> Iterator[str]:
    yield "# Which error codes a broker answers\n"
    yield "By API, and by the place in the answer. Those in **bold** say that the client should try again,"
    yield "perhaps after it has looked up a leader or a coordinator, or has joined its group again."
    yield "UNKNOWN_SERVER_ERROR may be anywhere. A [fault](../faults.md#what-no-broker-answers) may answer"
    yield "other codes, and says so."
    for api, (oldest, newest) in CODEC_VERSIONS.items():
        yield f"\n## {api_name(api)}\n"
        for level, codes in itertools.groupby(legal_codes(api), key=lambda each: each.level):
            shown = []
            for each in codes:
                name = f"**{each.code.name}**" if each.retry else each.code.name
                whole = (each.oldest, each.newest) == (oldest, newest)
                shown.append(name if whole else f"{name} ({shown_versions(each)})")
            yield from textwrap.wrap(f"- {level}: {', '.join(shown)}", 110, subsequent_indent="  ")
        yield ""
        yield from textwrap.wrap(f"Source: {source(api)}.", 110)


def _simulation() -> Iterator[str]:
    yield "# What a history is made of\n"
    yield "The larger a step's weight, the more often it is drawn. Steps without a weight are drawn in"
    yield "another way, or undo a step that was drawn.\n"
    yield "| step | weight | what happens |"
    yield "|---|--:|---|"
    for name, kind in STEPS.items():
        undone = f" `{kind.then}` {kind.follow_ms[0]} to {kind.follow_ms[1]} ms later." if kind.then else ""
        yield f"| `{name}` | {kind.weight or ''} | {kind.help}{undone} |"
    yield "\n| invariant | what it says |"
    yield "|---|---|"
    for name, says in INVARIANTS.items():
        yield f"| `{name}` | {says} |"
    for option, choices in (("commit", Commit), ("producer", Generation)):
        yield f"\n| `--{option}` | what it is |"
        yield "|---|---|"
        for choice, text in _described(choices):
            yield f"| `{choice}` | {text} |"


def _findings() -> Iterator[str]:
    yield "# What analyze finds"
    yield ""
    yield "[`mockbroker analyze`](../analyze.md) finds these."
    yield ""
    yield "| finding | what | known as |"
    yield "|---|---|---|"
    for each in signatures():
        yield f"| {_named(each.names)} | {each.what} | {each.known_as} |"
    yield ""
    yield "It tells these [symptoms](../analyze.md#symptoms) too, whether a finding explains them or not."
    yield ""
    yield "| symptom | what |"
    yield "|---|---|"
    for kind in KINDS:
        yield f"| `{kind.name}` | {kind.what} |"
    yield ""
    yield "[`mockbroker reproduce`](../reproduce.md) shows findings again, in files that fail with one thing"
    yield "and pass with another. The name is that of what an incident began with."
    yield ""
    yield "| finding | fails with | passes with |"
    yield "|---|---|---|"
    for each in signatures():
        for shown in each.reproductions:
            when = f", {shown.when}" if shown.when else ""
            yield f"| {_named(shown.names)}{when} | {shown.fails} | {shown.passes} |"

    yield ""
    yield "It can't show these, and says why."
    yield ""
    yield "| finding | why |"
    yield "|---|---|"
    for each in signatures():
        if each.unshown:
            yield f"| {_named(each.names)} | {each.unshown} |"


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _described(choices: type[enum.StrEnum]) -> Iterator[tuple[str, str]]:
    """Each member's value and the text below it in the source."""
    source = inspect.getsource(choices)
    for member in choices:
        found = re.search(rf'^    {member.name} = [^\n]*\n    """(.*?)"""', source, re.MULTILINE | re.DOTALL)
        yield member.value, " ".join(found[1].split()) if found else ""


def _command_line() -> Iterator[str]:
    yield "# Command line"
    for command in ("", *sorted(getattr(get_command(app), "commands", {}))):
        yield ""
        yield f"## mockbroker {command}".rstrip()
        yield ""
        yield from _help(app, "mockbroker", command)
    for command in (str(each.name) for each in conformance.registered_commands):
        yield f"\n## mockbroker conformance {command}\n"
        yield from _help(conformance, "mockbroker conformance", command)
    for group in (each.name for each in ctl.registered_groups):
        yield f"\n## mockbroker ctl {group}"
        for operation in (each for each in OPERATIONS.values() if each.name.split(" ")[0] == group):
            yield f"\n`{operation.method} {operation.path}`\n"
            yield from _help(ctl, "mockbroker ctl", operation.name)


def _help(app: Typer, program: str, command: str) -> Iterator[str]:
    runner = CliRunner(env={"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"})
    help_text = runner.invoke(app, [*command.split(), "--help"], prog_name=program).output
    yield "```"
    yield from (line.rstrip() for line in help_text.strip().splitlines())
    yield "```"


PAGES: Final[Mapping[str, Callable[[], Iterator[str]]]] = {
    "reference/apis.md": apis.page,
    "reference/policies.md": _policies,
    "reference/error-codes.md": _error_codes,
    "reference/faults.md": _faults,
    "reference/findings.md": _findings,
    "reference/simulation.md": _simulation,
    "reference/command-line.md": _command_line,
    "reference/control.md": interfaces.control,
    "reference/trace.md": interfaces.trace,
    "reference/questions.md": questions.page,
    "reference/log-lines.md": log_lines,
    "results/hunt.md": hunted.page,
    "results/incidents.md": recorded.page,
    "trust.md": trust.page,
}
"""The lines of each page, by its path in `docs/`."""


def text(name: str) -> str:
    return "\n".join(PAGES[name]()) + "\n"


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name in PAGES:
        (_DOCS / name).write_text(text(name))
        sys.stdout.write(f"docs/{name}\n")
    write_names()
    sys.stdout.write("mockbroker/names.py\n")


if __name__ == "__main__":
    main()

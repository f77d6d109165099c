"""`mockbroker ctl`: a command for each operation, over the control API."""

import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, Final

import typer

from ..control.client import ControlClient, OperationError, UnreachableError
from ..control.registry import Operation, Parameter
from ..control.schema import describe, read
from ..control.table import OPERATIONS, find
from ..policies import scope
from ..shown import shown
from ..tokens import VARIABLE as TOKEN
from .given import fields

VARIABLE: Final = "MOCKBROKER_CONTROL"
_TITLES: Final = {
    "cluster": "The cluster as a whole.",
    "brokers": "Brokers: stop, kill, start, cut off.",
    "partitions": "Partitions: leaders and replicas.",
    "followers": "Followers of a partition: pause, slow, resume, fail.",
    "groups": "Consumer groups.",
    "transactions": "Transactional ids.",
    "policies": "Behaviours: which answer is in force.",
    "faults": "Faults: what goes wrong with requests.",
    "clock": "The clock: what time it is, and moving it ahead.",
    "trace": "The trace: what happened.",
}

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Control a running cluster (`mockbroker serve --control 0` prints its address).",
)


@app.callback()
def ctl(
    context: typer.Context,
    url: Annotated[str | None, typer.Option(help=f"Its control address; else that in {VARIABLE}.")] = None,
    token: Annotated[
        str | None, typer.Option(help=f"Its control token, if it asks for one; else that in {TOKEN}.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
) -> None:
    """Control a running cluster (`mockbroker serve --control 0` prints its address)."""
    context.obj = (url or os.environ.get(VARIABLE), token or os.environ.get(TOKEN), as_json)


def run(arguments: list[str]) -> None:
    """Does what the command line says, and exits: 1 if the cluster refused, 2 if it can't be asked."""
    app(arguments, prog_name="mockbroker ctl")


def _set_policies(
    context: typer.Context,
    assignments: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=ANSWER",
            help="Everywhere, or where NAME@topic:T=ANSWER, NAME@broker:ID=ANSWER or both say.",
        ),
    ],
) -> None:
    """Gives behaviours other answers, from the next request on."""

    def one(text: str) -> dict[str, Any]:
        where, equals, answer = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r}: write it as NAME=ANSWER")
        name, place = scope.parse(where)
        return {"name": name, "answer": answer, **place._asdict()}

    _ask(context, "policies set", lambda: [one(text) for text in assignments])


def _command(operation: Operation) -> Callable[..., None]:
    """A function with the operation's parameters, for typer to read."""
    own = list(operation.parameters.values())

    def command(context: typer.Context, **values: Any) -> None:
        def given() -> list[dict[str, Any]]:
            found = {
                each.name: read(each.annotation, values[each.keyword], text=True)
                for each in own
                if not each.rest and values[each.keyword] not in (None, [])
            }
            if operation.rest is not None:
                found |= fields(values[operation.rest.keyword] or [])
            return [found]

        _ask(context, operation.name, given)

    shown = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    shown += [_shown(each) for each in own]
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in shown}
    command.__doc__ = operation.description
    return command


def _shown(parameter: Parameter) -> inspect.Parameter:
    """What is needed is an argument, the rest are FIELD=VALUE arguments, and all others options."""
    kind, _, text = describe(parameter.annotation)
    told: Any
    default: Any = inspect.Parameter.empty
    if parameter.rest:
        kind, default = list[str] | None, None
        told = typer.Argument(metavar="[FIELD=VALUE]", help=text)
    elif parameter.required:
        told = typer.Argument(help=text, show_default=False)
    else:
        default = parameter.default
        kind = (list[str] if kind not in (int, float, str, bool) else kind) | None
        told = typer.Option(f"--{parameter.name.replace('_', '-')}", help=text)
    return inspect.Parameter(
        parameter.keyword, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, told]
    )


def _ask(context: typer.Context, name: str, given: Callable[[], list[dict[str, Any]]]) -> None:
    url, token, as_json = context.obj
    try:
        if not url:
            raise ValueError(
                f"which cluster? Give --url or set {VARIABLE}: `mockbroker serve --control 0` prints it"
            )
        client = ControlClient(url, token or None)
        for arguments in given():
            show(client.do(find(name), arguments), as_json=as_json)
    except OperationError as error:
        typer.echo(f"mockbroker ctl: {error}", err=True)
        raise typer.Exit(1) from None
    except (UnreachableError, ValueError) as error:
        typer.echo(f"mockbroker ctl: {error}", err=True)
        raise typer.Exit(2) from None


def show(answer: Any, *, as_json: bool) -> None:
    """Prints an answer: as JSON, or as tables."""
    if as_json:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False, emoji=False)
    rows = answer if isinstance(answer, list) else [answer]
    if not rows:
        console.print("none")
        return
    table = Table()
    for column in rows[0] if isinstance(answer, list) else ("", ""):
        table.add_column(column, overflow="fold")
    if isinstance(answer, list):
        for row in rows:
            table.add_row(*map(_cell, row.values()))
    else:
        table.show_header = False
        for name, value in answer.items():
            table.add_row(name, _cell(value))
    console.print(table)


def _cell(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "\n".join(" ".join(_cell(each) for each in row.values()) for row in value)
    if value is None or isinstance(value, str):
        return shown(value or "")
    return json.dumps(value)


def _add_commands() -> None:
    groups: dict[str, typer.Typer] = {}
    for operation in OPERATIONS.values():
        group, verb = operation.name.split(" ")
        if group not in groups:
            groups[group] = typer.Typer(no_args_is_help=True, help=_TITLES[group])
            app.add_typer(groups[group], name=group)
        command = _set_policies if operation.name == "policies set" else _command(operation)
        groups[group].command(verb)(command)


_add_commands()

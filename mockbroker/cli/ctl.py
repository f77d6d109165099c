"""`mockbroker ctl`: a command for each operation, over the control API."""

import inspect
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal, get_origin

import typer

from ..control.client import ControlClient, OperationError, UnreachableError
from ..control.registry import Operation, Parameter
from ..control.schema import describe, read
from ..control.table import OPERATIONS, find
from ..policies import scope
from ..tokens import VARIABLE as TOKEN
from . import completion, tables
from .given import fields

VARIABLE: Final = "MOCKBROKER_CONTROL"
_TITLES: Final = {
    "cluster": "The cluster as a whole.",
    "brokers": "Brokers: stop, kill, start, cut off.",
    "listeners": "Listeners of brokers: list, close, open.",
    "clients": "Clients: what they have to be configured with.",
    "topics": "Topics: list, create, delete.",
    "records": "Records: list, batch, produce, delete.",
    "partitions": "Partitions: leaders and replicas.",
    "followers": "Followers of a partition: pause, slow, resume, fail.",
    "groups": "Groups: their members, committed offsets and coordinator.",
    "hints": "Why a client gets nothing.",
    "transactions": "Transactional ids and their transactions.",
    "telemetry": "Metrics that clients push.",
    "acls": "Who may do what.",
    "users": "Users who log in with passwords.",
    "tokens": "Tokens with which clients log in by OAUTHBEARER.",
    "certificates": "What brokers show to clients that connect by TLS.",
    "handshakes": "TLS handshakes that go wrong.",
    "policies": "Behaviours: which answer is in force.",
    "faults": "Faults: what goes wrong with requests.",
    "clock": "The clock: show it, and move it ahead.",
    "trace": "The trace: what happened.",
}

_URL_HELP: Final = f"The cluster's control address; if not given, that in {VARIABLE}."
_TOKEN_HELP: Final = f"The cluster's control token, if it requires one; if not given, that in {TOKEN}."
# Each command takes these options after its name too, because people write them there.
_Url = Annotated[str | None, typer.Option("--url", help=_URL_HELP, hidden=True)]
_Token = Annotated[str | None, typer.Option("--token", help=_TOKEN_HELP, hidden=True)]
_Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
_Own = tuple[str | None, str | None, bool]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Control a running cluster (`mockbroker serve --control 0` prints its address).",
    epilog="For example: mockbroker ctl --url http://127.0.0.1:PORT brokers stop 1. `mockbroker ctl brokers` "
    "lists what can be done to brokers.",
)


@app.callback()
def ctl(
    context: typer.Context,
    url: Annotated[str | None, typer.Option(help=_URL_HELP)] = None,
    token: Annotated[str | None, typer.Option(help=_TOKEN_HELP)] = None,
    as_json: _Json = False,
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
            autocompletion=completion.policies,
            help="The behaviour and its answer; with NAME@topic:T=ANSWER, NAME@broker:ID=ANSWER or both for "
            "that topic or broker only.",
        ),
    ],
    url: _Url = None,
    token: _Token = None,
    as_json: _Json = False,
) -> None:
    """Gives behaviours other answers, from the next request on."""

    def one(text: str) -> dict[str, Any]:
        where, equals, answer = text.partition("=")
        if not equals:
            raise ValueError(f"{text!r}: write it as NAME=ANSWER")
        name, place = scope.parse(where)
        return {"name": name, "answer": answer, **place._asdict()}

    _ask(context, "policies set", (url, token, as_json), lambda: [one(text) for text in assignments])


def _command(operation: Operation) -> Callable[..., None]:
    """A function with the operation's parameters, for typer to read."""
    own = list(operation.parameters.values())

    def command(
        context: typer.Context, url_: str | None, token_: str | None, json_: bool, **values: Any
    ) -> None:
        def given() -> list[dict[str, Any]]:
            found = {
                each.name: read(each.annotation, values[each.keyword], text=True)
                for each in own
                if not each.rest and values[each.keyword] not in (None, [])
            }
            if operation.rest is not None:
                found |= fields(values[operation.rest.keyword] or [])
            return [found]

        _ask(context, operation.name, (url_, token_, json_), given)

    shown = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    shown += [_shown(each) for each in own]
    shown += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, default, kind in (("url_", None, _Url), ("token_", None, _Token), ("json_", False, _Json))
    ]
    command.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in shown}
    command.__doc__ = operation.description
    return command


def _shown(parameter: Parameter) -> inspect.Parameter:
    """A required parameter becomes an argument, `rest` FIELD=VALUE arguments, and any other an option."""
    kind, _, text = describe(parameter.annotation)
    told: Any
    default: Any = inspect.Parameter.empty
    if parameter.rest:
        kind, default = list[str] | None, None
        told = typer.Argument(metavar="[FIELD=VALUE]", help=text)
    elif parameter.required:
        complete = completion.faults if parameter.name == "do" else None
        told = typer.Argument(help=text, show_default=False, autocompletion=complete)
    else:
        default = parameter.default
        if get_origin(kind) is Literal:
            kind = str
        kind = (list[str] if kind not in (int, float, str, bool) else kind) | None
        told = typer.Option(f"--{parameter.name.replace('_', '-')}", help=text)
    return inspect.Parameter(
        parameter.keyword, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, told]
    )


def _ask(context: typer.Context, name: str, own: _Own, given: Callable[[], list[dict[str, Any]]]) -> None:
    outer: _Own = context.obj
    url, token, as_json = own[0] or outer[0], own[1] or outer[1], own[2] or outer[2]
    try:
        if not url:
            raise ValueError(
                f"which cluster? Give its control address as --url or in {VARIABLE}: "
                "`mockbroker serve --control 0` prints it"
            )
        client = ControlClient(url, token or None)
        for arguments in given():
            show(client.do(find(name), arguments), as_json=as_json, name=name)
    except OperationError as error:
        typer.echo(f"mockbroker ctl: {error}", err=True)
        raise typer.Exit(1) from None
    except (UnreachableError, ValueError) as error:
        typer.echo(f"mockbroker ctl: {error}", err=True)
        raise typer.Exit(2) from None


def show(answer: Any, *, as_json: bool, name: str = "") -> None:
    """Prints the answer of an operation: as JSON, or as text for people to read."""
    if as_json:
        sys.stdout.write(json.dumps(answer, indent=2) + "\n")
        return
    within = tables.width()
    tell: Callable[[Any, int | None], Iterator[str]] = _TOLD.get(name, tables.of_answer)
    tables.write(tell(answer, within))


def _trace(events: list[dict[str, Any]], within: int | None) -> Iterator[str]:
    """One line for each event; on a terminal, long text continues below where it began."""
    if not events:
        yield "none"
        return
    from ..trace.files import event

    rows = []
    for each in events:
        try:
            time, _, told = str(event(dict(each))).partition(" ")
        except (LookupError, TypeError):
            # The cluster may have another version of mockbroker.
            time, told = str(each.get("time_ms")), tables.cell(each)
        rows.append((str(each.get("number")), time, str(each.get("kind")), told))
    number, when, kind = (max(map(len, column)) for column in list(zip(*rows, strict=True))[:3])
    for row in rows:
        yield from tables.fields({f"{row[0]:>{number}}  {row[1]:{when}}  {row[2]:{kind}}": row[3]}, within)


def _policies(states: list[dict[str, Any]], within: int | None) -> Iterator[str]:
    """The answers in force, and those that were chosen; `policies show` has everything about one
    behaviour."""
    rows = []
    for state in states:
        notes = [f"default {state['default']}"] if state["answer"] != state["default"] else []
        notes += [
            " ".join(f"{key} {each[key]}" for key in ("topic", "broker") if each[key] is not None)
            + f": {each['answer']}"
            for each in state["overrides"]
            if each["topic"] is not None or each["broker"] is not None
        ]
        rows.append((state["name"], state["answer"], "; ".join(notes)))
    yield from tables.table(("name", "answer", "chosen"), rows, within)


def _in_flight(places: list[dict[str, Any]], within: int | None) -> Iterator[str]:
    """A row for records of which the same is known, and one for a partition that has none in flight."""
    from datetime import UTC, datetime

    def until(ms: int | None) -> str:
        return "-" if ms is None else f"{datetime.fromtimestamp(ms / 1000, UTC):%H:%M:%S}"

    rows = []
    for each in places:
        start, end = each["start_offset"], each["high_watermark"]
        place = (f"{each['topic']}-{each['partition']}", tables.cell(start), str(end))
        rows += [
            (
                *place,
                f"{one['first']}-{one['last']}" if one["last"] > one["first"] else str(one["first"]),
                one["state"],
                str(one["deliveries"]),
                tables.cell(one["member"]),
                until(one["locked_until_ms"]),
            )
            for one in each["in_flight"]
        ] or [(*place, *"-----")]
    of_records = ("offsets", "state", "deliveries", "member", "until")
    titles = ("partition", "start_offset", "high_watermark", *of_records)
    yield from tables.table(titles, rows, within) if rows else ("none",)


def _settings(settings: dict[str, Any], within: int | None) -> Iterator[str]:
    """As files of properties have them, however long."""
    for name, value in settings.items():
        text = value if isinstance(value, str) else json.dumps(value)
        yield f"{name}={text}".replace("\\", "\\\\")


def _token(issued: dict[str, Any], within: int | None) -> Iterator[str]:
    """For a shell: nothing else."""
    yield issued["token"]


_TOLD: Final[Mapping[str, Callable[[Any, int | None], Iterator[str]]]] = {
    "trace list": _trace,
    "policies list": _policies,
    "clients settings": _settings,
    "groups in-flight": _in_flight,
    "tokens issue": _token,
}
"""Operations whose answers are easier to read in a format of their own."""


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

"""The commands that say what there is: `faults`, `errors`, `doctor`."""

from typing import Annotated

import typer

from ..protocol.releases import NEWEST
from . import completion
from .failing import reported

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def faults(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[NAME]...", autocompletion=completion.faults, help="Show the fields of these faults."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """List what can go wrong; or show the fields of some faults, and an example of each."""
    from .faults import show

    with reported("faults", (ValueError,)):
        show(names or [], as_json=json_)


def errors(
    apis: Annotated[
        list[str] | None, typer.Argument(metavar="[API]...", help="Show only these APIs, such as Fetch.")
    ] = None,
    kafka: Annotated[
        str, typer.Option(autocompletion=completion.releases, help="Release: 0.11 to 4.4.")
    ] = NEWEST,
    json_: Json = False,
) -> None:
    """List the error codes that brokers of a release answer, by API and place in the answer."""
    from .errors import show

    with reported("errors", (ValueError,)):
        show(apis or [], kafka, as_json=json_)


def doctor() -> None:
    """Say what is missing on this machine, what needs it, and how to get it.

    To serve brokers nothing else is needed, so the exit status is 0 whatever is missing.
    """
    from .doctor import show

    show()


def register(app: typer.Typer) -> None:
    app.command(short_help="List what can go wrong: the faults, and their fields.")(faults)
    app.command(short_help="List the error codes that brokers of a release answer.")(errors)
    app.command(short_help="Say what is missing here, what needs it, and how to get it.")(doctor)

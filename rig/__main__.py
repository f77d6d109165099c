"""`python -m mockbroker.rig`: have real brokers tell the stories of a module, or list them.

A module has them in `STORIES`. Needs Java, and Maven for the first run of a release; loopback only.
"""

import importlib
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from .recording import out, record
from .stories import Recordable, chosen

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)

Module = Annotated[str, typer.Argument(metavar="MODULE", help="For instance tests.cluster.controllers.")]


def _stories(module: str) -> Recordable:
    sys.path.insert(0, str(Path.cwd()))
    try:
        stories: Recordable = importlib.import_module(module).STORIES
    except (ImportError, AttributeError) as error:
        raise typer.BadParameter(f"{module} has no stories: {error}") from None
    return stories


@app.command("list")
def list_command(module: Module) -> None:
    """List the stories of a module."""
    for name, about in _stories(module).about().items():
        out.print(f"[bold]{escape(name)}[/bold]  {escape(about)}")


@app.command("record")
def record_command(
    module: Module,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[STORY ...]", help="Names or globs; all if none is given.")
    ] = None,
    kafka: Annotated[
        list[str] | None,
        typer.Option(help="A release, with its patch number. Repeatable; all that are recorded if none."),
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--out", help="Where recordings go; where they belong if none is given.")
    ] = None,
) -> None:
    """Have real brokers tell stories, and keep what they say or write in place of what was recorded.

    Exit status 1: a story broke off, or its answers are not stable; 2: there is no such story, or
    brokers could not be fetched or started.
    """
    stories = _stories(module)
    try:
        wanted = chosen(list(stories.about()), names or ())
    except LookupError as error:
        raise typer.BadParameter(str(error)) from None
    raise typer.Exit(record(stories, kafka or stories.releases, wanted, folder))


if __name__ == "__main__":
    app()

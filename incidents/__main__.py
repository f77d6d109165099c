"""`python -m incidents`: record incidents of real clusters, or list them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.status import Status

from mockbroker.errors import MockBrokerError
from mockbroker.nearest import nearest

from .recording import STORIES, record

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None, help=__doc__)
out = Console(emoji=False, highlight=False, soft_wrap=True)
err = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)


@app.command("list")
def list_command() -> None:
    """List the stories, and which finding is expected of each."""
    for name, story in STORIES.items():
        out.print(f"[bold]{escape(name)}[/bold]  {escape(story.finding or 'healthy')}")
        out.print(f"    {escape(story.about)}")


@app.command("record")
def record_command(
    names: Annotated[list[str] | None, typer.Argument(help="Which stories; all if none is named.")] = None,
    kafka: Annotated[str, typer.Option(help="The release, with its patch number.")] = "4.4.0",
    folder: Annotated[Path, typer.Option("--out", help="Where each gets a folder RELEASE-NAME.")] = Path(),
) -> None:
    """Start three real brokers and a controller for each story, play it, and keep what they wrote.

    Needs Java, Maven for the first time, and for a stepped clock Debian's faketime. Exit status 1 if one
    could not be recorded; the others are. Stories of later releases are left out unless they are named.
    """
    for name in names or ():
        if name not in STORIES:
            raise typer.BadParameter(f"no story {name!r}{nearest(name, STORIES)}")
    wanted = names or [name for name, each in STORIES.items() if each.known_to(kafka)]
    failed = 0
    for number, name in enumerate(wanted, 1):
        head = f"{name} on Kafka {kafka} ({number} of {len(wanted)})"
        with err.status(escape(head)) as status:

            def tell(what: str, status: Status = status, head: str = head) -> None:
                status.update(escape(f"{head}: {what}"))

            try:
                home = record(STORIES[name], kafka, folder, tell)
            except (MockBrokerError, OSError, ExceptionGroup) as error:
                failed += 1
                for each in _leaves(error):
                    err.print(f"[red]not recorded[/red] {escape(f'{head}: {each}')}")
                continue
        size = sum(each.stat().st_size for each in home.iterdir())
        out.print(f"recorded {escape(head)}: {size // 1024} KiB")
    raise typer.Exit(1 if failed else 0)


def _leaves(group: BaseException) -> list[BaseException]:
    if isinstance(group, BaseExceptionGroup):
        return [leaf for each in group.exceptions for leaf in _leaves(each)]
    return [group]


if __name__ == "__main__":
    app()

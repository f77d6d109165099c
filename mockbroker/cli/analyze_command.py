"""`analyze` among the other commands, with help that names what it finds, and options that others share."""

import textwrap
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

Zone = Annotated[
    str, typer.Option(help="Time zone of log lines that do not name one, such as Europe/Berlin.")
]
Around = Annotated[
    str | None,
    typer.Option(
        metavar="TIME", help="Only what was within half an hour of it: 2026-03-01T12:30, or …T12:30Z."
    ),
]
Group = Annotated[str | None, typer.Option(help="Only what happened to this consumer group.")]
Topic = Annotated[str | None, typer.Option(help="Only what happened to this topic.")]


class Analyze(TyperCommand):
    """Loads the signatures only for its help."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        from ..pipeline.signatures import by_name

        names = f"It finds {', '.join(sorted(by_name()))}."
        lines = textwrap.wrap(names, formatter.width - 2, break_on_hyphens=False)
        formatter.write(f"\n{textwrap.indent(chr(10).join(lines), '  ')}\n")

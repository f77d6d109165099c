"""`mockbroker view`: a trace in the browser."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer


def view(
    file: Annotated[Path, typer.Argument(help="A trace, of `serve --trace` or `cluster.trace.write`.")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="The page's port; 0: any free one.")] = 0,
) -> None:
    """Show a trace in the browser, at the address that is printed. Ctrl-C ends it.

    Exit status 2: the file is not a trace.
    """
    from ..trace import files
    from . import viewing

    try:
        if file.suffix != ".parquet":
            viewing.view(file, port, typer.echo)
            return
        with tempfile.TemporaryDirectory() as folder:
            lines = Path(folder) / "trace.jsonl"
            files.write_json_lines(lines, files.read_parquet(file))
            viewing.view(lines, port, typer.echo)
    except (ValueError, OSError, ImportError) as error:
        typer.echo(f"mockbroker view: {error}", err=True)
        raise typer.Exit(2) from None


def register(app: typer.Typer) -> None:
    app.command(short_help="Show a trace in the browser.")(view)

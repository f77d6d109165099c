"""`mockbroker record`: what clients and brokers say to each other, in one file."""

from pathlib import Path
from typing import Annotated

import typer

from .failing import reported
from .given import refuse_existing


def record(
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The recording.")],
    capture: Annotated[
        Path | None,
        typer.Argument(help="A packet capture: of tcpdump, or of `serve --capture`. Or give --upstream."),
    ] = None,
    upstream: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Pass what clients say on to this cluster, and record it until Ctrl-C."
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Where clients connect, with --upstream.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Where clients connect, with --upstream; further brokers get the next ports. 0: any.",
        ),
    ] = 9092,
    values: Annotated[
        bool, typer.Option("--values", help="Keep keys, headers and values of records as they are.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE if it exists.")] = False,
) -> None:
    """Record what clients and brokers say to each other: from a packet capture, or as it passes.

    Passwords and tokens are never recorded; keys, headers and values of records only with --values.
    `mockbroker replay` plays the file back. Exit status 2: the capture can't be read, or the cluster can't
    be reached.
    """
    from .recording import of_capture, passing

    with reported("record"):
        if (capture is None) == (upstream is None):
            raise ValueError("give a packet capture, or --upstream HOST:PORT")
        if not overwrite:
            refuse_existing(out)
        if upstream is not None:
            passing(upstream, host, port, out, values=values)
        elif capture is not None:
            of_capture(capture, out, values=values)


def register(app: typer.Typer) -> None:
    app.command(short_help="Record what clients and brokers say to each other, in one file.")(record)

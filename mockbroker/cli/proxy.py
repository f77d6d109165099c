"""`mockbroker proxy`: faults for the clients of a real cluster."""

from typing import Annotated

import typer

from . import completion
from .failing import reported


def proxy(
    upstream: Annotated[
        str,
        typer.Option(metavar="HOST:PORT[,...]", help="Brokers of the cluster; one that answers is enough."),
    ],
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="The first broker's port; the others get the next ones. 0: any free ports."
        ),
    ] = 9092,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'DO FIELD=VALUE ...'",
            autocompletion=completion.faults,
            help="What goes wrong, as for `mockbroker serve`: 'disconnect api=Produce nth=3'. Repeatable.",
        ),
    ] = None,
    upstream_map: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT=HOST:PORT",
            help="A broker that tells the first address is reached at the second one. Repeatable.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the bootstrap address.")] = False,
) -> None:
    """Stand before a real cluster, and let its clients' requests go wrong, until interrupted.

    The first line printed is the bootstrap address for clients. At the end it says how often each fault
    fired; exit status 3: one never did. Exit status 2: no broker answers, or an option is not valid.
    """
    from ..proxying.options import ProxyOptions, addresses, mapped
    from .given import faults
    from .proxying import run

    with reported("proxy"):
        options = ProxyOptions(addresses(upstream), host, port, mapped(upstream_map or []), faults(fault))
        status = run(options, quiet=quiet)
    raise typer.Exit(status)


def register(app: typer.Typer) -> None:
    app.command(short_help="Stand before a real cluster, and let requests go wrong.")(proxy)

"""`mockbroker explore` and `replay`: the commands for histories."""

from pathlib import Path
from typing import Annotated

import typer

from ..protocol.releases import NEWEST
from .choices import Compared, Engine, Fixed


def explore(
    seeds: Annotated[int, typer.Option(min=1, help="How many histories of each kind.")] = 10_000,
    first: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    kafka: Annotated[str, typer.Option(help="Release to act as: 0.11 to 4.4.")] = NEWEST,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="NAME=ANSWER", help="Override a behaviour. Repeatable.")
    ] = None,
    fixed: Annotated[
        Compared,
        typer.Option(
            help="Take every fix that was made or proposed; compare with and without; or each fix alone too. "
            "--policy wins."
        ),
    ] = Compared.NO,
    commit: Annotated[
        str | None, typer.Option(help="Which epoch consumers commit; each seed's own choice if not given.")
    ] = None,
    reset: Annotated[
        str | None, typer.Option(help="auto.offset.reset; each seed's own choice if not given.")
    ] = None,
    producer: Annotated[
        str | None, typer.Option(help="The producers' generation; each seed's own choice if not given.")
    ] = None,
    transactional: Annotated[
        bool | None, typer.Option(help="Whether producers are; each seed's own choice if not given.")
    ] = None,
    compacted: Annotated[
        bool | None, typer.Option(help="Whether topics are; each seed's own choice if not given.")
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Processes of this machine, or Spark (mockbroker[spark]).")
    ] = Engine.LOCAL,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for Parquet of all runs, and for histories to replay.")
    ] = None,
    timelines: Annotated[
        bool, typer.Option(help="Shrink the first violation of each invariant, and tell it.")
    ] = True,
    fail_on_violations: Annotated[
        bool, typer.Option("--fail-on-violations", help="Exit with 1 if there is any.")
    ] = False,
) -> None:
    """Let seeded histories of a cluster, its clients and its faults happen, and look for what must not."""
    from ..pairs import pairs
    from .explore import options, run

    try:
        chosen = options(kafka, pairs("--policy", policy), commit, reset, producer, transactional, compacted)
        found = run(
            chosen,
            range(first, first + seeds),
            fixed=fixed,
            engine=engine,
            workers_=workers,
            out=out,
            timelines=timelines,
        )
    except (ValueError, OSError, ImportError) as error:
        typer.echo(f"mockbroker explore: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if found and fail_on_violations else 0)


def replay(
    file: Annotated[Path, typer.Argument(help="A history, as `explore --out` keeps them.")],
    kafka: Annotated[
        str | None, typer.Option(help="Release to act as: 0.11 to 4.4; the file's if not given.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ANSWER", help="Override a behaviour of the file. Repeatable."),
    ] = None,
    fixed: Annotated[
        Fixed,
        typer.Option(help="Take every fix that was made or proposed, whatever the file says; --policy wins."),
    ] = Fixed.NO,
    commit: Annotated[
        str | None, typer.Option(help="Which epoch consumers commit; as the file says if not given.")
    ] = None,
    client: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Over TCP, with real clients in the model's place: confluent-kafka. It takes as long as the "
            "history.",
        ),
    ] = None,
    trace: Annotated[
        Path | None, typer.Option(help="Write what happens there, as JSON lines; the same each time.")
    ] = None,
) -> None:
    """Let a history happen once more, and tell it line by line.

    Exit status 1: an invariant was violated; 2: the file is not a history.
    """
    from ..pairs import pairs
    from .replay import run

    try:
        violated = run(
            file,
            kafka=kafka,
            policies=pairs("--policy", policy),
            fixed=fixed is Fixed.YES,
            commit=commit,
            trace=trace,
            client=client,
        )
    except (ValueError, OSError, ImportError) as error:
        typer.echo(f"mockbroker replay: {error}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if violated else 0)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(short_help="Look for what must not happen in seeded histories of a cluster.")(explore)
    app.command()(replay)

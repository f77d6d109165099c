"""`mockbroker explore` and `replay`: the commands for histories."""

from pathlib import Path
from typing import Annotated

import typer

from ..errors import MockBrokerError
from ..protocol.releases import NEWEST
from .choices import Compared, Engine, Fixed
from .failing import why


def explore(
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, each a history.")] = 10_000,
    first: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    kafka: Annotated[str, typer.Option(help="Release to act as: 0.11 to 4.4.")] = NEWEST,
    policy: Annotated[
        list[str] | None, typer.Option(metavar="NAME=ANSWER", help="Override a behaviour. Repeatable.")
    ] = None,
    fixed: Annotated[
        Compared,
        typer.Option(
            help="yes: apply every fix that was made or proposed; both: compare with and without them; each: "
            "also apply each fix alone. --policy takes precedence."
        ),
    ] = Compared.NO,
    commit: Annotated[
        str | None, typer.Option(help="Which epoch consumers commit; if not given, each seed chooses.")
    ] = None,
    reset: Annotated[
        str | None, typer.Option(help="auto.offset.reset of consumers; if not given, each seed chooses.")
    ] = None,
    producer: Annotated[
        str | None, typer.Option(help="The generation of producers; if not given, each seed chooses.")
    ] = None,
    transactional: Annotated[
        bool | None,
        typer.Option(help="Whether producers are transactional; if not given, each seed chooses."),
    ] = None,
    compacted: Annotated[
        bool | None, typer.Option(help="Whether topics are compacted; if not given, each seed chooses.")
    ] = None,
    slow_metadata: Annotated[
        bool,
        typer.Option(
            "--slow-metadata",
            help="Let brokers learn late what the controller decides, a few times in each history.",
        ),
    ] = False,
    offsets_topic: Annotated[
        bool | None,
        typer.Option(
            help="Let the group's coordinator move, and offsets expire; if not given, with --newer-commits "
            "and where --policy gives offsets-load, offsets-load-pace or offsets-cleanup."
        ),
    ] = None,
    newer_commits: Annotated[
        bool | None,
        typer.Option(
            help="Let __consumer_offsets have records that the brokers can't parse; if not given, where "
            "--policy gives offsets-load."
        ),
    ] = None,
    consumer_groups: Annotated[
        bool | None,
        typer.Option(
            help="Let there be a group to whose members the coordinator assigns partitions (KIP-848); if not "
            "given, with --expressions and where --policy gives a behaviour of such groups."
        ),
    ] = None,
    expressions: Annotated[
        bool | None,
        typer.Option(
            help="Let its members subscribe to regular expressions, too (mockbroker[regex]); if not given, "
            "where --policy gives emptied-expression."
        ),
    ] = None,
    share_groups: Annotated[
        bool | None,
        typer.Option(
            help="Let there be a share group (KIP-932); if not given, where --policy gives a behaviour that "
            "shows in one."
        ),
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Run in processes of this machine, or on Spark (mockbroker[spark]).")
    ] = Engine.LOCAL,
    workers: Annotated[
        int | None, typer.Option(min=1, help="How many processes; if not given, one for each core.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for all runs, as Parquet, and for a history of each violation, to replay."),
    ] = None,
    timelines: Annotated[
        bool, typer.Option(help="Shrink the first violation of each invariant, and print its timeline.")
    ] = True,
    fail_on_violations: Annotated[
        bool, typer.Option("--fail-on-violations", help="Exit with 1 if any invariant is violated.")
    ] = False,
) -> None:
    """Run seeded histories of a cluster, its clients and its faults, and look for what must not happen."""
    from ..pairs import pairs
    from .explore import options, run

    try:
        chosen = options(
            kafka,
            pairs("--policy", policy),
            commit=commit,
            reset=reset,
            producer=producer,
            transactional=transactional,
            compacted=compacted,
            slow_metadata=slow_metadata,
            offsets_topic=offsets_topic,
            newer_commits=newer_commits,
            consumer_groups=consumer_groups,
            expressions=expressions,
            share_groups=share_groups,
        )
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
        typer.echo(f"mockbroker explore: {why(error)}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if found and fail_on_violations else 0)


def replay(
    file: Annotated[
        Path,
        typer.Argument(
            help="A history that `explore --out` has kept, or a recording of `mockbroker record`."
        ),
    ],
    kafka: Annotated[
        str | None, typer.Option(help="Release to act as: 0.11 to 4.4; if not given, that of the file.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ANSWER", help="Override a behaviour of the file. Repeatable."),
    ] = None,
    fixed: Annotated[
        Fixed,
        typer.Option(
            help="Apply every fix that was made or proposed, whatever the file says; --policy takes "
            "precedence."
        ),
    ] = Fixed.NO,
    commit: Annotated[
        str | None, typer.Option(help="Which epoch consumers commit; if not given, as the file says.")
    ] = None,
    client: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Replay over TCP, with this client in place of the model: one whose driver comes with "
            "mockbroker. It takes as long as the history. Repeatable.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(help="Write a trace to this file, as JSON lines. It is the same each time."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT[,...]",
            help="Of a recording: send what its clients sent to this cluster, and compare the answers.",
        ),
    ] = None,
    host: Annotated[str, typer.Option(help="Of a recording: where its brokers listen.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            min=0,
            max=65535,
            help="Of a recording: where its first broker listens; the others get the next ports. 0: any.",
        ),
    ] = 9092,
) -> None:
    """Replay a history, and print it line by line; or a recording of real traffic.

    A recording is played to clients, who find its brokers at the addresses that are printed; or, with --to,
    to another cluster. Exit status 1: an invariant was violated, or answers differ; 2: the file is neither.
    """
    from ..pairs import pairs
    from ..recordings.file import is_recording

    try:
        if is_recording(file):
            _refuse("a recording", kafka=kafka, policy=policy, commit=commit, client=client, trace=trace)
            from .playing import play

            raise typer.Exit(1 if play(file, to, host, port) else 0)
        _refuse("a history", to=to)
        from .replay import run

        violated = run(
            file,
            kafka=kafka,
            policies=pairs("--policy", policy),
            fixed=fixed is Fixed.YES,
            commit=commit,
            trace=trace,
            clients=client or [],
        )
    except (ValueError, OSError, MockBrokerError) as error:
        typer.echo(f"mockbroker replay: {why(error)}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if violated else 0)


def _refuse(of: str, **given: object) -> None:
    """ValueError for an option that means nothing there."""
    for name, value in given.items():
        if value:
            raise ValueError(f"--{name} means nothing for {of}: see `mockbroker replay --help`")


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(short_help="Look for what must not happen in seeded histories of a cluster.")(explore)
    app.command()(replay)

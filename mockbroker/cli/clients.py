"""`mockbroker hunt` and `mockbroker check`: the commands for clients under test."""

import enum
import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from ..protocol.releases import NEWEST
from .failing import say_shown, why

if TYPE_CHECKING:
    from ..clients.upstream.upstream import Upstream


class _ListsClients(TyperCommand):
    """A command whose help lists the clients that it knows. Their drivers are looked for only then."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        from ..clients.drivers import SHIPPED

        for each in self.params:
            if each.name == "client":
                each.metavar = f"[{'|'.join(SHIPPED)}]"
        super().format_help(ctx, formatter)


Client = Annotated[
    str | None, typer.Option(metavar="NAME", help="A client whose driver comes with mockbroker.")
]
Version = Annotated[
    str | None,
    typer.Option(metavar="VERSION", help="Another released version of the client than the pinned one."),
]
ClientCommand = Annotated[
    str | None,
    typer.Option(metavar="COMMAND", help="The command that starts a driver of your own (docs/drivers.md)."),
]


Upstreams = Annotated[
    str | None,
    typer.Option(
        "--upstream",
        metavar="HOST:PORT,…",
        help="Also play what can be played there with this real cluster, through a proxy.",
    ),
]


_WHOLE = "A whole application"
_SHRINK_S = 60


def hunt(
    client: Client = None,
    client_version: Version = None,
    client_command: ClientCommand = None,
    application: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND",
            help="Hunt a whole application: the command that starts it, with {bootstrap} and {directory}.",
            rich_help_panel=_WHOLE,
        ),
    ] = None,
    input_: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="TOPIC", help="A topic that it reads.", rich_help_panel=_WHOLE),
    ] = None,
    output: Annotated[
        list[str] | None,
        typer.Option("--output", metavar="TOPIC", help="A topic that it writes.", rich_help_panel=_WHOLE),
    ] = None,
    group: Annotated[
        str, typer.Option(metavar="GROUP", help="Its consumer group.", rich_help_panel=_WHOLE)
    ] = "",
    value: Annotated[
        str, typer.Option(help="The value of an input record.", rich_help_panel=_WHOLE)
    ] = "{record}",
    partitions: Annotated[
        int, typer.Option(min=1, help="How many partitions each topic has.", rich_help_panel=_WHOLE)
    ] = 2,
    restart: Annotated[
        bool, typer.Option("--restart", help="Start it again when it ends.", rich_help_panel=_WHOLE)
    ] = False,
    at_least_once: Annotated[
        bool,
        typer.Option("--at-least-once", help="It may process a record again.", rich_help_panel=_WHOLE),
    ] = False,
    settle: Annotated[
        float,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long it may take to process all records after the last fault.",
            rich_help_panel=_WHOLE,
        ),
    ] = 60,
    seeds: Annotated[
        str,
        typer.Option(metavar="N|A-B", help="How many seeds, or from which to which: runs of a few seconds."),
    ] = "300",
    first: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    coverage: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What was played so far: what never was comes first. It is written if it is not there.",
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Show what --coverage says was played, and what never was.")
    ] = False,
    known: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What is known to go wrong: only what is new is shown in full, and added to it.",
        ),
    ] = None,
    merge: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="Merge the folder of a campaign with others, into --out; again for each."
        ),
    ] = None,
    illegal: Annotated[
        bool, typer.Option("--illegal", help="Let brokers also give answers that no broker of Kafka's gives.")
    ] = False,
    security: Annotated[
        bool,
        typer.Option(
            "--security",
            help="Have clients log in, with TLS and ACLs; logins, certificates and ACLs fail for a while.",
        ),
    ] = False,
    share: Annotated[
        bool,
        typer.Option("--share", help="Play members of share groups, and nothing else (Kafka 4.2 or newer)."),
    ] = False,
    kafka: Annotated[str, typer.Option(help="Release to act as: 0.11 to 4.4, with every fix.")] = NEWEST,
    lanes: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = 8,
    out: Annotated[
        Path | None, typer.Option(help="Write a folder for each finding, instead of printing it.")
    ] = None,
    shrink: Annotated[
        float | None,
        typer.Option(
            min=0,
            metavar="SECONDS",
            help="How long to look for a smaller plan of each finding: 60, with --plan 0.",
        ),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option(help="Play this plan again, three times, instead of seeds.")
    ] = None,
    versions: Annotated[
        str, typer.Option(metavar="V,V,…", help="Play each finding with these releases of the client, too.")
    ] = "",
    upstream: Upstreams = None,
) -> None:
    """Play random workloads with a client, with and without random events, and judge what it reports; or give
    a whole application records, and judge its output, its commits and its exit.

    The exit status is 1 if an invariant was violated.
    """
    from ..clients.drivers import DriverFailedError
    from ..errors import MockBrokerError
    from . import hunt as hunting

    listed = tuple(filter(None, versions.split(",")))
    if shrink is None:
        shrink = _SHRINK_S if plan is None else 0
    settings = hunting.Settings(
        client,
        client_version,
        client_command,
        kafka,
        lanes,
        shrink,
        listed,
        out,
        illegal,
        coverage=coverage,
        ruled=known,
        security=security,
        share=share,
    )
    try:
        settings = replace(settings, upstream=_upstream("hunt", upstream))
        if report or merge:
            raise typer.Exit(_without_playing(hunting, coverage if report else None, merge or (), out))
        if application is not None:
            fields = hunting.fields(
                input_ or (),
                output or (),
                group,
                value=value,
                restarts=restart,
                at_least_once=at_least_once,
            )
            if security:
                raise ValueError("--security is for clients: an application does not know how to log in")
            if share:
                raise ValueError("--share is for clients: give --client NAME")
            if coverage is not None:
                raise ValueError("--coverage is for clients: it is not known what an application asks")
            settings = settings.of_application(application, fields, partitions, settle)
        if plan is not None:
            found = hunting.play(settings, plan)
        else:
            found = hunting.run(settings, _range(seeds, first))
    except (ValueError, OSError, DriverFailedError, MockBrokerError) as error:
        typer.echo(f"mockbroker hunt: {why(error)}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if found else 0)


def _upstream(command: str, addresses: str | None) -> "Upstream | None":
    """ValueError."""
    if addresses is None:
        return None
    from ..addresses import several
    from ..clients.upstream.upstream import Upstream

    return Upstream(several(addresses, "--upstream"), functools.partial(say_shown, command))


def _range(seeds: str, first: int) -> range:
    """ValueError."""
    begin, dash, end = seeds.partition("-")
    if not begin.isdigit() or (dash and not end.isdigit()):
        raise ValueError(f"--seeds is {seeds!r}: give a number, or the first and the last: 1000-1999")
    found = range(int(begin), int(end) + 1) if dash else range(first, first + int(begin))
    if not found:
        raise ValueError(f"--seeds {seeds} are none")
    return found


def _without_playing(hunting: Any, coverage: Path | None, merge: Sequence[Path], out: Path | None) -> int:
    """The exit status. ValueError, OSError."""
    if merge:
        if out is None:
            raise ValueError("merge into which folder? Give --out FOLDER")
        return int(hunting.merge(merge, out))
    if coverage is None:
        raise ValueError("which file? Give --coverage FILE")
    hunting.report(coverage)
    return 0


class Fixed(enum.StrEnum):
    NO = "no"
    YES = "yes"
    BOTH = "both"


def check(
    client: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A client whose driver comes with mockbroker; again for more; or all."
        ),
    ] = None,
    client_version: Version = None,
    client_command: ClientCommand = None,
    kafka: Annotated[
        str, typer.Option(metavar="R,R,…", help="Releases to act as, the last one with other answers, too.")
    ] = f"2.3,3.9,{NEWEST}",
    fixed: Annotated[Fixed, typer.Option(help="As each release was, with every fix, or both.")] = Fixed.BOTH,
    only: Annotated[
        list[str] | None, typer.Option(metavar="SCENARIO", help="Play only this scenario; again for more.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ANSWER", help="Play the scenarios with this answer of a behaviour."),
    ] = None,
    behaviours: Annotated[
        bool, typer.Option(help="Also play every other answer of the behaviours that scenarios meet.")
    ] = True,
    lanes: Annotated[int, typer.Option(min=1, help="How many runs at a time.")] = 12,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML.")] = None,
    json: Annotated[Path | None, typer.Option(help="Write JSON.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write one HTML page.")] = None,
    cards: Annotated[Path | None, typer.Option(help="Write pages of Markdown to this folder.")] = None,
    upstream: Upstreams = None,
) -> None:
    """Play known stories with clients, and try every other answer that a broker may give in them.

    The exit status is 1 if a client violated something while brokers answered as they should, or its driver
    failed.
    """
    from ..clients.drivers.building import BuildError
    from ..errors import MockBrokerError
    from ..pairs import pairs
    from . import check as checking

    releases = [each.strip() for each in kafka.split(",") if each.strip()]
    answers = {Fixed.NO: [False], Fixed.YES: [True], Fixed.BOTH: [False, True]}[fixed]
    try:
        settings = checking.Settings(
            client or (),
            client_version,
            client_command,
            releases,
            answers,
            only or (),
            pairs("--policy", policy),
            behaviours and not only,
            lanes,
            junit,
            json,
            html,
            cards,
            upstream=_upstream("check", upstream),
        )
        wrong = checking.run(settings)
    except (ValueError, OSError, BuildError, MockBrokerError) as error:
        typer.echo(f"mockbroker check: {why(error)}", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(1 if wrong else 0)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.command(cls=_ListsClients)(hunt)
    app.command(cls=_ListsClients)(check)

"""`mockbroker`: the commands."""

import io
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from ..protocol.releases import NEWEST
from ..version import __version__
from . import clients, completion, histories, reproduce, view
from .analyze_command import Analyze
from .choices import Clock, Fixed, LogFormat, Search
from .ctl_command import Ctl
from .failing import reported

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="A mock Kafka cluster whose behaviour is pluggable.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mockbroker {__version__}")
        raise typer.Exit


@app.callback()
def commands(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A mock Kafka cluster whose behaviour is pluggable."""


@app.command()
def serve(
    kafka: Annotated[
        str, typer.Option(help="Release to act as: 0.11 to 4.4.", autocompletion=completion.releases)
    ] = NEWEST,
    brokers: Annotated[int, typer.Option(min=1, help="How many brokers.")] = 3,
    port: Annotated[
        int,
        typer.Option(
            min=0, max=65535, help="The first broker's port; the others get the next ones. 0: any free ports."
        ),
    ] = 9092,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    advertise: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST[:PORT]",
            help="The address to tell clients, if brokers listen on another one, as with "
            "containers and forwarded ports. HOST: for all brokers, each with its own port. HOST:PORT: for "
            "the first broker; the others get the next ports. Repeated: one for each broker.",
        ),
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(metavar="NAME[:PARTITIONS]", help="Create a topic. Repeatable.")
    ] = None,
    config: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VALUE", help="Broker configuration. Repeatable.")
    ] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ANSWER",
            autocompletion=completion.policies,
            help="Override a behaviour; with NAME@topic:T, NAME@broker:ID or both for that topic or broker "
            "only. Repeatable.",
        ),
    ] = None,
    fixed: Annotated[
        Fixed, typer.Option(help="Apply every fix that was made or proposed; --policy takes precedence.")
    ] = Fixed.NO,
    rack: Annotated[
        list[str] | None, typer.Option(metavar="BROKER=RACK", help="A broker's rack. Repeatable.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of random ids: the same seed gives the same ids.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="'DO FIELD=VALUE ...'",
            autocompletion=completion.faults,
            help="A fault that is there from the start, written as for `mockbroker ctl faults add`: "
            "'disconnect api=Produce nth=3'. Repeatable.",
        ),
    ] = None,
    clock: Annotated[
        Clock,
        typer.Option(
            help="What moves the cluster's time: the wall clock, or only `mockbroker ctl clock advance`."
        ),
    ] = Clock.WALL,
    offsets: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Start with the offsets topic of another cluster, and the topics that it names. FILE is one "
            "of its segments, a folder with folders __consumer_offsets-N, output of `kafka-dump-log "
            "--offsets-decoder`, or what a console consumer printed with OffsetsMessageFormatter. "
            "Repeatable.",
        ),
    ] = None,
    now: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The time at which the cluster starts: such as 2026-03-01T12:30:00Z, Unix time in ms, or "
            "wall. By default that of the last record of --offsets, or else that of the wall clock.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write a trace to this file: as Parquet if it ends in .parquet, else as JSON lines."
        ),
    ] = None,
    capture: Annotated[
        Path | None, typer.Option(help="Write a packet capture to this file, as pcapng.")
    ] = None,
    control: Annotated[
        int | None,
        typer.Option(
            metavar="PORT",
            help="Serve the HTTP control API on this port, on loopback only; 0: any free port. Its address "
            "is the second line printed.",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the files of --trace and --capture if they exist.")
    ] = False,
    control_token: Annotated[
        str | None,
        typer.Option(
            metavar="TOKEN",
            help="Answer only control requests that send this token. Better give it in the environment as "
            "MOCKBROKER_CONTROL_TOKEN, where other users of the machine can't see it.",
        ),
    ] = None,
    console: Annotated[
        bool,
        typer.Option(
            "--console", help="Serve a page that shows the cluster, with the control API. Prints its address."
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only the addresses.")] = False,
    log: Annotated[LogFormat, typer.Option(help="Report as text or as JSON lines.")] = LogFormat.TEXT,
) -> None:
    """Serve a cluster until interrupted. The first line printed is the bootstrap address."""
    from ..pairs import pairs
    from .given import faults, racks, refuse_existing, token, topics
    from .offsets import offsets_topic
    from .serve import Report, run

    with reported("serve"):
        if not overwrite:
            refuse_existing(trace, capture)
        run(
            Report(quiet=quiet, json_lines=log is LogFormat.JSON),
            kafka=kafka,
            brokers=brokers,
            host=host,
            port=port,
            advertise=advertise,
            config=pairs("--config", config),
            policies=pairs("--policy", policy),
            topics=topics(topic),
            seed=seed,
            racks=racks(rack),
            fixed=fixed is Fixed.YES,
            faults=faults(fault),
            clock=clock.value,
            offsets=offsets_topic(offsets, quiet=quiet),
            now=now,
            trace_file=trace,
            capture=capture,
            control=0 if console and control is None else control,
            control_token=token(control_token, 0 if console else control),
            console=console,
        )


@app.command(
    short_help="Serve, and capture what goes over the wire; or print a capture.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)
def capture(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A pcapng file.")],
    decode: Annotated[
        bool, typer.Option("--decode", help="Do not serve: print what is in the file.")
    ] = False,
    api: Annotated[list[str] | None, typer.Option(help="Print only this API. Repeatable.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
) -> None:
    """Serve, with the options of `serve`, and write what goes over the wire to FILE; or print such a file.

    Wireshark can read the file as far as its Kafka dissector goes, up to about `--kafka 2.4`; `--decode`
    reads any version.
    """
    from .capture import show

    if not decode:
        typer.main.get_command(app)(["serve", "--capture", str(file), *context.args], prog_name="mockbroker")
    with reported("capture", (ValueError, OSError)):
        if context.args:
            raise ValueError(f"--decode does not take {context.args[0]!r}: see `mockbroker capture --help`")
        show(file, api or [], as_json=json_)


@app.command(short_help="List the behaviours, their answers and their releases.")
def policies(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="List only these behaviours.")
    ] = None,
    kafka: Annotated[str, typer.Option(help="Release whose defaults are shown: 0.11 to 4.4.")] = NEWEST,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the behaviours: their answers, the releases that gave them, and the default of a release."""
    from .policies import show

    with reported("policies", (ValueError,)):
        show(kafka, names or [], as_json=json_)


@app.command(
    short_help="Control a running cluster.",
    cls=Ctl,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def ctl(context: typer.Context) -> None:
    """Control a running cluster (`mockbroker serve --control 0` prints its address)."""
    # Its commands are made from the table of operations, which takes time to import.
    from .ctl import run

    run(context.args)


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
)
def conformance(context: typer.Context) -> None:
    """Compare a cluster with the recorded answers of real brokers."""
    from ..conformance.commands import app

    app(context.args, prog_name="mockbroker conformance")


@app.command(
    short_help="Run a command against a cluster of its own while a scenario is played.",
    context_settings={"allow_interspersed_args": False},
)
def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario.")],
    command: Annotated[
        list[str], typer.Argument(metavar="-- COMMAND", help="The command and its arguments.")
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=ANSWER",
            autocompletion=completion.policies,
            help="Override a behaviour, whatever the scenario says; before SCENARIO.toml. Repeatable.",
        ),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write a trace to this file, for `mockbroker view`: as Parquet if it ends in .parquet, else "
            "as JSON lines. Before SCENARIO.toml."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the file of --trace if it exists.")
    ] = False,
) -> None:
    """Run a command against a cluster of its own while a scenario is played, and exit with its status.

    The command's environment has BOOTSTRAP_SERVERS and MOCKBROKER_CONTROL. Exit status 2: the scenario is
    invalid, or the command can't be run; 3: the command succeeded, but a check failed, a fault never fired,
    or the command ended before a step was due.
    """
    from ..pairs import pairs
    from .given import refuse_existing
    from .run import run

    with reported("run"):
        if not overwrite:
            refuse_existing(trace)
        status = run(scenario, pairs("--policy", policy), command, trace)
    raise typer.Exit(status)


@app.command(short_help="Search the files of an incident for signs of known bugs.", cls=Analyze)
def analyze(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, tar archives; s3://BUCKET/FOLDER.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Write report.html and Parquet files to this folder, a new or empty one."
        ),
    ] = None,
    timezone: Annotated[
        str, typer.Option(help="Time zone of log lines that do not name one, such as Europe/Berlin.")
    ] = "UTC",
    engine: Annotated[
        Search,
        typer.Option(help="Search with DuckDB, on this machine, or Spark. auto: Spark with --master."),
    ] = Search.AUTO,
    master: Annotated[
        str | None, typer.Option(metavar="URL", help="Where Spark runs; by default local[2].")
    ] = None,
    fail_on_findings: Annotated[
        bool, typer.Option("--fail-on-findings", help="Exit with 1 when anything is found.")
    ] = False,
) -> None:
    """Search traces, captures, logs, dumps and segments for signs of known bugs.

    This needs the extra `mockbroker[analyze]`; with Spark, `mockbroker[spark]` and Java 17 or newer. Exit
    status 2: a path or an option is not valid.
    """
    from .analyze import run

    with reported("analyze"):
        count = run(paths, out, timezone, engine.value, master)
    raise typer.Exit(1 if count and fail_on_findings else 0)


histories.register(app)
reproduce.register(app)
clients.register(app)
view.register(app)


def main() -> None:
    if not sys.warnoptions:
        # The warnings of libraries are of no use to a user.
        warnings.simplefilter("ignore")
    _prepare_output()
    try:
        app()
    except OSError as error:
        # The commands report all others themselves.
        _lost(error)
    finally:
        _end_output()


def _prepare_output() -> None:
    """Text that stdout can't show is escaped; without a stdout, output is discarded."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end_output() -> None:
    """Output that could not be written is reported in one line, not by Python's message at exit."""
    try:
        sys.stdout.flush()
    except OSError as error:
        _lost(error)


def _lost(error: OSError) -> NoReturn:
    # Python would try again at exit to write what is left in the buffer.
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    typer.echo(f"mockbroker: can't write to stdout: {error.strerror}", err=True)
    raise SystemExit(2) from None

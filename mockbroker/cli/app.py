"""`mockbroker`: the commands."""

from pathlib import Path
from typing import Annotated

import typer

from ..protocol.releases import NEWEST
from ..version import __version__
from . import clients, completion, histories, looking_up, real, reproduce, serving, view
from .analyze_command import Analyze, Around, Group, Topic, Zone
from .choices import Search
from .ctl_command import Ctl
from .described import SERVE, described
from .failing import reported
from .groups import Grouped

app = typer.Typer(
    cls=Grouped,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="A mock Kafka cluster whose behaviour is pluggable.",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mockbroker {__version__}")
        raise typer.Exit


_NEXT = f"""\
mockbroker {__version__}, a mock Kafka cluster whose behaviour is pluggable. What next?

  mockbroker serve                  a cluster for your client, at 127.0.0.1:9092
  mockbroker serve --console        the same, with a page that shows it and lets things go wrong
  mockbroker faults                 what can go wrong
  mockbroker doctor                 what is missing on this machine, and what needs it
  mockbroker --help                 all commands

In a Python test: the fixture mock_cluster, or `with mockbroker.MockCluster() as cluster`."""


@app.callback()
def commands(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A mock Kafka cluster whose behaviour is pluggable."""
    if context.invoked_subcommand is None:
        typer.echo(_NEXT)


app.command("serve")(described(serving.serve, SERVE))


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
    timezone: Zone = "UTC",
    around: Around = None,
    group: Group = None,
    topic: Topic = None,
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

    This needs the extra `mockbroker[analyze]`; with Spark, `mockbroker[spark]` and Java 17 or newer. With
    --around, --group or --topic all is searched, and what is shown says the same as without them. Exit
    status 2: a path or an option is not valid.
    """
    from .analyze import run, wanted

    with reported("analyze"):
        narrowed = wanted(around, group, topic, timezone)
        count = run(paths, out, timezone, engine.value, master, narrowed)
    raise typer.Exit(1 if count and fail_on_findings else 0)


histories.register(app)
reproduce.register(app)
clients.register(app)
view.register(app)
looking_up.register(app)
real.register(app)

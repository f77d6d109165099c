"""`mockbroker conformance`: ask a cluster, record a real one, list the questions."""

from contextlib import nullcontext
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from mockbroker.protocol.releases import NEWEST

from ..progress import counted
from ..rig import readiness
from ..rig.recording import record
from ..rig.scene import Target
from ..rig.setup import BROKER_CONFIG, CLUSTER_SIZES
from . import recordings
from .asking import Result, ask, count
from .diff import lines
from .questions import all_questions
from .recorder import STORIES

HELP = "Compare a cluster with the recorded answers of real brokers."

app = typer.Typer(add_completion=False, no_args_is_help=True, help=HELP, rich_markup_mode=None)
out = Console(emoji=False, highlight=False, soft_wrap=True)
err = Console(emoji=False, stderr=True, highlight=False, soft_wrap=True)

Only = Annotated[str | None, typer.Option("--only", help="Part of a question's id, or a glob.")]
_WIDEST = 400


def _fail(message: str) -> typer.Exit:
    err.print(f"[red]error:[/red] {escape(message)}")
    return typer.Exit(2)


def _release(wanted: str) -> str:
    try:
        return recordings.nearest_release(wanted)
    except ValueError as error:
        raise _fail(str(error)) from None


def _show(result: Result, verbose: bool) -> None:
    name = escape(f"{result.question} v{result.version}")
    if result.got is None:
        out.print(f"[yellow]not supported[/yellow] {name}")
    elif result.equal:
        if verbose:
            out.print(f"[green]equal[/green]         {name}")
    else:
        out.print(f"[red]different[/red]     {name}")
        for line in lines(result.expected, result.got):
            shown = line if verbose or len(line) <= _WIDEST else f"{line[:_WIDEST]}… (--verbose shows all)"
            out.print(f"    {escape(shown)}")


@app.command("ask")
def ask_command(
    bootstrap: Annotated[
        str | None,
        typer.Argument(
            metavar="[HOST:PORT]",
            help="Address of the cluster to ask. If none is given, mocks of all sizes are started and asked.",
            show_default=False,
        ),
    ] = None,
    kafka: Annotated[
        str, typer.Option(help="Release to compare with, or the recorded one that is nearest to it.")
    ] = NEWEST,
    only: Only = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=ANSWER", help="Override a behaviour of the mocks. Repeatable."),
    ] = None,
    set_up: Annotated[
        bool,
        typer.Option(
            "--set-up",
            help="Set the configuration of the recorded brokers for the time being, as far as it can be set "
            "at run time.",
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show equal answers too, and differences in full.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for one answer.")] = 10.0,
) -> None:
    """Ask a cluster the recorded questions for its size and show what it answers differently.

    The questions create and delete topics and groups. Differences between the cluster's set-up and the
    recorded one are listed first. Exit status 0: all answers are equal; 1: something differs or is not
    supported; 2: the cluster could not be asked.
    """
    release, tally = _release(kafka), Tally(release=_release(kafka))
    try:
        if bootstrap is not None:
            if policy:
                raise _fail("--policy is for mocks that this command starts: leave out the address")
            _ask(bootstrap, tally, only, timeout, verbose, change=set_up)
        else:
            for size in CLUSTER_SIZES:
                if any(each.brokers == size for each in all_questions(only)):
                    _ask_mock(kafka, size, policy, tally, only, timeout, verbose)
    except KeyboardInterrupt:
        out.print("interrupted")
        tally.show()
        raise
    if not tally.total:
        sizes = " or ".join(str(size) for size in CLUSTER_SIZES)
        raise _fail(f"no recorded question of {release} matches (there are questions for {sizes} brokers)")
    tally.show()
    raise typer.Exit(0 if tally.equal == tally.total else 1)


@dataclass
class Tally:
    """How many answers were equal."""

    release: str
    total: int = 0
    equal: int = 0
    unsupported: int = 0

    def add(self, result: Result) -> None:
        self.total += 1
        self.equal += result.equal
        self.unsupported += not result.supported

    def show(self) -> None:
        different = self.total - self.equal - self.unsupported
        told = f"{self.equal} equal, {different} different, {self.unsupported} not supported"
        out.print(f"compared with Kafka {self.release}: {told}")


def _ask_mock(
    kafka: str,
    size: int,
    policy: list[str] | None,
    tally: Tally,
    only: str | None,
    timeout: float,
    verbose: bool,
) -> None:
    # Not needed for asking another broker.
    from mockbroker.cluster_options import unchecked
    from mockbroker.pairs import pairs
    from mockbroker.server.mock_cluster import MockCluster

    try:
        cluster = MockCluster(
            kafka=unchecked(kafka),
            brokers=size,
            config=dict(BROKER_CONFIG),
            policies=unchecked(pairs("--policy", policy)),
        ).start()
    except ValueError as error:
        raise _fail(str(error)) from None
    try:
        _ask(cluster.bootstrap_servers, tally, only, timeout, verbose)
    finally:
        cluster.stop()


def _ask(
    bootstrap: str, tally: Tally, only: str | None, timeout: float, verbose: bool, *, change: bool = False
) -> None:
    try:
        target = Target.connect(bootstrap, timeout)
        changes = readiness.set_up(target) if change else nullcontext(list[str]())
        with changes as done:
            for each in done:
                err.print(f"set for the time being: {escape(each)}")
            _tell_lacking(bootstrap, target, tally.release)
            total = count(target, tally.release, only)
            with counted("conformance", "", total, err) as so_far:

                def report(result: Result) -> None:
                    tally.add(result)
                    _show(result, verbose)
                    so_far.advance(what=result.question)

                ask(bootstrap, tally.release, only, timeout=timeout, report=report)
    except (OSError, LookupError, ValueError) as error:
        raise _fail(f"{bootstrap}: {error}") from None


def _tell_lacking(bootstrap: str, target: Target, release: str) -> None:
    """Prints what differs from the recorded set-up, and the command for a mock that has it."""
    lacking = readiness.lacking(target, release)
    if not lacking:
        return
    err.print(f"{escape(bootstrap)} is not set up as the recorded brokers were:")
    for line in lacking:
        err.print(f"  {escape(line)}")
    size = len(target.nodes) if len(target.nodes) in CLUSTER_SIZES else CLUSTER_SIZES[0]
    err.print(f"For a mock that is: mockbroker serve {readiness.options(release, size)}")


@app.command("record")
def record_command(
    kafka: Annotated[str, typer.Option(help="The release to start and record, with its patch number.")],
    only: Only = None,
) -> None:
    """Start real brokers (Java; Maven on first use) and write their answers, each asked twice."""
    raise typer.Exit(record(STORIES, [kafka], [each.id for each in all_questions(only)], None))


@app.command("list")
def list_command(only: Only = None) -> None:
    """List the questions."""
    for each in all_questions(only):
        size = f" ({each.brokers} brokers)" if each.brokers > 1 else ""
        doc = f"  {each.doc.splitlines()[0]}" if each.doc else ""
        out.print(f"[bold]{escape(each.id)}[/bold]{size}{escape(doc)}")

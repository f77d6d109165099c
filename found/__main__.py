"""`python -m found`: lists the findings, runs them, and writes their page."""

import os
import sys
from typing import Annotated

import typer

from mockbroker.errors import MockBrokerError

from .finding import Finding, findings, named
from .page import PAGE, page
from .page import report as text_of
from .playing import await_leaders as wait
from .playing import move_leader as move
from .playing import no_longer, on_mocks, on_real_brokers

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

Name = Annotated[str, typer.Argument(help="A finding, as `list` names it.")]
Python = Annotated[str, typer.Option(help="An interpreter that has the client, in any release.")]
Release = Annotated[str | None, typer.Option(help="Of a client of Node, Go or Rust.")]


@app.command("list")
def every() -> None:
    """Lists the findings, worst first."""
    for each in findings():
        typer.echo(f"{each.name}: {each.subject}: {each.title} ({each.severity}, {each.status})")


@app.command()
def run(name: Name, python: Python = sys.executable, release: Release = None) -> None:
    """Runs a finding's program against mock brokers. The status is 1 if the client lacks the defect."""
    finding = named(name)
    _judge(finding, on_mocks(finding, python, release), python == sys.executable and release is None)


@app.command()
def real(
    name: Name,
    kafka: Annotated[str, typer.Option(help="A release with its patch.")] = "4.4.0",
    python: Python = sys.executable,
    release: Release = None,
) -> None:
    """Runs it against real brokers: needs Java 17 and, for the first run of a release, Maven."""
    finding = named(name)
    printed = on_real_brokers(finding, kafka, python, release)
    _judge(finding, printed, python == sys.executable and release is None)


@app.command()
def report(name: Name) -> None:
    """Prints what can be filed upstream."""
    typer.echo(text_of(named(name)), nl=False)


@app.command()
def docs() -> None:
    """Writes docs/found.md."""
    PAGE.write_text(page())


@app.command("move-leader", hidden=True)
def move_leader(topic: str) -> None:
    """Moves the leader of a topic's first partition in the real cluster at BOOTSTRAP_SERVERS."""
    move(os.environ["BOOTSTRAP_SERVERS"], topic)


@app.command("await-leaders", hidden=True)
def await_leaders(port: int, gone: bool = False) -> None:
    """Waits until the broker at a port of the real cluster at BOOTSTRAP_SERVERS leads, or no longer does."""
    wait(os.environ["BOOTSTRAP_SERVERS"], port, gone=gone)


def _judge(finding: Finding, printed: str, installed: bool) -> None:
    typer.echo(printed, nl=False)
    if printed == finding.expected:
        return
    if installed:
        typer.echo(no_longer(finding, printed), err=True)
    else:
        typer.echo(f"this release doesn't do that: {finding.title}", err=True)
    raise typer.Exit(1)


if __name__ == "__main__":
    try:
        app()
    except MockBrokerError as error:
        sys.exit(str(error))

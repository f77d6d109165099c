"""`python -m mockbroker.conformance`: ask a cluster, record a real one, list the questions."""

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from . import recordings
from .asking import FAILED, Result, ask, count, record
from .diff import lines
from .real_broker import RealBrokerError, RealCluster
from .registry import all_questions
from .scene import Target
from .setup import CLUSTER_SIZES

app = typer.Typer(add_completion=False, no_args_is_help=True, help=__doc__, rich_markup_mode=None)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False)

Only = Annotated[str | None, typer.Option("--only", help="Part of a question's id, or a glob.")]
_WIDEST = 400


def _progress() -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=err, transient=True)


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
    bootstrap: Annotated[str, typer.Argument(metavar="HOST:PORT", help="Address of the cluster to ask.")],
    kafka: Annotated[str, typer.Option(help="Release to compare with; the nearest recorded one is taken.")],
    only: Only = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Equal answers too, differences in full.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Seconds to wait for one answer.")] = 10.0,
) -> None:
    """Ask a cluster the recorded questions for its size and show what it answers differently.

    Exit status 0: all equal; 1: something differs or is not supported; 2: could not ask.
    """
    release = _release(kafka)
    try:
        target = Target.connect(bootstrap, timeout)
    except (OSError, LookupError, ValueError) as error:
        raise _fail(f"{bootstrap}: {error}") from None
    total = count(target, release, only)
    if not total:
        sizes = " or ".join(str(size) for size in CLUSTER_SIZES)
        raise _fail(f"no recorded question matches (a cluster of {len(target.nodes)}; recorded for {sizes})")
    with _progress() as progress:
        task = progress.add_task("", total=total)

        def report(result: Result) -> None:
            _show(result, verbose)
            progress.update(task, advance=1, description=result.question)

        results = ask(bootstrap, release, only, timeout=timeout, report=report)
    unsupported = sum(not each.supported for each in results)
    equal = sum(each.equal for each in results)
    different = len(results) - equal - unsupported
    out.print(
        f"compared with Kafka {release}: {equal} equal, {different} different, {unsupported} not supported"
    )
    raise typer.Exit(0 if equal == len(results) else 1)


@app.command("record")
def record_command(
    kafka: Annotated[str, typer.Option(help="Exact release to start and record.")], only: Only = None
) -> None:
    """Start real brokers (Java; Maven on first use) and write their answers, each asked twice."""
    unstable = 0
    for size in CLUSTER_SIZES:
        if not any(each.brokers == size for each in all_questions(only)):
            continue
        try:
            with err.status(f"Kafka {kafka}, {size} broker(s): fetching and starting"):
                cluster = RealCluster(kafka, size)
                cluster.start()
        except RealBrokerError as error:
            raise _fail(str(error)) from None
        try:
            unstable += _record(kafka, cluster.bootstrap_servers, only)
        finally:
            cluster.stop()
    raise typer.Exit(1 if unstable else 0)


def _record(kafka: str, bootstrap: str, only: str | None) -> int:
    with err.status("asking") as status:
        first, second = (
            record(bootstrap, only, report=lambda name, version: status.update(f"asking {name} v{version}"))
            for _ in range(2)
        )
    unstable = 0
    for api, questions in first.items():
        kept = recordings.load(kafka, api)
        for name, versions in questions.items():
            for version, steps in versions.items():
                broken = bool(steps) and steps[-1][0] == FAILED
                if broken or steps != second[api][name][version]:
                    unstable += 1
                    out.print(f"[red]{'broke off' if broken else 'unstable'}[/red] {api}.{name} v{version}")
                    for line in lines(steps, second[api][name][version])[:5]:
                        out.print(f"    {escape(line[:_WIDEST])}")
        order = [each.name for each in all_questions() if each.api == api]
        merged = {**kept, **questions}
        file = recordings.save(kafka, api, {name: merged[name] for name in order if name in merged})
        out.print(f"wrote {len(questions)} questions to {file.parent.name}/{file.name}")
    return unstable


@app.command("list")
def list_command(only: Only = None) -> None:
    """List the questions."""
    for each in all_questions(only):
        size = f" ({each.brokers} brokers)" if each.brokers > 1 else ""
        doc = f"  {each.doc.splitlines()[0]}" if each.doc else ""
        out.print(f"[bold]{escape(each.id)}[/bold]{size}{escape(doc)}")


if __name__ == "__main__":
    app()

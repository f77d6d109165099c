"""`python -m studies.kafka_19902`: runs the cases with real clients and writes the page."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mockbroker.clients.drivers.building import BuildError

from .. import clients
from ..clients import Client
from . import experiment
from .case import Case, Outcome
from .mechanisms import MECHANISMS
from .page import page
from .plan import cases
from .results import Results, told

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False)


@app.command(help=__doc__)
def main(
    client: Annotated[
        list[str] | None, typer.Option(help="java-VERSION or confluent-kafka; may be repeated.")
    ] = None,
    only: Annotated[list[str] | None, typer.Option(help="Key of a mechanism; may be repeated.")] = None,
    thorough: Annotated[
        bool, typer.Option(help="Also with the broker's other answers, and with special settings.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what the client logged.")] = False,
    rerun: Annotated[bool, typer.Option(help="Run them; otherwise just write what is recorded.")] = True,
    write: Annotated[Path | None, typer.Option(help="Record the outcomes, and write the page there.")] = None,
) -> None:
    chosen = only or list(MECHANISMS)
    if unknown := set(chosen) - set(MECHANISMS):
        raise typer.BadParameter(f"{', '.join(unknown)}: choose from {', '.join(MECHANISMS)}")
    made: list[Client] = []
    results = Results()
    try:
        if rerun:
            with err.status("starting clients"):
                made += [clients.make(name) for name in client or ["java-3.9", "confluent-kafka"]]
            _run(made, chosen, thorough, verbose, results)
    except (BuildError, ImportError, ValueError) as error:
        err.print(f"error: {error}")
        raise typer.Exit(2) from None
    finally:
        for each in made:
            each.stop()
    if write:
        results.save()
        write.write_text(page(results))


def _run(
    made: Sequence[Client], chosen: Sequence[str], thorough: bool, verbose: bool, results: Results
) -> None:
    """All clients at the same time."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress, ThreadPoolExecutor(len(made)) as pool:

        def work(client: Client) -> None:
            todo = [
                case for key in chosen for case in cases(MECHANISMS[key], client.commits, thorough=thorough)
            ]
            task = progress.add_task(client.name, total=len(todo))
            for case, outcome in experiment.run_all(client, todo):
                results.add(client.name, case, outcome)
                progress.update(task, advance=1, description=f"{client.name} {case.mechanism}")
                _show(client.name, case, outcome, verbose)

        for done in [pool.submit(work, client) for client in made]:
            done.result()


def _show(client: str, case: Case, outcome: Outcome, verbose: bool) -> None:
    position, answer = outcome.position, outcome.answer
    said = f" (epoch {position[1]} ends at {answer})" if answer else ""
    found = "waits for the broker to come back, " * outcome.waited + told(outcome)
    out.print(f"{client}  {case.mechanism}  {case.variant}  {case.reset}: at {position[0]}{said} {found}")
    for line in outcome.log if verbose else ():
        out.print(f"    {line}", markup=False)


if __name__ == "__main__":
    app()

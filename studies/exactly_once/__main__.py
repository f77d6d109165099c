"""`python -m studies.exactly_once`: runs cases with real clients, and counts outcomes."""

import enum
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from mockbroker.clients.drivers.building import BuildError
from mockbroker.protocol import releases

from . import APPLICATIONS, Application, Case, make, run
from .page import Tally, page
from .tracing import trace

_TRACE_S: Final = 15.0

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False)


class Fixed(enum.Enum):
    """With every fix there is, the last of the releases is enough."""

    NO = "no"
    YES = "yes"
    BOTH = "both"

    @property
    def ways(self) -> tuple[bool, ...]:
        return {"no": (False,), "yes": (True,), "both": (False, True)}[self.value]


@app.command(help=__doc__)
def main(
    client: Annotated[list[str] | None, typer.Option(help="One of the clients; may be repeated.")] = None,
    kafka: Annotated[list[str] | None, typer.Option(help="A release; may be repeated.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many cases, for each client and release.")] = 10,
    first: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    fixed: Annotated[
        Fixed, typer.Option(help="With every fix, so that a failure is an error; or both ways.")
    ] = Fixed.NO,
    traced: Annotated[bool, typer.Option("--trace", help="Find the behaviour behind each failure.")] = False,
    write: Annotated[Path | None, typer.Option(help="Write the page there.")] = None,
) -> None:
    lines = kafka or [releases.NEWEST]
    made: list[Application] = []
    tally = Tally()
    try:
        for line in lines:
            releases.parse(line)
        with err.status("starting clients"):
            made += [make(name) for name in client or APPLICATIONS]
        cases = [
            Case(line, seed, fixed=each)
            for each in fixed.ways
            for line in lines
            for seed in range(first, first + seeds)
            if not each or line == lines[-1]
        ]
        _run_all(made, cases, traced, tally)
    except (BuildError, ImportError, ValueError) as error:
        err.print(f"error: {error}")
        raise typer.Exit(2) from None
    finally:
        for each in made:
            each.stop()
    if write:
        write.write_text(page(tally))
    out.print(tally.table())
    if tally.unexpected:
        raise typer.Exit(1)


def _run_all(made: Sequence[Application], cases: Sequence[Case], traced: bool, tally: Tally) -> None:
    """All clients at the same time."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=err) as progress, ThreadPoolExecutor(len(made)) as pool:

        def work(application: Application) -> None:
            task = progress.add_task(application.name, total=len(cases))
            for case in cases:
                safe = case.for_client(bumps_epochs=application.bumps_epochs)
                outcome = run(application, safe)
                causes: list[str] = []
                if not outcome.exactly_once:
                    out.print(f"{application.name}, Kafka {case.kafka}, seed {case.seed}: {outcome}")
                    causes = (
                        trace(lambda each: run(application, each, limit_s=_TRACE_S), safe) if traced else []
                    )
                tally.add(application.name, safe, outcome, causes)
                progress.update(task, advance=1)

        for done in [pool.submit(work, each) for each in made]:
            done.result()


if __name__ == "__main__":
    app()

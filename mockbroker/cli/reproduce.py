"""`mockbroker reproduce`: from an incident in a report to files that show it again."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from ..pipeline.errors import PipelineError
from .failing import reported
from .now_and_then import now_and_then


def reproduce(
    report: Annotated[Path, typer.Argument(help="A folder that `analyze --out` wrote.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the files; it must not exist.")],
    number: Annotated[
        int | None, typer.Option(help="Which incident of the report, from 1 on, if it has several.")
    ] = None,
    kafka: Annotated[
        str | None, typer.Option(help="Release to act as: 0.11 to 4.4; if not given, one that shows it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first history.")] = 1,
    histories: Annotated[int, typer.Option(min=1, help="How many histories to try at most.")] = 500,
) -> None:
    """Turn an incident that `analyze` found into a history, a scenario and a pytest that show it.

    Exit status 1: the files don't fail as they should; 2: a path or an option is not valid.
    """
    with reported("reproduce"):
        shows = _run(report, out, number, kafka, seed, histories)
    raise typer.Exit(0 if shows else 1)


def _run(report: Path, out: Path, number: int | None, kafka: str | None, seed: int, histories: int) -> bool:
    from ..pipeline.reproduce import files, kinds, reading, searching

    if out.exists():
        raise PipelineError(f"{out} exists: --out needs a new folder")
    incident = reading.choose(reading.read(report), number)
    kind = kinds.kind_of(incident)
    closest = searching.search(incident, kind, kafka, seed, histories, _tell, now_and_then("reproduce"))
    if closest is not None:
        typer.echo(
            f"{incident.name}: the history of seed {closest.plan.seed} shows {len(closest.matched)} of "
            f"{len(incident.signatures)} kinds of observations, in their order"
        )
        for index, name in enumerate(incident.signatures):
            typer.echo(f"  {'shown' if index in closest.matched else 'not shown':9} {name}")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as name:
        unfinished = Path(name) / "files"
        unfinished.mkdir()
        files.write(unfinished, incident, kind, closest, kafka)
        tried = files.try_out(unfinished, kind, _tell)
        shutil.move(unfinished, out)
    for file, (fails, passes) in tried.items():
        typer.echo(
            f"{out / file}: {'fails' if fails else 'does NOT fail'} with {kind.fails}, "
            f"{'passes' if passes else 'does NOT pass'} with {kind.passes}"
        )
    if closest is not None:
        typer.echo(f"{out / files.HISTORY}: `mockbroker replay` and `mockbroker view` show it")
    return all(fails and passes for fails, passes in tried.values())


def _tell(what: str) -> None:
    typer.echo(f"mockbroker reproduce: {what}", err=True)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(short_help="Show an incident that `analyze` found again, in tests that fail.")(reproduce)

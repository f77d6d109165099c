"""`mockbroker reproduce`: from an incident to files that show it again."""

import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..pipeline.errors import PipelineError
from ..progress import Doing, doing
from .analyze_command import Around, Group, Topic, Zone
from .failing import reported

if TYPE_CHECKING:
    from ..pipeline.narrowing import Wanted
    from ..pipeline.reproduce.reading import Recorded


@dataclass(frozen=True, slots=True)
class _How:
    kafka: str | None
    seed: int
    histories: int


def reproduce(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="A folder that `analyze --out` wrote, or what an incident left behind, such as a recording.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the files; it must not exist.")],
    number: Annotated[
        int | None, typer.Option(help="Which incident of the report, from 1 on, if it has several.")
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every incident of the report, each in a folder of its own.")
    ] = False,
    around: Around = None,
    group: Group = None,
    topic: Topic = None,
    timezone: Zone = "UTC",
    kafka: Annotated[
        str | None, typer.Option(help="Release to act as: 0.11 to 4.4; if not given, one that shows it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the first history.")] = 1,
    histories: Annotated[int, typer.Option(min=1, help="How many histories to try at most.")] = 500,
) -> None:
    """Turn an incident that `analyze` found into a history, a scenario and a pytest that show it.

    Exit status 1: the files don't fail as they should; 2: a path or an option is not valid, or the incident
    can't be reproduced.
    """
    from ..pipeline.reproduce.reading import choose
    from .analyze import wanted

    with reported("reproduce"):
        if out.exists():
            raise PipelineError(f"{out} exists: --out needs a new folder")
        if every and number is not None:
            raise PipelineError("give --number or --all")
        narrowed = wanted(around, group, topic, timezone)
        incidents = _incidents(paths, out, timezone, narrowed)
        with doing("reproduce") as told:
            how = _How(kafka, seed, histories)
            if every:
                shows = _all(incidents, out, how, told)
            else:
                shows = _one(choose(incidents, number), out, how, told)
    raise typer.Exit(0 if shows else 1)


def _incidents(paths: list[str], out: Path, timezone: str, narrowed: "Wanted") -> "list[Recorded]":
    """Those of the report that is given, or else of a new one in `out`."""
    from ..pipeline.reproduce import reading
    from .analyze import run

    if len(paths) == 1 and reading.is_report(Path(paths[0])):
        found = reading.read(Path(paths[0]), narrowed)
    else:
        report = out / "report"
        try:
            run(paths, report, timezone, narrowed=narrowed)
        except BaseException:
            with suppress(OSError):
                out.rmdir()
            raise
        found = reading.read(report)
    if not found:
        raise PipelineError(f"there is no incident {narrowed}".rstrip() + ": nothing can be reproduced")
    return found


def _all(incidents: "list[Recorded]", out: Path, how: _How, told: Doing) -> bool:
    shown: list[bool] = []
    for each in incidents:
        typer.echo(f"{each.number}  {each.name}")
        try:
            shown.append(_one(each, out / f"{each.number}-{each.name}", how, told))
        except PipelineError as error:
            typer.echo(str(error))
    if not shown:
        raise PipelineError("none of the incidents can be reproduced")
    return all(shown)


def _one(incident: "Recorded", out: Path, how: _How, told: Doing) -> bool:
    """Whether the files that it writes fail and pass as they should."""
    told.tell(f"looking how {incident.name} comes about")
    from ..pipeline.reproduce import files, kinds, searching

    kind = kinds.kind_of(incident)
    files.check_imports(kind)

    def tried(what: str) -> None:
        told.now = what

    closest = searching.search(incident, kind, how.kafka, how.seed, how.histories, told.tell, tried)
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
        files.write(unfinished, incident, kind, closest, how.kafka)
        ran = files.try_out(unfinished, kind, told.tell)
        out.mkdir(exist_ok=True)
        for each in unfinished.iterdir():
            shutil.move(each, out / each.name)
    for file, (fails, passes) in ran.items():
        typer.echo(
            f"{out / file}: {'fails' if fails else 'does NOT fail'} with {kind.fails}, "
            f"{'passes' if passes else 'does NOT pass'} with {kind.passes}"
        )
    if closest is not None:
        typer.echo(f"{out / files.HISTORY}: `mockbroker replay` and `mockbroker view` show it")
    return all(fails and passes for fails, passes in ran.values())


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command(short_help="Show an incident that `analyze` found again, in tests that fail.")(reproduce)

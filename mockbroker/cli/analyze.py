"""`mockbroker analyze`: reads, searches, and reports."""

import importlib.util
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rich.console import Console

from ..extras import MissingExtraError
from ..pipeline.errors import PipelineError
from ..progress import doing

if TYPE_CHECKING:
    from ..pipeline.narrowing import Wanted


def wanted(around: str | None, group: str | None, topic: str | None, timezone: str) -> "Wanted":
    """What a report is narrowed to. PipelineError."""
    from ..pipeline.narrowing import Wanted, moment

    around_ms = None if around is None else moment(around, _zone(timezone))
    return Wanted(around_ms, group, topic)


def run(
    paths: Sequence[str],
    out: Path | None,
    timezone: str,
    engine: str = "auto",
    master: str | None = None,
    narrowed: "Wanted | None" = None,
) -> int:
    """Returns how many findings there are. PipelineError, OSError."""
    from tempfile import TemporaryDirectory

    zone = _zone(timezone)
    if out is None:
        with TemporaryDirectory(prefix="mockbroker-analyze-") as folder:
            return _run(paths, Path(folder), zone, engine, master, narrowed, keep=False)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise PipelineError(f"{out} exists: --out needs a new or empty folder")
    there = out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        return _run(paths, out, zone, engine, master, narrowed, keep=True)
    except BaseException:  # Ctrl-C, too
        for each in [*out.iterdir()] if there else [out]:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        raise


def _run(
    paths: Sequence[str],
    out: Path,
    zone: ZoneInfo,
    engine: str,
    master: str | None,
    narrowed: "Wanted | None",
    *,
    keep: bool,
) -> int:
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtraError("this needs pyarrow", "analyze")
    from ..pipeline.analysis import analyze
    from ..pipeline.narrowing import EVERYTHING
    from ..pipeline.page import write_page
    from ..pipeline.report import show

    console = Console(emoji=False)
    if not console.is_terminal:
        console = Console(emoji=False, width=110)
    with _progress() as tell:
        found = analyze(
            paths,
            out,
            timezone=zone,
            engine=engine,
            master=master,
            tell=tell,
            wanted=narrowed or EVERYTHING,
        )
    show(found, console)
    if keep:
        write_page(found, out / "report.html")
        console.print(
            f"wrote {out / 'report.html'}, and incidents.json, findings.parquet and observations/ beside it",
            markup=False,
        )
    return len(found.findings)


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Says on stderr what is being done: with a spinner on a terminal, else one line each."""
    console = Console(emoji=False, stderr=True)
    if not console.is_terminal:
        with doing("analyze") as told:
            yield told.tell
        return
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("", total=None)
        yield lambda what: progress.update(task, description=what)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise PipelineError(f"no time zone {name!r}: give an IANA name, such as Europe/Berlin") from None

"""`mockbroker explore`: many histories, what they violate, and the smallest of each kind."""

import enum
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeVar

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ..nearest import nearest
from ..simulation import workers
from ..simulation.consumer_setting import Commit, Reset
from ..simulation.exploring import Count, Summary, Variant, variants
from ..simulation.history import draw, happen
from ..simulation.plan import Options
from ..simulation.producer import Generation
from ..simulation.shrinking import shrink
from ..simulation.timeline import VIOLATION, until

E = TypeVar("E", bound=enum.StrEnum)
RUNS: Final = "runs"
"""The folder of `--out` with a Parquet file for each chunk of runs."""


def run(
    options: Options,
    seeds: range,
    *,
    fixed: str,
    engine: str,
    workers_: int | None,
    out: Path | None,
    timelines: bool,
) -> bool:
    """Prints what was found; whether anything was. ValueError, ImportError."""
    console, errors = Console(soft_wrap=True), Console(stderr=True)
    compared = variants(options, fixed)
    _check(compared)
    summary = Summary()
    with _progress(errors) as progress:
        task = progress.add_task("histories", total=len(seeds) * len(compared))
        for rows in _rows(compared, seeds, engine, workers_, out):
            summary.add(rows)
            progress.advance(task, len(rows))
    console.print(_table(summary, compared))
    console.print(f"{sum(summary.runs.values()):,} histories, {summary.requests:,} requests")
    if timelines:
        for invariant in summary.invariants:
            _show(console, errors, summary, compared, invariant, out)
    return bool(summary.counts)


def options(
    kafka: str,
    policies: dict[str, str],
    commit: str | None,
    reset: str | None,
    producer: str | None,
    transactional: bool | None,
    compacted: bool | None,
) -> Options:
    """What the command line says. ValueError names what is misspelt, and the nearest right name."""
    return Options(
        kafka,
        policies,
        _member(Commit, "--commit", commit),
        _member(Reset, "--reset", reset),
        _member(Generation, "--producer", producer),
        transactional,
        compacted,
    )


def _member(choices: type[E], option: str, value: str | None) -> E | None:
    if value is None:
        return None
    names = [each.value for each in choices]
    if value not in names:
        hint = nearest(value, names) or f": choose one of {', '.join(names)}"
        raise ValueError(f"{option} {value!r} is not known{hint}")
    return choices(value)


def _check(compared: list[Variant]) -> None:
    """Errors in names come before the first process starts."""
    for variant in compared:
        happen(draw(0, variant.options))


def _rows(
    compared: list[Variant], seeds: range, engine: str, workers_: int | None, out: Path | None
) -> Iterator[list[dict[str, Any]]]:
    if engine == "spark":
        from ..pipeline.sweep import explore

        yield from explore(compared, seeds, out)
        return
    for number, rows in enumerate(workers.explore(compared, seeds, workers_)):
        if out is not None:
            from ..simulation.files import write

            write(out / RUNS / f"part-{number:05}.parquet", rows)
        yield rows


def _progress(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console, transient=True)


def _table(summary: Summary, compared: list[Variant]) -> Table:
    """Narrow, so that 80 columns cut no name."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for title in ("violated", "found", "of 1,000 (95 %)", "first seed"):
        table.add_column(title, no_wrap=title != "violated", overflow="fold")
    for invariant in summary.invariants:
        table.add_row(Text(invariant, "bold"))
        for variant in compared:
            count = summary.counts.get((variant.name, invariant), Count(summary.runs[variant.name]))
            low, high = count.interval()
            table.add_row(
                f"  {variant.name}",
                f"{count.violations:,}",
                f"{1000 * count.violations / count.runs:.2f} ({1000 * low:.2f} to {1000 * high:.2f})",
                "" if count.first_seed is None else str(count.first_seed),
            )
    if not summary.counts:
        table.add_row("nothing")
    return table


def _show(
    console: Console,
    errors: Console,
    summary: Summary,
    compared: list[Variant],
    invariant: str,
    out: Path | None,
) -> None:
    """The shrunk timeline of an invariant's first violation."""
    variant = next(each for each in compared if (each.name, invariant) in summary.counts)
    seed = summary.counts[variant.name, invariant].first_seed
    assert seed is not None
    with errors.status(f"shrinking seed {seed}"):
        plan = shrink(draw(seed, variant.options), invariant)
    console.print()
    console.print(f"{invariant}, {variant.name}", style="bold")
    console.print(Text(plan.told))
    for line in until(happen(plan, recording=True).lines, invariant):
        console.print(Text(str(line), "red" if line.who == VIOLATION else ""))
    if out is not None:
        path = out / f"{invariant}-{seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(plan.to_json())
        console.print(f"mockbroker replay {path}")

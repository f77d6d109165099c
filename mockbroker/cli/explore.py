"""`mockbroker explore`: many histories, what they violate, and the smallest history of each violation."""

import contextlib
import enum
import importlib.util
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..extras import how_to_install
from ..nearest import nearest
from ..policies.groups.assignor_change import assignor_change
from ..policies.groups.emptied_expression import emptied_expression
from ..policies.groups.joining_again import joining_again
from ..policies.groups.old_member_epoch import old_member_epoch
from ..policies.groups.unsubscribed_partitions import unsubscribed_partitions
from ..policies.offsets.deposed_coordinator import deposed_coordinator
from ..policies.offsets.offsets_cleanup import offsets_cleanup
from ..policies.offsets.offsets_load import offsets_load
from ..policies.offsets.offsets_load_pace import offsets_load_pace
from ..policies.share_groups.added_share_partition import added_share_partition
from ..policies.share_groups.altered_share_epoch import altered_share_epoch
from ..policies.share_groups.altered_share_offsets import altered_share_offsets
from ..policies.share_groups.delivery_at_session_end import delivery_at_session_end
from ..policies.share_groups.log_start_in_a_batch import log_start_in_a_batch
from ..policies.share_groups.log_start_in_a_gap import log_start_in_a_gap
from ..policies.share_groups.release_beside_others import release_beside_others
from ..policies.share_groups.start_behind_log_start import start_behind_log_start
from ..policies.share_groups.worn_records import worn_records
from ..progress import counted
from ..protocol.releases import parse
from ..simulation import workers
from ..simulation.claims import claim
from ..simulation.consumer_setting import Commit, Reset
from ..simulation.drawing import draw, drawn
from ..simulation.exploring import Count, Summary, Variant, variants
from ..simulation.files import write, write_json_lines
from ..simulation.history import happen
from ..simulation.plan import Options
from ..simulation.producer_setting import Generation
from ..simulation.shrinking import shrink
from ..simulation.timeline import VIOLATION, until
from .interrupts import noted

E = TypeVar("E", bound=enum.StrEnum)
RUNS: Final = "runs"
"""The folder of `--out` with the files of runs."""
FILE_ROWS: Final = 1000
"""A file has this many runs, or a few more."""
_CONSUMER_GROUPS_SINCE: Final = parse("3.7")
_OF_CONSUMER_GROUPS: Final = {
    assignor_change.name,
    emptied_expression.name,
    joining_again.name,
    old_member_epoch.name,
    unsubscribed_partitions.name,
}
"""Behaviours that only show where a coordinator assigns partitions."""
_SHARE_GROUPS_SINCE: Final = parse("4.1")
_OF_SHARE_GROUPS: Final = {
    added_share_partition.name,
    altered_share_epoch.name,
    altered_share_offsets.name,
    delivery_at_session_end.name,
    log_start_in_a_batch.name,
    log_start_in_a_gap.name,
    release_beside_others.name,
    start_behind_log_start.name,
    worn_records.name,
}
"""Behaviours that only show in share groups."""
_OF_LOADS: Final = {
    deposed_coordinator.name,
    offsets_load.name,
    offsets_load_pace.name,
    offsets_cleanup.name,
}
"""Behaviours that only show when commits are records of `__consumer_offsets`."""
_NAMED: Final[dict[str, type[enum.StrEnum]]] = {"commit": Commit, "reset": Reset, "producer": Generation}


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
    """Prints what was found, and returns whether anything was. ValueError, ImportError.

    KeyboardInterrupt if it was interrupted: then it prints and keeps what was found so far, and says how to
    continue.
    """
    console, errors = Console(emoji=False, soft_wrap=True), Console(emoji=False, stderr=True)
    compared = variants(options, fixed)
    _check(compared)
    if out is not None:
        claim(out, compared, engine)
    summary = Summary()
    interrupted = _explore(summary, errors, compared, seeds, engine, workers_, out)
    console.print(_table(summary, compared))
    console.print(f"{sum(summary.runs.values()):,} histories, {summary.requests:,} requests")
    if len(seeds) == 1:
        console.print(_drawn(seeds.start, options))
    if interrupted:
        _tell_how_to_go_on(errors, summary, compared, seeds, engine, out)
        raise KeyboardInterrupt
    if timelines:
        for invariant in summary.invariants:
            _show(console, errors, summary, compared, invariant, out)
    return bool(summary.counts)


def _explore(
    summary: Summary,
    errors: Console,
    compared: list[Variant],
    seeds: range,
    engine: str,
    workers_: int | None,
    out: Path | None,
) -> bool:
    """Returns whether it was interrupted."""
    keep = None if out is None or engine == "spark" else Keep(out / RUNS, errors)
    total = len(seeds) * len(compared)
    with noted() as interrupt, counted("explore", "histories", total, errors) as so_far:
        # Closing it at once when the loop is left early ends the processes.
        with contextlib.closing(_rows(compared, seeds, engine, workers_, out)) as chunks:
            try:
                for rows in chunks:
                    summary.add(rows)
                    if keep is not None:
                        keep.add(rows)
                    so_far.advance(len(rows))
                    if interrupt.came:
                        break
            except KeyboardInterrupt:
                # Spark has its own handler for Ctrl-C.
                interrupt.came = True
        if keep is not None:
            keep.flush()
    return interrupt.came


def _tell_how_to_go_on(
    errors: Console, summary: Summary, compared: list[Variant], seeds: range, engine: str, out: Path | None
) -> None:
    done, total = sum(summary.runs.values()), len(seeds) * len(compared)
    told = f"interrupted after {done:,} of {total:,} histories"
    if engine == "spark":
        told += "; the same command continues with what is missing" if out is not None else ""
    else:
        # A seed goes through all variants before the next one begins.
        whole = min(summary.runs.get(each.name, 0) for each in compared)
        if whole < len(seeds):
            rest = f"--first {seeds.start + whole} --seeds {len(seeds) - whole}"
            told += f"; to continue: the same command with {rest}"
    errors.print(told, highlight=False, soft_wrap=True)


class Keep:
    """Writes runs to files in `folder` that are named by their seeds: as Parquet, or, without pyarrow, as
    JSON lines, which is reported to `errors`."""

    def __init__(self, folder: Path, errors: Console) -> None:
        self._folder = folder
        self._rows: list[dict[str, Any]] = []
        self._write, self._suffix = write, "parquet"
        if importlib.util.find_spec("pyarrow") is None:
            self._write, self._suffix = write_json_lines, "jsonl"
            told = f"writing JSON lines to {folder}; for Parquet: {how_to_install('parquet')}"
            errors.print(told, highlight=False, markup=False, soft_wrap=True)

    def add(self, rows: list[dict[str, Any]]) -> None:
        self._rows += rows
        if len(self._rows) >= FILE_ROWS:
            self.flush()

    def flush(self) -> None:
        if self._rows:
            seeds = [row["seed"] for row in self._rows]
            name = f"part-{min(seeds):08}-{max(seeds):08}-{len(seeds)}.{self._suffix}"
            self._write(self._folder / name, self._rows)
            self._rows = []


def options(kafka: str, policies: Mapping[str, str], **given: Any) -> Options:
    """The options of the command line, by the names in `Options`; None for one that is not given. ValueError
    for a misspelt name, with the nearest valid one, and for options that contradict each other."""
    for name, choices in _NAMED.items():
        given[name] = _member(choices, f"--{name}", given.get(name))
    for whole, part, of_whole, of_part in (
        ("offsets_topic", "newer_commits", _OF_LOADS, offsets_load.name),
        ("consumer_groups", "expressions", _OF_CONSUMER_GROUPS, emptied_expression.name),
    ):
        if given.get(part) is None:
            given[part] = of_part in policies and given.get(whole) is not False
        if given.get(whole) is None:
            given[whole] = given[part] or not of_whole.isdisjoint(policies)
        if given[part] and not given[whole]:
            raise ValueError(f"--{part} contradicts --no-{whole}".replace("_", "-"))
    if given.get("share_groups") is None:
        given["share_groups"] = not _OF_SHARE_GROUPS.isdisjoint(policies)
    return Options(kafka, policies, **given)


def _member(choices: type[E], option: str, value: str | None) -> E | None:
    if value is None:
        return None
    names = [each.value for each in choices]
    if value not in names:
        hint = nearest(value, names) or f": choose one of {', '.join(names)}"
        raise ValueError(f"{option} {value!r} is not known{hint}")
    return choices(value)


def _check(compared: list[Variant]) -> None:
    """Reports misspelt names before the first process starts, and what can't be served."""
    for variant in compared:
        if variant.options.consumer_groups and parse(variant.options.kafka) < _CONSUMER_GROUPS_SINCE:
            raise ValueError(f"brokers of {variant.options.kafka} have no consumer groups: only since 3.7")
        if variant.options.share_groups and parse(variant.options.kafka) < _SHARE_GROUPS_SINCE:
            raise ValueError(f"brokers of {variant.options.kafka} have no share groups: only since 4.1")
        if variant.options.expressions and importlib.util.find_spec("re2") is None:
            raise ImportError(f"--expressions: {how_to_install('regex')}")
        happen(draw(0, variant.options))


def _rows(
    compared: list[Variant], seeds: range, engine: str, workers_: int | None, out: Path | None
) -> Generator[list[dict[str, Any]], None, None]:
    if engine == "spark":
        from ..pipeline.sweep import explore

        yield from explore(compared, seeds, out)
        return
    yield from workers.explore(compared, seeds, workers_)


def _table(summary: Summary, compared: list[Variant]) -> Table:
    """Narrow enough that no name is cut at 80 columns."""
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


def _drawn(seed: int, options: Options) -> Text:
    """What the seed drew, by the names of the weights; what was made smaller since is there too."""
    shown = {
        name: ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()
        for name, value in drawn(seed, options)[1].items()
    }
    return Text(f"seed {seed} drew {' '.join(f'{name}={value}' for name, value in shown.items())}")


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
    try:
        with errors.status(f"shrinking seed {seed}"):
            plan = shrink(draw(seed, variant.options), invariant)
    except KeyboardInterrupt:
        again = f"the same command with --first {seed} --seeds 1"
        errors.print(f"interrupted while shrinking seed {seed}; to do it again: {again}", soft_wrap=True)
        raise
    console.print()
    console.print(f"{invariant}, {variant.name}", style="bold")
    console.print(Text(plan.in_words))
    console.print(_drawn(seed, variant.options))
    for line in until(happen(plan, recording=True).lines, invariant):
        console.print(Text(str(line), "red" if line.who == VIOLATION else ""))
    if out is not None:
        path = out / f"{invariant}-{seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(plan.to_json())
        console.print(f"mockbroker replay {path}")

"""Files, read part by part by the engine, ahead of whoever takes what they say.

What logs say comes back: only all parts together make its rows. All other rows are written where they are
read, or come back as tables if this process reads everything."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from .engine import Engine
from .looking import Look, grouped
from .observations import Observation
from .readers import Reading
from .readers.files import guarded, why
from .readers.log_entries import MOST_MORE
from .readers.log_spans import TAIL
from .readers.pieces import Told, told
from .readers.registry import LOGS, by_name
from .remote import File, here
from .writing import Columns, Row, Rows, Writers

if TYPE_CHECKING:
    import pyarrow as pa

_LOGS: Final = 16 << 20
"""Bytes of logs that are read at once: half as much comes back."""
_LARGE: Final = 64 << 20
"""Bytes of all files that are worth the seconds in which processes start."""


class Part(NamedTuple):
    """Of a file, for a reader: all of it, or from `start` to before `end`. `entries` are those of a log."""

    file: File
    reader: str
    start: int
    end: int
    entries: bool

    @property
    def size(self) -> int:
        return self.end - self.start


class Task(NamedTuple):
    """Parts that are read at once. Rows are written to `folder`, if there is one, in files with this
    number."""

    number: int
    parts: tuple[Part, ...]
    timezone: tzinfo
    folder: str | None


@dataclass(slots=True)
class PartRead:
    """What a part says: entries of a log are `told`, those of a compressed one have made `rows`, and other
    rows are only counted. `bad` says why it can't be read."""

    told: Told | None = None
    rows: list[Observation] = field(default_factory=list)
    count: int = 0
    reading: Reading = field(default_factory=Reading)
    bad: str | None = None


class TaskRead(NamedTuple):
    """`wrote`: the rows, other than those of logs, are in files; else in `tables`, by kind."""

    number: int
    parts: list[PartRead]
    tables: "list[tuple[str, pa.Table]]"
    wrote: bool


def tasks(looks: Iterable[Look], folder: str | None, timezone: tzinfo, part: int) -> Iterator[Task]:
    """Some `part` bytes each, or less of logs, in the order of the files. Logs, whose rows come back, and
    what is written where it is read are in different tasks: so rows stay in their order."""
    parts = (Part(each.file, each.reader, *range_, each.entries) for each in looks for range_ in each.ranges)
    number = count(1)
    for is_log, some in groupby(parts, lambda each: each.reader in LOGS):
        for group in grouped(some, lambda each: each.size, min(part, _LOGS) if is_log else part):
            yield Task(next(number), tuple(group), timezone, folder)


def read(task: Task) -> TaskRead:
    """Carries a task out: wherever, and again if need be."""
    tables: list[tuple[str, pa.Table]] = []
    writers = Writers(Path(task.folder), file_name(task.number)) if task.folder else None
    rows = Rows(writers.write if writers else lambda kind, table: tables.append((kind, table)))
    with _without_collections():
        parts = [_read(part, task, rows) for part in task.parts]
        rows.flush()
    if writers:
        writers.close()
    wrote = writers is not None and task.parts[0].reader not in LOGS
    return TaskRead(task.number, parts, tables, wrote)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Rows hold nothing that a collection of garbage would find, and each goes through all of them."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def file_name(task: int, *, rest: bool = False) -> str:
    """Of Parquet files, in the order of their rows: those of a task, or the `rest` before the next one's."""
    return f"read-{task:06}-{rest:d}"


def _read(part: Part, task: Task, rows: Rows) -> PartRead:
    done = PartRead(reading=Reading(task.timezone))
    try:
        if part.entries:
            # The last lines tell when the log ends.
            begin = min(part.start, part.file.size - TAIL) if part.end == part.file.size else part.start
            with here(part.file, max(begin, 0), part.end, MOST_MORE) as path:
                done.told = told(path, part.start, part.end, done.reading, part.reader)
            return done
        reader = by_name(part.reader)
        with here(part.file, part.start, part.end) as path:
            read_all: Callable[[], Iterator[Row]] = partial(reader.read, path, done.reading)
            if reader.read_part is not None:
                read_all = partial(reader.read_part, path, done.reading, part.start, part.end)
            found = guarded(part.reader, path, read_all)
            if part.file.store is not None:
                found = _named(found, path, part.file)
            if part.reader in LOGS:
                done.rows = [row for row in found if isinstance(row, Observation)]
            else:
                done.count = rows.add(found)
    except Exception as error:
        done.bad = why(error)
    return done


def _named(rows: Iterator[Row], path: Path, file: File) -> Iterator[Row]:
    """With the file's name in place of its copy's."""
    for row in rows:
        if isinstance(row, Columns):
            yield row.of_file(file.name)
            continue
        row.file = file.name
        if row.kind == "unreadable" and row.detail:
            row.detail = row.detail.replace(str(path), file.name)
        yield row


class Ahead:
    """Reads parts, which are asked for in the order of the files. `took` hears of each task first."""

    def __init__(
        self,
        looks: Iterable[Look],
        engine: Engine,
        folder: Path,
        timezone: tzinfo = UTC,
        took: Callable[[TaskRead], object] = lambda _: None,
    ) -> None:
        found = list(looks)
        apart = engine.is_apart or sum(each.file.size for each in found) >= _LARGE
        todo = list(tasks(found, str(folder) if apart else None, timezone, engine.part))
        self._done = engine.ahead(read, todo) if apart else (read(task) for task in todo)
        self._parts = self._each(todo, took)

    def _each(
        self, todo: Iterable[Task], took: Callable[[TaskRead], object]
    ) -> Iterator[tuple[Part, PartRead]]:
        for task, done in zip(todo, self._done, strict=True):
            took(done)
            yield from zip(task.parts, done.parts, strict=True)

    def of(self, found: Look, read: Callable[[int], object] = lambda _: None) -> Iterator[PartRead]:
        """The parts of the next file; `read` hears of the bytes of each."""
        for _ in found.ranges:
            part, done = next(self._parts)
            assert part.file == found.file, part
            yield done
            read(part.size)

    def close(self) -> None:
        """Ends the processes."""
        self._done.close()

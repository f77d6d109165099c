"""Reads everything into one table: Parquet, with a folder for each kind of row."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from pathlib import Path, PurePath
from typing import Final

from . import archives, bulk
from .ahead import Ahead, PartRead, TaskRead, file_name
from .engine import Engine, parquet_of
from .errors import PipelineError
from .looking import Archive, Look, look_at, unpack
from .observations import Observation
from .progress import Progress
from .readers.files import LogSpan, Reading, cut_rows, unreadable, why
from .readers.pieces import Told
from .readers.pieces import rows as rows_of
from .readers.registry import LOGS
from .readers.shapes import Shape
from .remote import files_of, local
from .tables import Table
from .writing import Rows, Writers

_SHAPES: Final = 20
FETCHED: Final = "fetched"
UNPACKED: Final = "unpacked"
"""The folders of files from elsewhere, beside the rows."""
Tell = Callable[[str], None]


@dataclass(slots=True)
class Collected:
    """`folder` has the rows; `files` says as what each file was read, `unknown` has those of no known kind,
    with what they lack if they are about Kafka. `silent` has two lines of each text from which no row was
    made, unless it is usual; `spans` says from when until when each log goes."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str | None] = field(default_factory=dict)
    silent: dict[str, list[str]] = field(default_factory=dict)
    without_zone: int = 0
    spans: dict[str, LogSpan] = field(default_factory=dict)
    unknown_lines: list[tuple[str, Shape]] = field(default_factory=list)

    def told_unknown(self, most: int) -> list[str]:
        """The first files of no known kind, with what they lack."""
        some = list(self.unknown.items())[:most]
        return [file if lacks is None else f"{file} ({lacks})" for file, lacks in some]

    def keep_silent(self, found: Look) -> None:
        """Nothing was understood of this file."""
        if found.shown:
            self.silent[found.file.name] = found.shown


def collect(
    paths: Iterable[str | Path],
    folder: Path,
    engine: Engine,
    timezone: tzinfo = UTC,
    tell: Tell = lambda _: None,
) -> Collected:
    """Reads files, and those in folders and archives, into the new `folder`; `engine` opens and reads them.

    Archives are unpacked beside it; what URIs name is copied there, unless the engine reads it where it is.

    PipelineError for a path that can't be read.
    """
    looks, bad = _looks(paths, folder, engine, tell)
    collected = Collected(folder)
    for each in looks:
        if not each.reader and not each.is_useless:
            collected.unknown[each.file.name] = each.lacks
            collected.keep_silent(each)
    known = [each for each in looks if each.reader]
    if not known:
        listed = collected.told_unknown(5) + [f"{each.file} ({each.detail})" for each in bad[:5]]
        raise PipelineError(f"no file has a known format: {', '.join(listed) or 'no files'}")
    reading, writer, repeats = Reading(timezone), _Writer(folder), Repeats()
    writer.add(bad)
    progress = Progress(sum(each.file.size for each in known), tell)
    whole = [each for each in known if not each.in_bulk]
    with closing(Ahead(whole, engine, folder, timezone, writer.took)) as files:
        for each in known:
            name = each.file.name
            tell(f"reading {name} ({each.what})")
            collected.files[name] = each.what
            if each.in_bulk:
                writer.add(_in_bulk(each, engine, folder))
                progress.read(each.file.size)
                continue
            parts = files.of(each, progress.read)
            if each.reader in LOGS:
                count = writer.add(repeats.without(name, _of_log(each, parts, reading)))
            else:
                count = sum(_counted(each, part, reading, writer) for part in parts)
            if not count:
                collected.keep_silent(each)
    writer.add(cut_rows(reading))
    writer.close()
    _release_memory()
    collected.without_zone, collected.spans = reading.without_zone, reading.spans
    collected.unknown_lines = reading.shapes.most_frequent(_SHAPES)
    return collected


def _release_memory() -> None:
    """Arrow keeps what it used for the next rows, of which there are none: searches need it."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()


def _looks(
    paths: Iterable[str | Path], folder: Path, engine: Engine, tell: Tell
) -> tuple[list[Look], list[Observation]]:
    """What all files are, those of archives too, and rows for what can't be opened."""
    bad: list[Observation] = []

    def refused(path: Path, error: Exception) -> None:
        bad.append(unreadable(archives.SOURCE, str(path), 0, why(error)))

    files = files_of(paths, folder.with_name(FETCHED), refused, tell, copy=not engine.is_apart)
    if files:
        tell(f"looking at {len(files):,} file{'s' * (len(files) != 1)}")
    found = look_at(files, engine, tell)
    packed = [each.file for each in found if each.is_archive]
    into = [
        folder.with_name(UNPACKED) / str(nth) / Path(each.name).name for nth, each in enumerate(packed, 1)
    ]
    if packed:
        tell(f"unpacking {len(packed):,} archive{'s' * (len(packed) != 1)}")
    todo = [Archive(*each) for each in zip(packed, into, strict=True)]
    for rows in engine.ahead(unpack, todo) if engine.is_apart else map(unpack, todo):
        bad += rows
    inside = iter(into)
    looks: list[Look] = []
    for each in found:
        some = look_at(local(next(inside), refused), engine, tell, packed=True) if each.is_archive else [each]
        bad += [one.bad for one in some if one.bad is not None]
        looks += [one for one in some if one.bad is None]
    return looks, bad


def _of_log(found: Look, parts: Iterable[PartRead], reading: Reading) -> Iterator[Observation]:
    """The rows of a log, whose parts say what its entries tell, or have the rows of all of it."""
    bad: list[str] = []

    def told() -> Iterator[Told]:
        for part in parts:
            if part.told is not None:
                yield part.told
            elif part.bad is not None:
                bad.append(part.bad)

    name = found.file.name
    if found.entries:
        yield from rows_of(found.reader, name, told(), reading)
    else:
        for part in parts:
            yield from part.rows
            reading.add(part.reading, name)
            bad += [part.bad] if part.bad is not None else []
    if bad:
        yield unreadable(found.reader, name, 0, bad[0])


def _counted(found: Look, part: PartRead, reading: Reading, writer: "_Writer") -> int:
    """How many rows of a part were written elsewhere, or have to be here."""
    reading.add(part.reading, found.file.name)
    if part.bad is None:
        return part.count
    return writer.add([unreadable(found.reader, found.file.name, 0, part.bad)])


def _in_bulk(found: Look, engine: Engine, folder: Path) -> list[Observation]:
    try:
        bulk.read(engine, Path(found.file.name), folder)
    except Exception as error:
        return [unreadable(found.reader, found.file.name, 0, why(error))]
    return []


class Repeats:
    """Leaves out log lines that another file has too: a broker prints to kafkaServer.out what it writes to
    server.log. A line that one file has several times is kept as often as any file has it."""

    def __init__(self) -> None:
        self._most: Counter[int] = Counter()

    def without(self, file: str, rows: Iterator[Observation]) -> Iterator[Observation]:
        folder = str(PurePath(file).parent)
        here: Counter[int] = Counter()
        for row in rows:
            if row.source in LOGS and row.kind != "unreadable":
                # Lines that don't tell their broker may be those of several, if they lie in several folders.
                whose = folder if row.broker is None else row.broker
                key = hash((whose, row.kind, row.time_ms, row.topic, row.partition, row.text))
                here[key] += 1
                if here[key] <= self._most[key]:
                    continue
            yield row
        self._most |= here


class _Writer:
    """Writes rows to Parquet, each in its `kind=…/`, between those that others write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = self._begun(0)
        self._rows = Rows(lambda kind, table: self._files.write(kind, table))

    def _begun(self, after: int) -> Writers:
        return Writers(self._folder, file_name(after, rest=True))

    def add(self, rows: Iterable[Observation]) -> int:
        """Returns how many there were."""
        return self._rows.add(rows)

    def took(self, task: TaskRead) -> None:
        """A task was done, which may have tables, or have written some."""
        if task.wrote:
            self.close()
            self._files = self._begun(task.number)
        elif task.tables:
            self._rows.flush()
            for kind, table in task.tables:
                self._files.write(kind, table)

    def close(self) -> None:
        self._rows.flush()
        self._files.close()


def observations(engine: Engine, folder: Path) -> Table:
    """The table that `collect` wrote."""
    from .rows import comparable

    return comparable(engine.files(parquet_of(folder)))

"""Reads everything into one table: Parquet, with a folder for each kind of row."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from functools import partial
from pathlib import Path
from typing import Any, Final

from .engine import Engine, parquet_of
from .errors import PipelineError
from .observations import KINDS, NAMES, Observation
from .readers.files import LogSpan
from .readers.shapes import Shape
from .tables import Table
from .writing import Writers, folder_schema

_BATCH: Final = 50_000
_SHOWN: Final = 200
_SHAPES: Final = 20
FETCHED: Final = "fetched"
UNPACKED: Final = "unpacked"
"""The folders of files from elsewhere, beside the rows."""
_QUIET: Final = ("broker-log", "checkpoint", "segment")
"""Some files of these kinds say nothing of what is searched for."""
_LOGS: Final = ("broker-log", "client-log", "librdkafka-log")
Tell = Callable[[str], None]


@dataclass(slots=True)
class Collected:
    """`folder` has the rows; `files` says as what each file was read, `unknown` lists those of no known
    kind. `silent` has two lines of each text from which no row was made, unless it is usual; `spans` says
    from when until when each log goes."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    unknown: list[str] = field(default_factory=list)
    silent: dict[str, list[str]] = field(default_factory=dict)
    without_zone: int = 0
    spans: dict[str, LogSpan] = field(default_factory=dict)
    unknown_lines: list[tuple[str, Shape]] = field(default_factory=list)

    def keep_silent(self, path: Path) -> None:
        """Nothing was understood of this file."""
        from .readers.files import head

        if shown := [line[:_SHOWN] for line in head(path).lines if line.strip()][:2]:
            self.silent[str(path)] = shown


def collect(
    paths: Iterable[str | Path],
    folder: Path,
    engine: Engine,
    timezone: tzinfo = UTC,
    tell: Tell = lambda _: None,
) -> Collected:
    """Reads files, and those in folders and archives, into the new `folder`; `engine` reads large traces.

    Archives are unpacked beside it, and what URIs name is copied there.

    PipelineError for a path that can't be read.
    """
    from . import ahead, bulk
    from .ahead import Ahead
    from .archives import unpack
    from .progress import Progress
    from .readers import Reading, survey
    from .readers.files import cut_rows, guarded, unreadable, why
    from .remote import fetched

    here = fetched(paths, folder.with_name(FETCHED), tell)
    unpacked = unpack(here, folder.with_name(UNPACKED))
    found = survey(
        unpacked.paths,
        lambda path, error: unpacked.bad.append(unreadable("text", str(path), 0, why(error))),
    )
    collected = Collected(folder, unknown=[str(path) for path in found.unknown])
    for path in found.unknown:
        collected.keep_silent(path)
    if not found.recognised:
        listed = collected.unknown[:5] + [f"{each.file} ({each.detail})" for each in unpacked.bad[:5]]
        raise PipelineError(f"no file has a known format: {', '.join(listed) or 'no files'}")
    reading = Reading(timezone)
    writer, repeats = _Writer(folder), _Repeats()
    writer.write(iter(unpacked.bad))
    sizes = [path.stat().st_size for path, _ in found.recognised]
    in_pieces = [ahead.can_read(*each) for each in found.recognised]
    logs = Ahead(
        [path for (path, _), cut in zip(found.recognised, in_pieces, strict=True) if cut], engine, timezone
    )
    progress = Progress(sum(sizes), tell)
    with closing(logs):
        for (path, reader), size, cut in zip(found.recognised, sizes, in_pieces, strict=True):
            tell(f"reading {path} ({reader.what})")
            collected.files[str(path)] = reader.what
            if cut:
                rows = partial(logs.read, path, reading, progress.read)
                writer.write(repeats.without(path, guarded(reader.name, path, rows)))
                continue
            if bulk.can_read(path, reader.name):
                try:
                    bulk.read(engine, path, folder)
                except Exception as error:
                    writer.write(iter([unreadable(reader.name, str(path), 0, why(error))]))
            else:
                rows = partial(reader.read, path, reading)
                count = writer.write(repeats.without(path, guarded(reader.name, path, rows)))
                if not count and reader.name not in _QUIET:
                    collected.keep_silent(path)
            progress.read(size)
    writer.write(cut_rows(reading))
    writer.close()
    collected.without_zone, collected.spans = reading.without_zone, reading.spans
    collected.unknown_lines = reading.shapes.most_frequent(_SHAPES)
    return collected


class _Repeats:
    """Leaves out log lines that another file has too: a broker prints to kafkaServer.out what it writes to
    server.log. A line that one file has several times is kept as often as any file has it."""

    def __init__(self) -> None:
        self._most: Counter[int] = Counter()

    def without(self, path: Path, rows: Iterator[Observation]) -> Iterator[Observation]:
        here: Counter[int] = Counter()
        for row in rows:
            if row.source in _LOGS and row.kind != "unreadable":
                # Lines that don't tell their broker may be those of several, if they lie in several folders.
                whose = path.parent if row.broker is None else row.broker
                key = hash((whose, row.kind, row.time_ms, row.topic, row.partition, row.text))
                here[key] += 1
                if here[key] <= self._most[key]:
                    continue
            yield row
        self._most |= here


class _Writer:
    """Writes rows to Parquet, each in its `kind=…/`."""

    def __init__(self, folder: Path) -> None:
        self._columns: dict[str, dict[str, list[Any]]] = {}
        self._files = Writers(folder, "read")

    def write(self, rows: Iterator[Observation]) -> int:
        """Returns how many there were."""
        count = 0
        for count, row in enumerate(rows, 1):  # noqa: B007
            columns = self._columns.get(row.kind)
            if columns is None:
                columns = self._columns[row.kind] = {name: [] for name in NAMES if name != "kind"}
            for name, values in columns.items():
                values.append(getattr(row, name))
            if len(columns["file"]) >= _BATCH:
                self._flush(row.kind)
        return count

    def _flush(self, kind: str) -> None:
        import pyarrow as pa

        assert kind in KINDS, kind
        self._files.write(kind, pa.table(self._columns.pop(kind), schema=folder_schema()))

    def close(self) -> None:
        for kind in list(self._columns):
            self._flush(kind)
        self._files.close()


def observations(engine: Engine, folder: Path) -> Table:
    """The table that `collect` wrote."""
    from .rows import comparable

    return comparable(engine.files(parquet_of(folder)))

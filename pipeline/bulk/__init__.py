"""Large traces: read in parallel by few long tasks, into the same table that `readers/trace.py` makes.

What no search uses is left out: answers to JoinGroup and InitProducerId, and the groups of refused requests
that are not about a partition.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from ...json_texts import read_json
from ...trace.events import SCHEMA_VERSION
from ..engine import Engine
from ..observations import Observation
from ..readers.exchanges import topic_ids
from ..writing import Writers

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

LEAST_BYTES: Final = 32 << 20
"""Smaller files take longer in this way."""
SPLIT_BYTES: Final = 128 << 20
_BLOCK_BYTES: Final = 24 << 20
_BLOCK_ROWS: Final = 1 << 15
_SOURCE: Final = "trace"
_METADATA: Final = b'"api":"Metadata"'
_POSITION: Final = "~position"
_HALVES: Final = ("~asked", "~answered", _POSITION, "~fetched")
"""Kinds of rows that need others: requests and answers, and those of Fetch."""


def can_read(path: Path, reader: str) -> bool:
    """Whether a file is a trace, large, of a known version, and not compressed."""
    if reader != _SOURCE or path.stat().st_size < LEAST_BYTES:
        return False
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        version = (pq.read_schema(path).metadata or {}).get(b"version", b"")
        return version.isdigit() and 1 <= int(version) <= SCHEMA_VERSION
    with path.open("rb") as file:
        head = file.readline(1 << 10)
    try:
        return bool(1 <= read_json(head)["version"] <= SCHEMA_VERSION)
    except (ValueError, KeyError, TypeError):
        return False


class Split(NamedTuple):
    """What one task reads: the bytes of lines that begin in [start, end), or row groups of Parquet. `before`
    is the number of lines, or rows, before them; `names` are the names of the file's topic ids."""

    path: str
    start: int
    end: int
    before: int
    folder: str
    names: dict[str, str] = {}  # noqa: RUF012

    @property
    def stem(self) -> str:
        """The beginning of the names of files that are written: different for different traces of the same
        name."""
        return f"{Path(self.path).stem}-{sha256(self.path.encode()).hexdigest()[:8]}"


def read(engine: Engine, path: Path, folder: Path, split_bytes: int = SPLIT_BYTES) -> None:
    """Adds the rows of a trace of a known version to `folder`, each in its `kind=…/`."""
    from . import shares
    from .resets import add_resets

    splits = _ranges(path, folder, split_bytes)
    if path.suffix == ".parquet":
        (groups,) = engine.each(_row_groups, [path])
        splits = [Split(str(path), group, group + 1, 0, str(folder)) for group in range(groups)]
    looks = engine.each(_look, splits)
    before = list(accumulate((look.rows for look in looks), initial=0))
    names = {topic_id: name for look in looks for topic_id, name in look.names.items()}
    splits = [each._replace(before=before[nth], names=names) for nth, each in enumerate(splits)]
    engine.each(_work, splits)
    _pair_the_rest(folder, splits[0].stem)
    add_resets(engine, folder, f"{splits[0].stem}-resets")
    shares.write(folder, f"{splits[0].stem}-shares", str(path), names)
    for unfinished in folder.glob("kind=~*"):
        shutil.rmtree(unfinished)


def _ranges(path: Path, folder: Path, split_bytes: int) -> list[Split]:
    size = path.stat().st_size
    starts = range(0, size, split_bytes)
    return [Split(str(path), start, min(start + split_bytes, size), 0, str(folder)) for start in starts]


def _row_groups(path: Path) -> int:
    import pyarrow.parquet as pq

    return int(pq.ParquetFile(path).metadata.num_row_groups)


def _blocks(split: Split) -> Iterator[bytes]:
    """Whole lines: those that begin in the split."""
    with open(split.path, "rb") as file:
        if split.start:
            # The line to which the byte before belongs is another task's.
            file.seek(split.start - 1)
            file.readline()
        while (at := file.tell()) < split.end:
            data = file.read(min(_BLOCK_BYTES, split.end - at))
            if not data.endswith(b"\n"):
                data += file.readline()
            yield data


class _Look(NamedTuple):
    """Lines, or rows, of a split, and the names of topic ids in its Metadata answers."""

    rows: int
    names: dict[str, str]


def _look(split: Split) -> _Look:
    names: dict[str, str] = {}
    if split.path.endswith(".parquet"):
        import pyarrow.parquet as pq

        file = pq.ParquetFile(split.path)
        for body in _metadata_in(file, split):
            names |= _names(body)
        return _Look(file.metadata.row_group(split.start).num_rows, names)
    rows = 0
    for data in _blocks(split):
        rows += data.count(b"\n")
        at = data.find(_METADATA)
        while at >= 0:
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            names |= _names(data[data.rfind(b"\n", 0, at) + 1 : end])
            at = data.find(_METADATA, end)
    return _Look(rows, names)


def _metadata_in(file: "pq.ParquetFile", split: Split) -> Iterator[str]:
    import pyarrow.compute as pc

    groups = list(range(split.start, split.end))
    for batch in file.iter_batches(_BLOCK_ROWS, row_groups=groups, columns=["kind", "api", "body"]):
        some = pc.and_(pc.equal(batch["kind"], "answer"), pc.equal(batch["api"], "Metadata"))
        yield from batch["body"].filter(some).drop_null().to_pylist()


def _names(text: str | bytes) -> dict[str, str]:
    """The names of topic ids in a row with a body, or in a body."""
    try:
        row = read_json(text)
        return topic_ids(row.get("body", row))
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}  # what can't be read is reported where rows are read


def _work(split: Split) -> None:
    """Writes a file for each kind. A task that is retried writes the same files again."""
    from .rows import without_text

    writers = Writers(Path(split.folder), f"{split.stem}-{split.start}")
    halves: dict[str, list[pa.Table]] = {}
    for kind, table in _parquet(split) if split.path.endswith(".parquet") else _lines(split):
        if kind in _HALVES:
            halves.setdefault(kind, []).append(table)
        else:
            writers.write(kind, table)
        if kind == _POSITION:
            writers.write("position", without_text(table))
    _write_pairs(writers, halves, last=False)


def _pair_the_rest(folder: Path, stem: str) -> None:
    """Pairs requests with answers that another task has read."""
    import pyarrow.parquet as pq

    files = {kind: sorted((folder / f"kind={kind}").glob("*.parquet")) for kind in _HALVES}
    halves = {kind: [pq.ParquetFile(each).read() for each in paths] for kind, paths in files.items()}
    _write_pairs(Writers(folder, f"{stem}-rest"), halves, last=True)


def _write_pairs(writers: Writers, halves: "Mapping[str, Sequence[pa.Table]]", *, last: bool) -> None:
    """Writes what requests and answers say together, and closes the files."""
    import pyarrow as pa

    from .fetching import taken
    from .pairing import pair
    from .rows import SCHEMA

    asked, answered, positions, fetched = (
        pa.concat_tables([SCHEMA.empty_table(), *halves.get(kind, ())]) for kind in _HALVES
    )
    for kind, table in chain(pair(asked, answered, last=last), taken(positions, fetched, last=last)):
        writers.write(kind, table)
    writers.close()


def _lines(split: Split) -> "Iterator[tuple[str, pa.Table]]":
    import pyarrow as pa
    import pyarrow.compute as pc

    from . import shares
    from .parsing import parse
    from .rows import told

    line = split.before
    for data in _blocks(split):
        found, bad = parse(data)
        for rows, nth in found:
            yield from told(rows, pc.add(nth, pa.scalar(line + 1)), split.path, split.names)
            if some := nth.filter(shares.is_told(rows).combine_chunks()).to_pylist():
                yield shares.LINES, shares.of_lines(data, some, line, split.path)
        torn = None if data.endswith(b"\n") else data.count(b"\n")
        reasons = [
            (
                line + 1 + each.nth,
                f"torn last line: {each.reason}" if each.nth == torn else each.reason,
                each.text,
            )
            for each in bad
        ]
        yield "unreadable", _unreadable(split.path, reasons)
        line += data.count(b"\n")


def _parquet(split: Split) -> "Iterator[tuple[str, pa.Table]]":
    import pyarrow as pa
    import pyarrow.parquet as pq

    from . import shares
    from .rows import told

    file = pq.ParquetFile(split.path)
    row = split.before
    groups = list(range(split.start, split.end))
    for batch in file.iter_batches(_BLOCK_ROWS, row_groups=groups):
        rows = pa.Table.from_batches([batch])
        for start, some in _readable(rows):
            if isinstance(some, str):
                yield "unreadable", _unreadable(split.path, [(row + start + 1, some, None)])
                continue
            positions = pa.array(range(row + start + 1, row + start + 1 + len(some)), pa.int64())
            yield from told(some, positions, split.path, split.names)
            mask = shares.is_told(some)
            if any(mask.to_pylist()):
                whole = rows.slice(start, len(some)).filter(mask)
                yield shares.LINES, shares.of_rows(whole, positions.filter(mask).to_pylist(), split.path)
        row += len(rows)


def _readable(rows: "pa.Table", start: int = 0) -> "Iterator[tuple[int, pa.Table | str]]":
    """Rows in parts with their bodies parsed, and the reason for each that can't be."""
    import pyarrow as pa

    from .parsing import APIS, with_bodies

    try:
        read = with_bodies(rows)
        if len(read) == len(rows):
            yield start, read
            return
        reason = "a body is not an object"
    except pa.ArrowInvalid as error:
        reason = str(error)
    if len(rows) == 1:
        if rows["api"][0].as_py() in APIS:
            yield start, reason
        return
    middle = len(rows) // 2
    yield from _readable(rows.slice(0, middle), start)
    yield from _readable(rows.slice(middle), start + middle)


def _unreadable(file: str, reasons: Sequence[tuple[int, str, str | None]]) -> "pa.Table":
    import pyarrow as pa

    from .rows import SCHEMA

    rows = [Observation("unreadable", _SOURCE, file, at, detail=why, text=text) for at, why, text in reasons]
    return pa.table({name: [getattr(row, name) for row in rows] for name in SCHEMA.names}, schema=SCHEMA)


__all__ = ["LEAST_BYTES", "can_read", "read"]

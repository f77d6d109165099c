"""What large traces tell of share groups: by the reader of small ones, line by line. There are few of these
lines, and what they say depends on earlier ones."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ...dumps.files import Line
from ...json_texts import read_json
from ..observations import Observation
from ..readers.share_exchanges import APIS
from ..readers.trace import Exchanges, of_line
from ..writing import Rows, Writers
from .rows import SCHEMA

LINES: Final = "~share"
_STATE: Final = "share-partition"


def is_told(rows: pa.Table) -> pa.ChunkedArray:
    """Which rows of a trace are about share groups."""
    asked = pc.and_(
        pc.is_in(rows["kind"], pa.array(["request", "answer"])), pc.is_in(rows["api"], pa.array(APIS))
    )
    return pc.fill_null(pc.or_(pc.equal(rows["kind"], _STATE), asked), False)


def of_lines(data: bytes, nth: Sequence[int], before: int, path: str) -> pa.Table:
    """Some lines of a block, as they are; `before` is the number of lines before it."""
    lines = data.split(b"\n")
    return _kept(path, [(before + 1 + each, lines[each].decode(errors="replace")) for each in nth])


def of_rows(rows: pa.Table, positions: Sequence[int], path: str) -> pa.Table:
    """Rows of Parquet, as lines."""
    found = []
    for row, position in zip(rows.to_pylist(), positions, strict=True):
        told = {name: value for name, value in row.items() if value is not None}
        for name in {"body", "in_flight"} & told.keys():
            told[name] = read_json(told[name])
        found.append((position, json.dumps(told)))
    return _kept(path, found)


def _kept(path: str, lines: Sequence[tuple[int, str]]) -> pa.Table:
    rows = [Observation(LINES, "trace", path, position, text=text) for position, text in lines]
    return pa.table({name: [getattr(row, name) for row in rows] for name in SCHEMA.names}, schema=SCHEMA)


def write(folder: Path, name: str, path: str, names: Mapping[str, str]) -> None:
    """Adds to `folder` what these lines say. `names` are those of topic ids."""
    writers = Writers(folder, name)
    rows = Rows(writers.write)
    rows.add(_told(folder / f"kind={LINES}", path, names))
    rows.flush()
    writers.close()


def _told(folder: Path, path: str, names: Mapping[str, str]) -> Iterator[Observation]:
    state = Exchanges()
    state.names |= names
    for file in sorted(folder.glob("*.parquet"), key=_first):
        for batch in pq.ParquetFile(file).iter_batches(columns=["position", "text"]):
            for row in batch.to_pylist():
                for each in of_line(Line(row["position"], row["text"], True), state, path):
                    each.text = None
                    yield each


def _first(file: Path) -> Any:
    return pq.ParquetFile(file).read_row_group(0, columns=["position"])["position"][0].as_py()

"""The rows of Arrow's batches as tuples, made column by column, which is faster than value by value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def rows_of(batches: Iterable[pa.RecordBatch], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """The values of columns as `to_pylist` gives them, None for those that there are not. Texts that are
    equal are one object in all rows of a batch."""
    for batch in batches:
        values = {name: _values(batch.column(name), len(batch)) for name in batch.schema.names}
        yield from zip(*(values.get(name, repeat(None, len(batch))) for name in names), strict=True)


def _values(column: pa.Array, count: int) -> Iterable[Any]:
    import pyarrow.types as kinds

    if column.null_count == count:
        return repeat(None, count)
    if kinds.is_string(column.type):
        found = column.dictionary_encode()
        # Null has the index -1 here: the last of them.
        texts = [*found.dictionary.to_pylist(), None]
        return map(texts.__getitem__, found.indices.fill_null(-1).to_numpy().tolist())
    if kinds.is_integer(column.type) and not column.null_count:
        whole: list[int] = column.to_numpy().tolist()
        return whole
    values: list[Any] = column.to_pylist()
    return values

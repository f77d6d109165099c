"""The rows of Arrow's batches as tuples, made column by column, which is faster than value by value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[Any, ...]]:
    """The values as `to_pylist` gives them. Texts that are equal are one object in all rows of a batch."""
    for batch in batches:
        if batch.num_columns:
            yield from zip(*(_values(each, len(batch)) for each in batch.columns), strict=True)


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

"""Rows are made of Arrow's batches as Arrow itself makes them."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from mockbroker.pipeline.tables.batches import rows_of

COLUMNS = {
    pa.string(): st.sampled_from(["", "orders", "größer", "orders-0"]),
    pa.int32(): st.integers(-(1 << 31), (1 << 31) - 1),
    pa.int64(): st.integers(-(1 << 63), (1 << 63) - 1),
    pa.list_(pa.int32()): st.lists(st.integers(0, 3), max_size=2),
    pa.bool_(): st.booleans(),
    pa.float64(): st.floats(allow_nan=False),
}
LENGTH = 6


def columns(kind: pa.DataType) -> st.SearchStrategy[pa.Array]:
    """With some nulls, with none, and with nothing else."""
    some = COLUMNS[kind]
    values = st.one_of(
        *(
            st.lists(each, min_size=LENGTH, max_size=LENGTH)
            for each in (some, st.one_of(st.none(), some), st.none())
        )
    )
    return values.map(lambda made: pa.array(made, kind))


@given(st.tuples(*map(columns, COLUMNS)), st.integers(0, LENGTH), st.integers(0, LENGTH))
def test_values_are_those_of_to_pylist(made: tuple[pa.Array, ...], start: int, length: int) -> None:
    batch = pa.RecordBatch.from_arrays(list(made), [str(kind) for kind in COLUMNS]).slice(start, length)
    expected = [tuple(row.values()) for row in batch.to_pylist()]
    found = [row[1:] for row in rows_of([batch, batch], ["not there", *batch.schema.names])]
    assert found == expected * 2
    assert [list(map(type, row)) for row in found] == [list(map(type, row)) for row in expected * 2]

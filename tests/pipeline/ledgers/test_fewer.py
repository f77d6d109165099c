"""Rows that a ledger leaves out change nothing of what it notes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockbroker.pipeline.engine import DuckEngine
from mockbroker.pipeline.ledgers import Ledger
from mockbroker.pipeline.ledgers.reading import LEDGERS, noted
from mockbroker.pipeline.observations import Observation, arrow_schema
from mockbroker.pipeline.tables import as_it_is

SEGMENTS = [f"broker{broker}/__consumer_offsets-0/{base:020}.log" for broker in (1, 2) for base in (0, 100)]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["commit"] * 40 + ["tombstone", "restore"]),
        st.sampled_from([*SEGMENTS * 3, "client.log"]),
        st.sampled_from([0, 1, 20, 90]),
        st.one_of(st.integers(0, 20), st.none()),
        st.sampled_from(["billing", "shipping"]),
    ),
    max_size=14,
)
NARROWED = [each for each in LEDGERS.values() if each.fewer is not as_it_is]


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckEngine]:
    with TemporaryDirectory() as scratch, closing(DuckEngine(Path(scratch))) as used:
        yield used


def observed(rows: list[tuple[str, str, int, int | None, str]]) -> pa.Table:
    now_ms, made = 1_700_000_000_000, []
    for position, (kind, file, seconds, offset, group) in enumerate(rows):
        now_ms += 1_000 * seconds
        source = "client-log" if file == "client.log" else "segment"
        made.append(
            Observation(
                kind, source, file, position, now_ms, group=group, topic="orders", partition=0, offset=offset
            )
        )
    columns = {name: [getattr(each, name) for each in made] for name in arrow_schema().names}
    return pa.Table.from_pydict(columns, arrow_schema())


@pytest.mark.parametrize("ledger", NARROWED, ids=lambda each: each.name)
@given(ROWS)
@settings(max_examples=100)
def test_the_same_is_noted(
    engine: DuckEngine, ledger: Ledger, rows: list[tuple[str, str, int, int | None, str]]
) -> None:
    table = engine.table(observed(rows))
    assert noted(table, ledger) == noted(table, replace(ledger, fewer=as_it_is))

"""Tables that DuckDB searches, on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from .batches import rows_of
from .dialects import DUCKDB
from .stepwise import Step, Steps, query, rows, rows_of_many, used_again
from .table import Fold, Table, joined_columns

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_name = DUCKDB.name
_NEED_BOTH: Final = ("INNER", "LEFT SEMI")
"""Joins that have no rows if one of the tables has none."""
_AT_A_TIME: Final = 10_000
"""The rows that are fetched of a result that is longer."""


@dataclass
class Database:
    """What the tables of one connection have in common; `numbers` makes the names of their steps.

    If there are `few_rows`, to plan takes longer than to carry out, and what is used more than once is worked
    out once. `large` are filters that turned out to let many rows pass. `read` is told of rows that are
    folded."""

    connection: duckdb.DuckDBPyConnection
    numbers: Iterator[int] = field(default_factory=count)
    few_rows: bool = False
    large: set[str] = field(default_factory=set)
    read: Callable[[int], None] = lambda _: None


class DuckTable(Table):
    """The result of a SELECT. Those on which it stands are its `steps`, by name: the parts of one WITH."""

    dialect = DUCKDB

    def __init__(
        self,
        database: Database,
        step: Step,
        columns: Sequence[str],
        steps: Steps | None = None,
        once: frozenset[str] = frozenset(),
    ) -> None:
        self.columns = columns
        self._database = database
        self._step = f"step_{next(database.numbers)}"
        self._steps: Steps = {**(steps or {}), self._step: step}
        self._once = once

    def distinct(self) -> DuckTable:
        return self._then(f"SELECT DISTINCT * FROM {self._step}", self.columns)

    def persist(self) -> DuckTable:
        kept = self._then(f"SELECT * FROM {self._step}", self.columns)
        kept._once |= {kept._step}
        return kept

    def broadcast(self) -> DuckTable:
        return self

    def limit(self, rows: int) -> DuckTable:
        return self._then(f"SELECT * FROM {self._step} LIMIT {rows}", self.columns)

    def collect(self) -> list[dict[str, Any]]:
        connection = self._database.connection
        # Not by Arrow: a relation is planned twice, when it is made and when its rows are asked for.
        if self._database.few_rows:
            found = rows(connection, self._steps, self._step)
        else:
            with connection.cursor() as own:  # several searches may run at once
                found = rows_of_many(own, self._steps, self._step, self._once, self._database.large)
        return [dict(zip(self.columns, row, strict=True)) for row in found]

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._database.connection.sql(self.query()).to_arrow_table()

    def _folded(
        self, key: str, order: Sequence[str], names: Sequence[str], fold: Fold, schema: pa.Schema
    ) -> list[dict[str, Any]]:
        by = ", ".join(f"{_name(each)} NULLS FIRST" for each in (key, *order))
        if self._database.few_rows:
            found = rows(self._database.connection, self._steps, self._step, f"ORDER BY {by}")
            places = [self.columns.index(each) if each in self.columns else -1 for each in names]
            return list(fold(tuple((*row, None)[at] for at in places) for row in found))
        query = f"{self.query()} ORDER BY {by}"
        return list(fold(_streamed(self._database.connection, query, names, self._database.read)))

    def query(self) -> str:
        """All of it as SQL."""
        once = self._once | (used_again(self._steps) if self._database.few_rows else set())
        return query(self._steps, self._step, once)

    def _select(self, what: Sequence[tuple[str, str]]) -> DuckTable:
        step = Step(
            f"SELECT {_items(what)} FROM {self._step}",
            (self._step,),
            ((self._step,),),
            streams=not any(" OVER (" in sql for _, sql in what),
        )
        return self._made(step, [name for name, _ in what])

    def _where(self, condition: str) -> DuckTable:
        select = f"SELECT * FROM {self._step} WHERE {condition}"
        step = Step(select, (self._step,), ((self._step,),), condition, streams=True)
        return self._made(step, self.columns)

    def _join_using(self, other: DuckTable, names: Sequence[str], how: str) -> DuckTable:
        using = ", ".join(map(_name, names))
        return self._joined(other, how, f"USING ({using})", names)

    def _join_on(self, other: DuckTable, condition: str, how: str) -> DuckTable:
        return self._joined(other, how, f"ON {condition}")

    def _joined(self, other: DuckTable, how: str, on: str, names: Sequence[str] = ()) -> DuckTable:
        columns = joined_columns(self, other, how, names)
        kind = how.removeprefix("LEFT ") if how.startswith("LEFT ") else how
        chosen = ", ".join(map(_name, columns))
        select = f"SELECT {chosen} FROM {self._step} {kind} JOIN {other._step} {on}"
        both = self._step, other._step
        without = both if how in _NEED_BOTH else both[:1]
        return self._made(Step(select, both, tuple((each,) for each in without)), columns, other)

    def _group(self, by: Sequence[tuple[str, str]], values: Sequence[tuple[str, str]]) -> DuckTable:
        places = ", ".join(str(place) for place in range(1, len(by) + 1))
        select = f"SELECT {_items([*by, *values])} FROM {self._step} GROUP BY {places}"
        return self._then(select, [name for name, _ in (*by, *values)])

    def _union(self, other: DuckTable) -> DuckTable:
        select = f"SELECT * FROM {self._step} UNION ALL SELECT * FROM {other._step}"
        both = self._step, other._step
        return self._made(Step(select, both, (both,), streams=True), self.columns, other)

    def _then(self, select: str, columns: Sequence[str]) -> DuckTable:
        return self._made(Step(select, (self._step,), ((self._step,),)), columns)

    def _made(self, step: Step, columns: Sequence[str], other: DuckTable | None = None) -> DuckTable:
        steps, once = self._steps, self._once
        if other is not None:
            steps, once = {**steps, **other._steps}, once | other._once
        return type(self)(self._database, step, columns, steps, once)


def configured(memory: int, scratch: str) -> dict[str, Any]:
    """How DuckDB is to run: with so many bytes of memory, and a folder for what does not fit."""
    return {
        "memory_limit": f"{memory}B",
        "temp_directory": scratch,
        "preserve_insertion_order": False,
        # Else it keeps for itself what it has needed once.
        "allocator_background_threads": True,
    }


def _streamed(
    connection: duckdb.DuckDBPyConnection,
    query: str,
    names: Sequence[str],
    read: Callable[[int], None],
) -> Iterator[tuple[Any, ...]]:
    # Planned twice; `execute` plans once, but keeps all rows before it gives the first (DuckDB 2.0).
    result = connection.sql(query)
    # DuckDB 1.4 has it by its older name only.
    reader = getattr(result, "to_arrow_reader", None) or result.fetch_record_batch
    for batch in reader(_AT_A_TIME):
        yield from rows_of((batch,), names)
        read(len(batch))


def _items(what: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{sql} AS {_name(name)}" for name, sql in what)

"""Tables that DuckDB searches, on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from .dialects import DUCKDB
from .table import Fold, Table, joined_columns

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_name = DUCKDB.name
_ONCE: Final = "MATERIALIZED"
# If it is left to DuckDB 2.0, queries of many steps over millions of rows may never end.
_EVERY_TIME: Final = "NOT MATERIALIZED"
_AT_A_TIME: Final = 10_000
"""The rows that are fetched of a result that is longer."""


class DuckTable(Table):
    """The result of a SELECT. Those on which it stands are its `steps`, by name: the parts of one WITH.

    `numbers` makes the names, and is the same for all tables of a connection.
    """

    dialect = DUCKDB

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        select: str,
        columns: Sequence[str],
        numbers: Iterator[int],
        steps: Mapping[str, str] | None = None,
        kept: str = _EVERY_TIME,
    ) -> None:
        self.columns = columns
        self._connection = connection
        self._numbers = numbers
        self._step = f"step_{next(numbers)}"
        self._steps = {**(steps or {}), self._step: f"{kept} ({select})"}

    def distinct(self) -> DuckTable:
        return self._then(f"SELECT DISTINCT * FROM {self._step}", self.columns)

    def persist(self) -> DuckTable:
        return self._then(f"SELECT * FROM {self._step}", self.columns, kept=_ONCE)

    def broadcast(self) -> DuckTable:
        return self

    def limit(self, rows: int) -> DuckTable:
        return self._then(f"SELECT * FROM {self._step} LIMIT {rows}", self.columns)

    def collect(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.arrow().to_pylist()
        return found

    def arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self._connection.sql(self.query()).to_arrow_table()

    def folded(self, key: str, order: Sequence[str], fold: Fold, schema: pa.Schema) -> list[dict[str, Any]]:
        by = ", ".join(f"{_name(each)} NULLS FIRST" for each in (key, *order))
        return list(fold(self._streamed(f"{self.query()} ORDER BY {by}")))

    def _streamed(self, query: str) -> Iterator[tuple[Any, ...]]:
        result = self._connection.execute(query)
        while rows := result.fetchmany(_AT_A_TIME):
            yield from rows

    def query(self) -> str:
        """All of it as SQL."""
        steps = ",\n".join(f"{name} AS {select}" for name, select in self._steps.items())
        return f"WITH {steps}\nSELECT * FROM {self._step}"

    def _fields(self, struct: str) -> Sequence[str]:
        star = self._then(f"SELECT {_name(struct)}.* FROM {self._step}", ())
        return [name for name, *_ in self._connection.execute(f"DESCRIBE {star.query()}").fetchall()]

    def _select(self, what: Sequence[tuple[str, str]]) -> DuckTable:
        return self._then(f"SELECT {_items(what)} FROM {self._step}", [name for name, _ in what])

    def _where(self, condition: str) -> DuckTable:
        return self._then(f"SELECT * FROM {self._step} WHERE {condition}", self.columns)

    def _join_using(self, other: DuckTable, names: Sequence[str], how: str) -> DuckTable:
        using = ", ".join(map(_name, names))
        return self._joined(other, how, f"USING ({using})", names)

    def _join_on(self, other: DuckTable, condition: str, how: str) -> DuckTable:
        return self._joined(other, how, f"ON {condition}")

    def _joined(self, other: DuckTable, how: str, on: str, names: Sequence[str] = ()) -> DuckTable:
        columns = joined_columns(self, other, how, names)
        kind = how.removeprefix("LEFT ") if how.startswith("LEFT ") else how
        chosen = ", ".join(map(_name, columns))
        return self._then(
            f"SELECT {chosen} FROM {self._step} {kind} JOIN {other._step} {on}", columns, other._steps
        )

    def _group(self, by: Sequence[tuple[str, str]], values: Sequence[tuple[str, str]]) -> DuckTable:
        places = ", ".join(str(place) for place in range(1, len(by) + 1))
        select = f"SELECT {_items([*by, *values])} FROM {self._step} GROUP BY {places}"
        return self._then(select, [name for name, _ in (*by, *values)])

    def _union(self, other: DuckTable) -> DuckTable:
        both = f"SELECT * FROM {self._step} UNION ALL SELECT * FROM {other._step}"
        return self._then(both, self.columns, other._steps)

    def _then(
        self,
        select: str,
        columns: Sequence[str],
        more: Mapping[str, str] | None = None,
        kept: str = _EVERY_TIME,
    ) -> DuckTable:
        steps = {**self._steps, **(more or {})}
        return DuckTable(self._connection, select, columns, self._numbers, steps, kept)


def _items(what: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{sql} AS {_name(name)}" for name, sql in what)

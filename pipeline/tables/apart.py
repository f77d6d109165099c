"""Tables that DuckDB searches in tasks of Spark, which for most searches takes longer to plan one than DuckDB
to carry it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from .dialects import DUCKDB
from .duck import Database, DuckTable
from .stepwise import Step, Steps
from .table import Fold

if TYPE_CHECKING:
    import pyarrow as pa

_MEMORY: Final = "600MB"
"""What DuckDB may take in a task; beyond that it uses the disk of its executor."""
Rows = list[dict[str, Any]]


class Asked(NamedTuple):
    """The rows of the `last` of some steps, or what `folded` makes of them with these arguments. No step has
    this `number`, or a greater one."""

    steps: Steps
    last: str
    columns: Sequence[str]
    once: frozenset[str]
    number: int
    few_rows: bool
    fold: tuple[str, Sequence[str], Sequence[str], Fold, pa.Schema] | None = None


Each = Callable[[Callable[[Asked], Rows], Sequence[Asked]], list[Rows]]


@dataclass(kw_only=True)
class Apart(Database):
    """Has no connection: `each` makes a task of whatever is asked. Keys that are folded are divided into
    `parts`, each of which reads all rows."""

    connection: Any = None
    each: Each
    parts: int = 1


class ApartTable(DuckTable):
    """Only its SQL is here. Tasks give no rows as Arrow."""

    _database: Apart

    def collect(self) -> Rows:
        [found] = self._database.each(carry_out, [self._asked(self)])
        return found

    def folded(
        self, key: str, order: Sequence[str], names: Sequence[str], fold: Fold, schema: pa.Schema
    ) -> Rows:
        parts = self._database.parts
        some = [self._where(f"hash({DUCKDB.name(key)}) % {parts} = {part}") for part in range(parts)]
        how = key, order, names, fold, schema
        asked = [self._asked(each)._replace(fold=how) for each in (some if parts > 1 else [self])]
        return [row for found in self._database.each(carry_out, asked) for row in found]

    def _asked(self, table: DuckTable) -> Asked:
        number, few_rows = next(self._database.numbers), self._database.few_rows
        return Asked(table._steps, table._step, table.columns, table._once, number, few_rows)


def carry_out(asked: Asked) -> Rows:
    """What a task does."""
    import duckdb

    with TemporaryDirectory(prefix="mockbroker-search-") as scratch:
        config = {"memory_limit": _MEMORY, "temp_directory": scratch, "threads": "1"}
        with duckdb.connect(config={**config, "preserve_insertion_order": "false"}) as connection:
            database = Database(connection, count(asked.number), few_rows=asked.few_rows)
            last = Step(f"SELECT * FROM {asked.last}", (asked.last,), ((asked.last,),))
            table = DuckTable(database, last, asked.columns, asked.steps, asked.once)
            return table.folded(*asked.fold) if asked.fold else table.collect()

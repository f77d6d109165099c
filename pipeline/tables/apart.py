"""DuckDB's tables that are searched elsewhere: in a process of its own, or in a task of Spark, which for most
searches takes longer to plan one than DuckDB to carry it out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..progress import Rows
from .dialects import DUCKDB
from .duck import Database, DuckTable, configured
from .stepwise import Step, Steps
from .table import Fewer, Fold, Folding, as_it_is

if TYPE_CHECKING:
    import pyarrow as pa

_MEMORY: Final = 600_000_000
"""What DuckDB may take in a task; beyond that it uses the disk of its executor."""
Found = list[dict[str, Any]]
Tell = Callable[[str], None]


class Asked(NamedTuple):
    """The rows of the `last` of some steps, or what `folded` makes of them with the arguments `how`. No step
    has this `number`, or a greater one. DuckDB gets so many bytes of `memory`, twice as many each time that
    they are not enough, up to `most`, and uses the folder `scratch` for what does not fit. `name` is told to
    users."""

    steps: Steps
    last: str
    columns: Sequence[str]
    once: frozenset[str]
    number: int
    few_rows: bool
    memory: int
    most: int
    scratch: str | None
    name: str
    how: tuple[str, Sequence[str], Sequence[str], Fold, pa.Schema] | None


def asked(
    table: DuckTable,
    memory: int = _MEMORY,
    most: int = _MEMORY,
    folding: Folding | None = None,
    scratch: str | None = None,
) -> Asked:
    """All rows of a table, or a `folding` of it."""
    database = table._database
    return Asked(
        *(table._steps, table._step, table.columns, table._once, next(database.numbers), database.few_rows),
        *(memory, most, scratch),
        *(("", None) if folding is None else (folding.name, folding.how)),
    )


def divided(table: DuckTable, key: str, parts: int, fewer: Fewer) -> list[DuckTable]:
    """So many tables, each with all rows of some keys, but for those that `fewer` leaves out."""
    if parts == 1:
        return [fewer(table)]
    return [fewer(table._where(f"hash({DUCKDB.name(key)}) % {parts} = {part}")) for part in range(parts)]


@dataclass(kw_only=True)
class Apart(Database):
    """Has no connection: `each` makes a task of whatever is asked. Keys that are folded are divided into
    `parts`, each of which reads all rows."""

    connection: Any = None
    each: Callable[[Callable[[Asked], Found], Sequence[Asked]], list[Found]]
    parts: int = 1


class ApartTable(DuckTable):
    """Only its SQL is here. Tasks give no rows as Arrow."""

    _database: Apart

    def collect(self) -> Found:
        [found] = self._database.each(carry_out, [asked(self)])
        return found

    def folded(
        self,
        key: str,
        order: Sequence[str],
        names: Sequence[str],
        fold: Fold,
        schema: pa.Schema,
        fewer: Fewer = as_it_is,
    ) -> Found:
        how = key, order, names, fold, schema
        parts = divided(self, key, self._database.parts, fewer)
        todo = [asked(each)._replace(how=how) for each in parts]
        return [row for found in self._database.each(carry_out, todo) for row in found]


def carry_out(what: Asked, tell: Tell = lambda _: None) -> Found:
    """What a process or a task does; tells every two seconds how many rows it has gone through."""
    import duckdb

    tell(f"going through {what.name}")
    memory = what.memory
    while True:
        try:
            return _carried_out(what, memory, tell)
        except duckdb.OutOfMemoryException:
            if memory >= what.most:
                raise
            memory = min(2 * memory, what.most)
            tell(f"going through {what.name} again, with more memory")


def _carried_out(what: Asked, memory: int, tell: Tell) -> Found:
    import duckdb

    with (
        TemporaryDirectory(prefix="mockbroker-search-", dir=what.scratch) as scratch,
        duckdb.connect(config={**configured(memory, scratch), "threads": 1}) as connection,
    ):
        connection.execute("SET enable_progress_bar = false")
        read = Rows(what.name, tell).read
        database = Database(connection, count(what.number), few_rows=what.few_rows, read=read)
        last = Step(f"SELECT * FROM {what.last}", (what.last,), ((what.last,),), streams=True)
        table = DuckTable(database, last, what.columns, what.steps, what.once)
        return table.folded(*what.how) if what.how else table.collect()

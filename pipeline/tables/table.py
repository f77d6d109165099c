"""Tables that are searched: the steps of a search, which an engine carries out when the rows are collected.

Methods have the names and the meaning that they have in PySpark.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, Self, TypeVar

from .columns import Column, call, col, column, lit
from .dialects import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

_WORDS: Final = re.compile(r"'[^']*'|[A-Za-z_][\w.]*")
T = TypeVar("T", bound="Table")
_JOINS: Final = {"inner": "INNER", "left": "LEFT", "left_semi": "LEFT SEMI", "left_anti": "LEFT ANTI"}
Fold = Callable[[Iterable[tuple[Any, ...]]], Iterator[dict[str, Any]]]
"""Makes rows, which may be fewer, of the values of others."""
Fewer = Callable[[Any], Any]
"""Leaves out rows of a table."""


def as_it_is(table: T) -> T:
    """The same rows."""
    return table


class Table(ABC):
    """Rows with named `columns`. Each method makes another table."""

    dialect: Dialect
    columns: Sequence[str]

    def select(self, *what: str | Column) -> Self:
        chosen = list(map(column, what))
        return self._select([(_name(each), each.sql(self.dialect)) for each in chosen])

    def where(self, condition: str | Column) -> Self:
        """Text is SQL that both engines understand, in which columns need no quotes."""
        return self._where(
            self._quoted(condition) if isinstance(condition, str) else condition.sql(self.dialect)
        )

    def withColumn(self, name: str, value: Column) -> Self:
        return self.withColumns({name: value})

    def withColumns(self, values: Mapping[str, Column]) -> Self:
        kept = [values.get(name, col(name)).alias(name) for name in self.columns]
        return self.select(
            *kept, *(value.alias(name) for name, value in values.items() if name not in self.columns)
        )

    def drop(self, *names: str) -> Self:
        return self.select(*(name for name in self.columns if name not in names))

    def fillna(self, value: Any, names: Sequence[str]) -> Self:
        return self.withColumns({name: call("coalesce", name, lit(value)) for name in names})

    def join(self, other: Self, on: str | Sequence[str | Column], how: str = "inner") -> Self:
        """`on` are names of columns that both tables have, of which one is kept, or conditions."""
        names = [on] if isinstance(on, str) else [each for each in on if isinstance(each, str)]
        conditions = [] if isinstance(on, str) else [each for each in on if isinstance(each, Column)]
        assert not (names and conditions), "either names or conditions"
        if names:
            return self._join_using(other, names, _JOINS[how])
        both = " AND ".join(each.sql(self.dialect) for each in conditions)
        return self._join_on(other, both, _JOINS[how])

    def groupBy(self, *by: str | Column) -> Grouped[Self]:
        return Grouped(self, [column(each) for each in by])

    def unionByName(self, other: Self, allowMissingColumns: bool = False) -> Self:
        """The rows of both; columns that one of them lacks are null there."""
        names = list(self.columns)
        if allowMissingColumns:
            names += (name for name in other.columns if name not in names)
        assert allowMissingColumns or set(names) == set(other.columns), (names, other.columns)

        def whole(table: Self) -> Self:
            return table.select(
                *(col(name) if name in table.columns else lit(None).alias(name) for name in names)
            )

        return whole(self)._union(whole(other))

    @abstractmethod
    def distinct(self) -> Self: ...

    @abstractmethod
    def persist(self) -> Self:
        """The same rows, which are computed once although they are used several times."""

    @abstractmethod
    def broadcast(self) -> Self: ...

    @abstractmethod
    def limit(self, rows: int) -> Self: ...

    @abstractmethod
    def collect(self) -> list[dict[str, Any]]: ...

    def folded(
        self,
        key: str,
        order: Sequence[str],
        names: Sequence[str],
        fold: Fold,
        schema: pa.Schema,
        fewer: Fewer = as_it_is,
    ) -> list[dict[str, Any]]:
        """What `fold` makes of the rows: those of a key come one after the other, in the order of other
        columns, null first. They are never all in memory. They have the values of the columns of these
        `names`, None for those that there are not. `fewer` leaves some out; it needs only those of the same
        key to tell which.

        Spark calls `fold` on executors, for some of the keys each time: it has to be a function of a module.
        """
        found: list[dict[str, Any]] = fewer(self)._folded(key, order, names, fold, schema)
        return found

    @abstractmethod
    def _folded(
        self, key: str, order: Sequence[str], names: Sequence[str], fold: Fold, schema: pa.Schema
    ) -> list[dict[str, Any]]: ...

    @abstractmethod
    def _select(self, what: Sequence[tuple[str, str]]) -> Self: ...

    @abstractmethod
    def _where(self, condition: str) -> Self: ...

    @abstractmethod
    def _join_using(self, other: Self, names: Sequence[str], how: str) -> Self: ...

    @abstractmethod
    def _join_on(self, other: Self, condition: str, how: str) -> Self: ...

    @abstractmethod
    def _group(self, by: Sequence[tuple[str, str]], values: Sequence[tuple[str, str]]) -> Self: ...

    @abstractmethod
    def _union(self, other: Self) -> Self: ...

    def _quoted(self, condition: str) -> str:
        def quoted(word: re.Match[str]) -> str:
            return self.dialect.name(word[0]) if word[0].split(".")[0] in self.columns else word[0]

        return f"({_WORDS.sub(quoted, condition)})"


class Folding(NamedTuple):
    """A `fold` of `table`, of at most so many `rows`. `name` is told to users."""

    name: str
    rows: int
    table: Table
    key: str
    order: Sequence[str]
    names: Sequence[str]
    fold: Fold
    schema: pa.Schema
    fewer: Fewer = as_it_is

    @property
    def how(self) -> tuple[str, Sequence[str], Sequence[str], Fold, pa.Schema]:
        return self.key, self.order, self.names, self.fold, self.schema

    def folded(self) -> list[dict[str, Any]]:
        return self.table.folded(*self.how, self.fewer)


class Grouped(Generic[T]):
    """Rows that have the same values of some columns."""

    def __init__(self, table: T, by: Sequence[Column]) -> None:
        self._table, self._by = table, by

    def agg(self, *values: Column) -> T:
        dialect = self._table.dialect
        by, computed = ([(_name(each), each.sql(dialect)) for each in some] for some in (self._by, values))
        return self._table._group(by, computed)


def joined_columns(left: Table, right: Table, how: str, names: Sequence[str] = ()) -> list[str]:
    """The columns of a join."""
    if how in (_JOINS["left_semi"], _JOINS["left_anti"]):
        return list(left.columns)
    return [*left.columns, *(name for name in right.columns if name not in names)]


def _name(value: Column) -> str:
    assert value.name is not None, "a column that is selected needs a name"
    return value.name

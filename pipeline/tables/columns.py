"""Expressions over columns and windows of rows, with the names that they have in PySpark."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, NoReturn

from .dialects import Dialect, Render

_KEYWORDS: Final = {True: "true", False: "false", None: "NULL"}


class Column:
    """What is computed for each row. Strings are literals where they are compared, and names elsewhere.

    `name` is that of the column that it makes, None if it was given none.
    """

    def __init__(self, render: Render, name: str | None = None) -> None:
        self.sql: Final = render
        self.name: Final = name

    def alias(self, name: str) -> Column:
        return Column(self.sql, name)

    def over(self, window: WindowSpec) -> Column:
        return Column(lambda dialect: f"{self.sql(dialect)} OVER ({window.sql(dialect)})")

    def cast(self, kind: str) -> Column:
        """`kind` is Spark's name of the type."""
        return Column(lambda dialect: f"CAST({self.sql(dialect)} AS {dialect.of_type(kind)})", self.name)

    def __getitem__(self, key: str | int) -> Column:
        """A field of a struct, or an element of an array, from 0."""
        if isinstance(key, int):
            return call("element", self, lit(key))
        return Column(lambda dialect: f"({self.sql(dialect)}).{dialect.name(key)}", key)

    def isNull(self) -> Column:
        return Column(lambda dialect: f"({self.sql(dialect)} IS NULL)")

    def isNotNull(self) -> Column:
        return Column(lambda dialect: f"({self.sql(dialect)} IS NOT NULL)")

    def isin(self, *values: Column | str | int) -> Column:
        return Column(lambda dialect: f"({self.sql(dialect)} IN ({_each(values, dialect)}))")

    def between(self, low: Column | int, high: Column | int) -> Column:
        return (self >= low) & (self <= high)

    def eqNullSafe(self, other: Any) -> Column:
        return self._with("IS NOT DISTINCT FROM", other)

    def like(self, pattern: str) -> Column:
        return self._with("LIKE", pattern)

    def rlike(self, pattern: str) -> Column:
        return call("rlike", self, lit(pattern))

    def startswith(self, start: str) -> Column:
        return call("startswith", self, lit(start))

    def endswith(self, end: str) -> Column:
        return call("endswith", self, lit(end))

    def __eq__(self, other: object) -> Column:  # type: ignore[override]
        return self._with("=", other)

    def __ne__(self, other: object) -> Column:  # type: ignore[override]
        return self._with("!=", other)

    __hash__ = object.__hash__

    def __lt__(self, other: Any) -> Column:
        return self._with("<", other)

    def __le__(self, other: Any) -> Column:
        return self._with("<=", other)

    def __gt__(self, other: Any) -> Column:
        return self._with(">", other)

    def __ge__(self, other: Any) -> Column:
        return self._with(">=", other)

    def __add__(self, other: Any) -> Column:
        return self._with("+", other)

    def __radd__(self, other: Any) -> Column:
        return lit(other) + self

    def __sub__(self, other: Any) -> Column:
        return self._with("-", other)

    def __mul__(self, other: Any) -> Column:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> Column:
        return lit(other) * self

    def __truediv__(self, other: Any) -> Column:
        return self._with("/", other)

    def __and__(self, other: Column) -> Column:
        return self._with("AND", other)

    def __or__(self, other: Column) -> Column:
        return self._with("OR", other)

    def __invert__(self) -> Column:
        return Column(lambda dialect: f"(NOT {self.sql(dialect)})")

    def __bool__(self) -> bool:
        raise TypeError("a column has no truth value: combine conditions with &, | and ~")

    def __iter__(self) -> NoReturn:
        # By __getitem__ it would have elements without end.
        raise TypeError("a column is not several: where columns or names are asked for, give a list of them")

    def _with(self, operator: str, other: Any) -> Column:
        right = lit(other)
        return Column(lambda dialect: f"({self.sql(dialect)} {operator} {right.sql(dialect)})")


class Case(Column):
    """`CASE`, to which more cases can be added."""

    def __init__(self, cases: tuple[tuple[Column, Column], ...], rest: Column | None = None) -> None:
        def render(dialect: Dialect) -> str:
            whens = (f"WHEN {when.sql(dialect)} THEN {then.sql(dialect)}" for when, then in cases)
            otherwise = f" ELSE {rest.sql(dialect)}" if rest is not None else ""
            return f"CASE {' '.join(whens)}{otherwise} END"

        super().__init__(render)
        self._cases = cases

    def when(self, condition: Column, value: Any) -> Case:
        return Case((*self._cases, (condition, lit(value))))

    def otherwise(self, value: Any) -> Column:
        return Case(self._cases, lit(value))


@dataclass(frozen=True, slots=True)
class Order:
    """One of the columns by which a window's rows are ordered."""

    by: Column
    descending: bool = False
    nulls_last: bool = False

    @property
    def reversed(self) -> Order:
        return Order(self.by, not self.descending, not self.nulls_last)

    def sql(self, dialect: Dialect) -> str:
        nulls = "LAST" if self.nulls_last else "FIRST"
        return f"{self.by.sql(dialect)} {'DESC' if self.descending else 'ASC'} NULLS {nulls}"


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """The rows that a function sees of those that have the same values of some columns."""

    by: tuple[Column, ...]
    order: tuple[Order, ...] = ()
    frame: str = ""

    def orderBy(self, *order: str | Column) -> WindowSpec:
        """Null comes first."""
        return replace(self, order=tuple(Order(column(each)) for each in order))

    @property
    def reversed(self) -> WindowSpec:
        return replace(self, order=tuple(each.reversed for each in self.order))

    def rows(self, frame: str) -> WindowSpec:
        """`frame` is SQL, such as `UNBOUNDED PRECEDING AND CURRENT ROW`."""
        return replace(self, frame=f"ROWS BETWEEN {frame}")

    def sql(self, dialect: Dialect) -> str:
        parts = [f"PARTITION BY {_each(self.by, dialect)}"]
        if self.order:
            parts.append(f"ORDER BY {', '.join(each.sql(dialect) for each in self.order)}")
        return " ".join([*parts, self.frame]).rstrip()


class Window:
    @staticmethod
    def partitionBy(*by: str | Column) -> WindowSpec:
        return WindowSpec(tuple(map(column, by)))


def col(name: str) -> Column:
    """A column, or a field of one that is a struct."""
    return Column(lambda dialect: dialect.name(name), name.rpartition(".")[2])


def column(value: str | Column) -> Column:
    return col(value) if isinstance(value, str) else value


def lit(value: Any) -> Column:
    """A literal; a column is returned as it is."""
    if isinstance(value, Column):
        return value
    if isinstance(value, str):
        return Column(lambda dialect: dialect.text(value))
    if value is None or isinstance(value, bool):
        return Column(lambda _: _KEYWORDS[value])
    assert isinstance(value, int | float), value
    return Column(lambda _: repr(value))


def call(function: str, *arguments: str | Column) -> Column:
    """A function, by Spark's name for it, of columns."""
    columns = tuple(map(column, arguments))
    return Column(lambda dialect: dialect.call(function, [each.sql(dialect) for each in columns]))


def _each(values: Iterable[Any], dialect: Dialect) -> str:
    return ", ".join(lit(value).sql(dialect) for value in values)

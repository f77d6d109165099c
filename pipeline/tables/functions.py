"""The functions that searches use, with the names and the meaning that they have in PySpark.

As there, text is the name of a column, but for the values of `when` and `lit`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from .columns import Case, Column, call, col, column, lit
from .table import Table

Each = str | Column


def when(condition: Column, value: Any) -> Case:
    return Case(((condition, lit(value)),))


def broadcast(table: Table) -> Table:
    """A table that is small: whoever joins it need not sort the other."""
    return table.broadcast()


def struct(*values: Each) -> Column:
    """A struct of columns that have names."""
    fields = [column(value) for value in values]

    def named(field: Column) -> str:
        assert field.name is not None
        return field.name

    return Column(lambda dialect: dialect.struct([(named(field), field.sql(dialect)) for field in fields]))


def fields(struct: str, *names: str) -> list[Column]:
    """Some fields of a struct, as columns of their names."""
    return [col(f"{struct}.{name}") for name in names]


def concat(*values: Each) -> Column:
    """Null if one of the values is null."""
    columns = list(map(column, values))
    return Column(lambda dialect: f"({' || '.join(each.sql(dialect) for each in columns)})")


def concat_ws(separator: str, *values: Each) -> Column:
    """Leaves out values that are null."""
    return call("concat_ws", lit(separator), *(column(value).cast("string") for value in values))


def first(value: Each, ignorenulls: bool = False) -> Column:
    return _end("first", column(value), ignorenulls)


def last(value: Each, ignorenulls: bool = False) -> Column:
    return _end("last", column(value), ignorenulls)


def _end(function: str, value: Column, ignorenulls: bool) -> Column:
    if not ignorenulls:
        return call(function, value)
    return Column(lambda dialect: dialect.call("known", [function, value.sql(dialect)]))


def count(value: Each) -> Column:
    return Column(lambda _: "count(*)") if isinstance(value, str) and value == "*" else call("count", value)


def count_distinct(*values: Each) -> Column:
    whole = struct(*values)
    return Column(lambda dialect: f"count(DISTINCT {whole.sql(dialect)})")


def floor(value: Each) -> Column:
    return call("floor", value).cast("bigint")


def transform(values: Each, of: Callable[[Column], Column]) -> Column:
    return _for_each("transform", values, of)


def filter(values: Each, of: Callable[[Column], Column]) -> Column:
    return _for_each("filter", values, of)


def _for_each(function: str, values: Each, of: Callable[[Column], Column]) -> Column:
    array, body = column(values), of(Column(lambda _: "each"))
    each = Column(lambda dialect: dialect.call("lambda", ["each", body.sql(dialect)]))
    return call(function, array, each)


def array_join(values: Each, separator: str) -> Column:
    return call("array_join", values, lit(separator))


def regexp_extract(value: Each, pattern: str, group: int) -> Column:
    """A group of the first match; empty if there is none."""
    return call("regexp_extract", value, lit(pattern), lit(group))


def split(value: Each, separator: str) -> Column:
    """The parts of a text, as an array; to Spark `separator` is a pattern."""
    return call("split", value, lit(separator))


def lookup(keys: Column, values: Column, key: Each) -> Column:
    """The value, of an array of values, that is where the key is in an array of keys; null if it is not."""
    return call("lookup", keys, values, key)


def _named(function: str) -> Callable[..., Column]:
    return partial(call, function)


abs = _named("abs")
array = _named("array")
array_distinct = _named("array_distinct")
array_max = _named("array_max")
array_min = _named("array_min")
array_sort = _named("array_sort")
coalesce = _named("coalesce")
collect_list = _named("collect_list")
collect_set = _named("collect_set")
explode = _named("explode")
greatest = _named("greatest")
lag = _named("lag")
lead = _named("lead")
least = _named("least")
max = _named("max")
max_by = _named("max_by")
min = _named("min")
min_by = _named("min_by")
nullif = _named("nullif")
round = _named("round")
row_number = _named("row_number")
size = _named("size")
sum = _named("sum")

__all__ = ["Case", "col", "column", "lit"]

"""Tables that Spark searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from .batches import rows_of
from .dialects import SPARK
from .table import Fold, Table, joined_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_AT_A_TIME: Final = 10_000


class SparkTable(Table):
    """A DataFrame. What is done to it is SQL, which Spark parses in one call, where its own columns take one
    for each of their parts."""

    dialect = SPARK

    def __init__(self, frame: DataFrame, columns: Sequence[str] | None = None) -> None:
        self.frame: Final = frame
        self.columns = frame.columns if columns is None else columns

    def distinct(self) -> SparkTable:
        return SparkTable(self.frame.distinct(), self.columns)

    def persist(self) -> SparkTable:
        return SparkTable(self.frame.persist(), self.columns)

    def broadcast(self) -> SparkTable:
        return SparkTable(self.frame.hint("broadcast"), self.columns)

    def limit(self, rows: int) -> SparkTable:
        return SparkTable(self.frame.limit(rows), self.columns)

    def collect(self) -> list[dict[str, Any]]:
        return [row.asDict(recursive=True) for row in self.frame.collect()]

    def _folded(
        self, key: str, order: Sequence[str], names: Sequence[str], fold: Fold, schema: pa.Schema
    ) -> list[dict[str, Any]]:
        from pyspark.sql.pandas.types import from_arrow_schema

        def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            import pyarrow as pa

            found = fold(rows_of(batches, names))
            while some := list(islice(found, _AT_A_TIME)):
                yield pa.RecordBatch.from_pylist(some, schema)

        ordered = self.frame.repartition(SPARK.name(key)).sortWithinPartitions(
            *(SPARK.name(each) for each in (key, *order))
        )
        result = ordered.mapInArrow(part, from_arrow_schema(schema))
        return [row.asDict(recursive=True) for row in result.collect()]

    def _select(self, what: Sequence[tuple[str, str]]) -> SparkTable:
        return SparkTable(self.frame.selectExpr(*_items(what)), [name for name, _ in what])

    def _where(self, condition: str) -> SparkTable:
        return SparkTable(self.frame.where(condition), self.columns)

    def _join_using(self, other: SparkTable, names: Sequence[str], how: str) -> SparkTable:
        frame = self.frame.join(other.frame, list(names), _spoken(how))
        columns = joined_columns(self, other, how, names)
        return SparkTable(frame, columns)._ordered()

    def _join_on(self, other: SparkTable, condition: str, how: str) -> SparkTable:
        from pyspark.sql import functions as F

        frame = self.frame.join(other.frame, F.expr(condition), _spoken(how))
        return SparkTable(frame, joined_columns(self, other, how))

    def _group(self, by: Sequence[tuple[str, str]], values: Sequence[tuple[str, str]]) -> SparkTable:
        from pyspark.sql import functions as F

        keys, computed = ([F.expr(each) for each in _items(some)] for some in (by, values))
        return SparkTable(self.frame.groupBy(*keys).agg(*computed), [name for name, _ in (*by, *values)])

    def _union(self, other: SparkTable) -> SparkTable:
        return SparkTable(self.frame.unionAll(other.frame), self.columns)

    def _ordered(self) -> SparkTable:
        """Spark moves the columns by which it joins to the front."""
        return SparkTable(self.frame.select(*(SPARK.name(name) for name in self.columns)), self.columns)


def _spoken(how: str) -> str:
    return how.lower().replace(" ", "_")


def _items(what: Sequence[tuple[str, str]]) -> list[str]:
    return [f"{sql} AS {SPARK.name(name)}" for name, sql in what]

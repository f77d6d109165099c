"""Refusals of records, one for each time: a client's log and its application's may both tell of it, and only
one of them may name the partition."""

from typing import Final

from .rows import PARTITION, first_of, of_kinds, prefixed, seen
from .tables import Table, Window
from .tables import functions as F

_SAME_MS: Final = 1_000
"""How much later than its library an application logs an error."""


def refused_records(observations: Table, *errors: str, brokers_log: bool = False) -> Table:
    """The refusals of Produce with one of `errors`, with `seen`; those without a partition have the one of
    the refusal without a client that another log tells just before; with `brokers_log`, which brokers log
    each time, also one that a broker's log tells."""
    rows = of_kinds(observations, "refused").where((F.col("api") == "Produce") & F.col("error").isin(*errors))
    rows = rows.where("time_ms is not null").withColumn("seen", seen())
    columns = ("source", "file", "position", "time_ms", "broker", "client", *PARTITION, "error", "detail")
    rows = rows.select(*columns, "seen").persist()
    placed = prefixed(
        rows.where("topic is not null and client is null").where(
            F.lit(brokers_log) | F.col("broker").isNull()
        ),
        *("_", "time_ms", *PARTITION),
    )
    near = [F.abs(F.col("time_ms") - F.col("_time_ms")) <= _SAME_MS]
    unplaced = rows.where("topic is null").join(placed, near, "left")
    unplaced = unplaced.withColumn("apart", F.abs(F.col("time_ms") - F.col("_time_ms")))
    unplaced = first_of(unplaced, Window.partitionBy("file", "position").orderBy("apart", *_renamed()))
    unplaced = unplaced.withColumns({"topic": F.col("_topic"), "partition": F.col("_partition")})
    return _with_place(rows.where("topic is not null").unionByName(unplaced.select(*columns, "seen")))


def _with_place(rows: Table) -> Table:
    """What a client's log does not place is where else the client was refused, if that is one partition."""
    rows = rows.persist()
    by_client = rows.where("topic is not null and client is not null").groupBy(
        F.col("client").alias("_client")
    )
    at = F.struct(*PARTITION)
    placed = by_client.agg(F.min(at).alias("_at"), F.max(at).alias("_other")).where("_at = _other")
    found = rows.join(placed, [F.col("client") == F.col("_client")], "left")
    one = F.col("topic").isNull()
    where = {name: F.when(one, F.col(f"_at.{name}")).otherwise(F.col(name)) for name in PARTITION}
    return found.withColumns(where).drop("_client", "_at", "_other")


def _renamed() -> tuple[str, ...]:
    return tuple(f"_{name}" for name in PARTITION)

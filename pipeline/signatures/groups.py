"""Fills in a client's group in rows that name only the client, such as those of Fetch."""

from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_CLIENT_ONLY: Final = ("refused", "reset", "position", "fetched")
_FEW: Final = 100


def with_groups(observations: DataFrame) -> DataFrame:
    """`observations` with `group` filled in for clients that belong to only one known group."""
    known = (
        observations.where(
            F.col("kind").isin("commit", "restore") & F.col("group").isNotNull() & F.col("client").isNotNull()
        )
        .groupBy("client")
        .agg(F.min("group").alias("_group"), F.max("group").alias("_other"))
        .where(F.col("_group") == F.col("_other"))
        .select("client", "_group")
    )
    # Collected once, because every search reads the table again.
    rows = known.collect()
    if not rows:
        return observations
    if len(rows) <= _FEW:
        # Saves every search a join each time that it reads the table.
        clients, groups = (F.array(*(F.lit(row[at]) for row in rows)) for at in (0, 1))
        known_of = F.element_at(F.map_from_arrays(clients, groups), F.col("client"))
        joined = observations.withColumn("_group", known_of)
    else:
        looked_up = observations.sparkSession.createDataFrame(rows, known.schema)
        joined = observations.join(F.broadcast(looked_up), "client", "left")
    group = F.when(F.col("kind").isin(*_CLIENT_ONLY), F.coalesce("group", "_group")).otherwise(F.col("group"))
    return joined.withColumn("group", group).select(*observations.columns)

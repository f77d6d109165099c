"""Fills in a client's group in rows that name only the client, such as those of Fetch."""

from typing import Final

from .tables import Table
from .tables import functions as F

_CLIENT_ONLY: Final = ("refused", "reset", "position", "fetched")
_FEW: Final = 100


def with_groups(observations: Table) -> Table:
    """`observations` with `group` filled in for clients that belong to only one known group."""
    known = (
        observations.where(
            F.col("kind").isin("commit", "restore") & F.col("group").isNotNull() & F.col("client").isNotNull()
        )
        .groupBy("client")
        .agg(F.min("group").alias("_group"), F.max("group").alias("_other"))
        .where(F.col("_group") == F.col("_other"))
        .select("client", "_group")
        .persist()
    )
    # Collected once, because every search reads the table again.
    rows = known.limit(_FEW + 1).collect()
    if not rows:
        return observations
    if len(rows) <= _FEW:
        # Saves every search a join each time that it reads the table.
        clients, groups = (F.array(*(F.lit(row[name]) for row in rows)) for name in ("client", "_group"))
        joined = observations.withColumn("_group", F.lookup(clients, groups, "client"))
    else:
        joined = observations.join(F.broadcast(known), "client", "left")
    group = F.when(F.col("kind").isin(*_CLIENT_ONLY), F.coalesce("group", "_group")).otherwise(F.col("group"))
    return joined.withColumn("group", group).select(*observations.columns)

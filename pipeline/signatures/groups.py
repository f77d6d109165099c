"""Whose client is whose: a group's name for rows that tell the client only, as Fetch does."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def with_groups(observations: DataFrame) -> DataFrame:
    """`observations` with `group` filled in for clients that are known of one group only."""
    known = (
        observations.where(
            F.col("kind").isin("commit", "restore") & F.col("group").isNotNull() & F.col("client").isNotNull()
        )
        .groupBy("client")
        .agg(F.min("group").alias("_group"), F.max("group").alias("_other"))
        .where(F.col("_group") == F.col("_other"))
        .select("client", "_group")
    )
    joined = observations.join(F.broadcast(known), "client", "left")
    return joined.withColumn("group", F.coalesce("group", "_group")).drop("_group").select(*observations.columns)

"""Fills in the names of topics in rows that only have their ids."""

from collections.abc import Mapping

from .readers.share_states import KIND
from .rows import of_kinds
from .tables import Table
from .tables import functions as F


def with_topics(observations: Table, kinds: Mapping[str, int]) -> Table:
    """`observations`, of which `kinds` counts the rows of each kind. An id whose name no file tells stays."""
    if not kinds.get(KIND) or not kinds.get("topic-id"):
        return observations
    named = of_kinds(observations, "topic-id").groupBy("detail").agg(F.min("topic").alias("_name"))
    named = named.withColumn("_id", F.col("detail")).drop("detail")
    joined = observations.join(F.broadcast(named), [F.col("topic") == F.col("_id")], "left")
    topic = F.when(F.col("kind") == KIND, F.coalesce("_name", "topic")).otherwise(F.col("topic"))
    return joined.withColumn("topic", topic).select(*observations.columns)

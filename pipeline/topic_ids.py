"""Fills in the names of topics in rows that only have their ids."""

from collections.abc import Mapping
from typing import Final

from .readers.share_states import KIND
from .rows import of_kinds
from .tables import Table
from .tables import functions as F

_NOW_MS: Final = 1 << 62
"""When a data folder tells an id, which it does without a time."""


def with_topics(observations: Table, kinds: Mapping[str, int]) -> Table:
    """`observations`, of which `kinds` counts the rows of each kind.

    An id stays if no file tells its name, or if a later topic has that name: they have to be kept apart.
    """
    if not kinds.get(KIND) or not kinds.get("topic-id"):
        return observations
    told = of_kinds(observations, "topic-id").withColumn("at_ms", F.coalesce("time_ms", F.lit(_NOW_MS)))
    named = told.groupBy("topic").agg(F.max_by("detail", F.struct("at_ms", "detail")).alias("_id"))
    named = named.withColumn("_name", F.col("topic")).drop("topic")
    joined = observations.join(F.broadcast(named), [F.col("topic") == F.col("_id")], "left")
    topic = F.when(F.col("kind") == KIND, F.coalesce("_name", "topic")).otherwise(F.col("topic"))
    return joined.withColumn("topic", topic).select(*observations.columns)

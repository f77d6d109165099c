"""Which producer was refused: some clients' logs name neither the producer nor its transactional id."""

from typing import Final

from .readers.producer_messages import TIMED_OUT
from .rows import of_kinds, prefixed, seen
from .tables import Column, Table
from .tables import functions as F

_SOON_MS: Final = 600_000
"""How long a producer may be idle before it notices."""
_SKEW_MS: Final = 1_000
ERRORS: Final = ("PRODUCER_FENCED", "INVALID_PRODUCER_EPOCH")
_KEY: Final = ("client", "time_ms")


def timed_out_before(observations: Table) -> Table:
    """Whose refusals it may be that name no transactional id: by `client` and `time_ms` the only
    `transactional_id` whose transaction had timed out, and that nobody had begun with since, with the row
    that says so (`timed_out`)."""
    refused = of_kinds(observations, "refused").where(F.col("error").isin(*ERRORS) & _unnamed())
    refused = refused.select(*_KEY).distinct()
    states = of_kinds(observations, "transaction").where("transactional_id is not null")
    ended = states.where(F.col("detail") == TIMED_OUT).withColumn("shown", seen())
    ended = ended.withColumn("ended_ms", F.col("time_ms"))
    ended = ended.groupBy("transactional_id", "ended_ms").agg(F.min_by("shown", "file").alias("timed_out"))
    begun = prefixed(states.where("detail = 'initialized'"), "_", "transactional_id", "time_ms")
    since = F.col("time_ms") - F.col("ended_ms")
    pairs = refused.join(ended, [since.between(-_SKEW_MS, _SOON_MS)])
    anew = [
        F.col("_transactional_id") == F.col("transactional_id"),
        F.col("_time_ms") > F.col("ended_ms"),
        F.col("_time_ms") <= F.col("time_ms"),
    ]
    pairs = pairs.join(begun, anew, "left_anti")
    return (
        pairs.groupBy(*_KEY)
        .agg(
            F.min("transactional_id").alias("transactional_id"),
            F.max("transactional_id").alias("_other"),
            F.max_by("timed_out", "ended_ms").alias("timed_out"),
        )
        .where(F.col("transactional_id") == F.col("_other"))
        .drop("_other")
    )


def with_ids(observations: Table) -> Table:
    """`observations`, in which refusals have the transactional id that `timed_out_before` tells."""
    known = prefixed(timed_out_before(observations), "_", *_KEY, "transactional_id")
    named = (F.col("kind") == "refused") & F.col("error").isin(*ERRORS) & _unnamed()
    of = [named, F.col("client") == F.col("_client"), F.col("time_ms") == F.col("_time_ms")]
    rows = observations.join(known, of, "left")
    told = F.coalesce("transactional_id", "_transactional_id")
    return rows.withColumn("transactional_id", told).drop("_client", "_time_ms", "_transactional_id")


def _unnamed() -> Column:
    return (
        F.col("transactional_id").isNull()
        & F.col("producer_id").isNull()
        & F.col("client").isNotNull()
        & F.col("time_ms").isNotNull()
    )

"""`spurious-sequence-error` and `lost-records`: UNKNOWN_PRODUCER_ID and OUT_OF_ORDER_SEQUENCE_NUMBER.

By the rule of KIP-185's follow-up: if the log starts past the last offset that was acknowledged to the
producer, retention deleted its records, and the error is spurious; if not, acknowledged records are lost. It
is not a finding if a sequence is out of order because an earlier request has to be sent again, and is
accepted later.
"""

from typing import Final

from ..findings import (
    CERTAIN,
    LIKELY,
    POSSIBLE,
    before,
    findings,
    in_order,
    of_kinds,
    place,
    seen,
    sentence,
    texts,
)
from ..tables import Table, Window
from ..tables import functions as F
from .beside import beside

_DELIVERED_MS: Final = 120_000
"""The default of `delivery.timeout.ms`: for so long a batch is sent again."""
ERRORS: Final = ("OUT_OF_ORDER_SEQUENCE_NUMBER", "UNKNOWN_PRODUCER_ID")
_KEY: Final = ("topic", "partition", "producer_id")
_SPURIOUS: Final = ("producer-state-retention", "unknown-producer", "marker-only-producer")
_LOST: Final = ("election", "isr-entry")


def find(observations: Table) -> Table:
    refused = of_kinds(observations, "refused").where(F.col("error").isin(*ERRORS))
    refused = refused.where("topic is not null and partition is not null and producer_id is not null")
    refused = refused.withColumn("seen", seen()).persist()
    keys = refused.select(*_KEY).distinct()
    appends = (
        of_kinds(observations, "append")
        .join(F.broadcast(keys), list(_KEY), "left_semi")
        .withColumn("seen", seen())
    )
    window = in_order(*_KEY)
    is_append = F.col("kind") == "append"
    written = F.when(is_append, F.struct("offset", "end_offset", "sequence", "producer_epoch", "seen"))
    both = refused.unionByName(appends).withColumn("acknowledged", F.last(written, True).over(before(window)))
    rows = _without_taken(both.where(~is_append), appends)
    # One finding for batches that are refused again and again, and for those that were in flight after them.
    ranked = rows.withColumns(
        {
            "times": F.count("*").over(Window.partitionBy(*_KEY, "acknowledged.offset")),
            "nth": F.row_number().over(in_order(*_KEY, "acknowledged.offset")),
        }
    ).where("nth = 1")
    rows = ranked.select(
        *("source", "file", "position", "time_ms", "broker", "client", *_KEY, "error", "sequence", "seen"),
        *("acknowledged", "times"),
    )
    rows = beside(rows, observations, ["log-start", "truncation", "leader"])
    last = F.coalesce(F.col("acknowledged.end_offset") - 1, F.col("acknowledged.offset"))
    # A trace reports when a log start offset moves: if it does not, the offset is still the first.
    start = F.coalesce("log_start.offset", F.when(F.col("source") == "trace", F.lit(0)))
    kind = F.when(last.isNull() | start.isNull(), "unclear").when(start > last, "retention").otherwise("loss")
    rows = rows.withColumns({"last": last, "start": start, "verdict": kind})
    retention, loss = F.col("verdict") == "retention", F.col("verdict") == "loss"
    unknown = F.col("error") == ERRORS[1]
    return findings(
        rows,
        signature=F.when(retention, "spurious-sequence-error")
        .when(loss, "lost-records")
        .otherwise("sequence-error"),
        confidence=F.when(retention & (F.col("source") == "trace"), CERTAIN)
        .when(retention, LIKELY)
        .when(loss & (unknown | F.col("truncation").isNotNull() | (F.col("leader.leader_epoch") > 0)), LIKELY)
        .otherwise(POSSIBLE),
        why=F.when(retention, "the log starts past the last offset that the producer had acknowledged")
        .when(
            loss,
            "the log does not start past the last offset that the producer had acknowledged, so "
            "it should be there",
        )
        .otherwise("the files don't tell both where the log starts and what the producer had acknowledged"),
        summary=F.concat(
            sentence("producer {producer_id} was refused in {at} with {error}", at=place()),
            F.when(F.col("sequence").isNotNull(), sentence(" at sequence {sequence}")).otherwise(""),
            F.when(F.col("times") > 1, sentence(" ({times} times)")).otherwise(""),
            F.when(F.col("last").isNotNull(), sentence(", after offset {last} was acknowledged")).otherwise(
                ""
            ),
            F.when(F.col("start").isNotNull(), sentence("; the log starts at {start}")).otherwise(""),
            F.when(retention, ": retention took its records, nothing is lost that was to be kept")
            .when(loss, ": acknowledged records are lost")
            .otherwise(""),
        ),
        evidence=[
            F.col("acknowledged.seen"),
            F.when(retention, F.col("log_start.seen")),
            F.col("truncation.seen"),
            F.col("seen"),
        ],
        behaviours=F.when(loss, texts(*_LOST)).otherwise(texts(*_SPURIOUS)),
        ids=F.when(loss, texts("KIP-185", "KAFKA-19880")).otherwise(
            texts("KIP-185", "KAFKA-5793", "KAFKA-7190", "KIP-360")
        ),
    )


def _without_taken(refused: Table, appends: Table) -> Table:
    """What was refused, and taken when it was sent again, is no finding.

    A segment has the time at which a batch was made, before it was refused; brokers don't log its epoch.
    """
    batches = appends.select(
        *(F.col(name).alias(f"_{name}") for name in (*_KEY, "producer_epoch", "sequence", "time_ms"))
    )
    same = [F.col(name) == F.col(f"_{name}") for name in (*_KEY, "sequence")]
    same.append(F.coalesce(F.col("producer_epoch") == F.col("_producer_epoch"), F.lit(True)))
    same.append(F.col("_time_ms") >= F.col("time_ms") - _DELIVERED_MS)
    return refused.join(batches, same, "left_anti")

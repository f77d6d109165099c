"""`spurious-sequence-error`, `lost-records` and `overtaken-batch`: UNKNOWN_PRODUCER_ID and
OUT_OF_ORDER_SEQUENCE_NUMBER.

By the rule of KIP-185's follow-up: if the log starts past the last offset that was acknowledged to the
producer, retention deleted its records, and the error is spurious; if not, acknowledged records are lost,
unless the batch comes before all that the producer has had acknowledged: a later one has overtaken it. It is
not a finding if a sequence is out of order because an earlier request has to be sent again, and is
accepted later.
"""

from typing import Final

from ..beside import beside
from ..consequences import SEQUENCES
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged, texts
from ..reproduction import forgotten_producer
from ..rows import before, first_of, in_order, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_DELIVERED_MS: Final = 120_000
"""The default of `delivery.timeout.ms`: for so long a batch is sent again."""
_UNKNOWN: Final = "UNKNOWN_PRODUCER_ID"
ERRORS: Final = ("OUT_OF_ORDER_SEQUENCE_NUMBER", _UNKNOWN)
_KEY: Final = ("topic", "partition", "producer_id")
_SPURIOUS: Final = ("producer-state-retention", "unknown-producer", "marker-only-producer")
_SPURIOUS_IDS: Final = ("KIP-185", "KAFKA-5793", "KAFKA-7190", "KIP-360")
_LOST: Final = ("election", "isr-entry")
_RETAINED: Final = "the log starts past the last offset that the producer had acknowledged"
_OVERTAKEN: Final = "the first batch that the partition took has a later sequence number"
_MISSING: Final = (
    "the log does not start past the last offset that the producer had acknowledged, so it should be there"
)


def find(observations: Table) -> Table:
    refused = of_kinds(observations, "refused").where(F.col("error").isin(*ERRORS))
    refused = refused.where("topic is not null and partition is not null and producer_id is not null")
    refused = refused.withColumn("seen", seen()).persist()
    keys = F.broadcast(refused.select(*_KEY).distinct())
    appends = of_kinds(observations, "append").join(keys, _KEY, "left_semi").withColumn("seen", seen())
    is_append = F.col("kind") == "append"
    written = F.when(is_append, F.struct("offset", "end_offset", "sequence", "producer_epoch", "seen"))
    both = refused.unionByName(appends).withColumns(
        {
            "acknowledged": F.last(written, True).over(before(in_order(*_KEY))),
            "first": F.first(written, True).over(before(in_order(*_KEY))),
        }
    )
    rows = _without_taken(both.where(~is_append), appends)
    # One finding for batches that are refused again and again, and for those that were in flight after them.
    once = (*_KEY, "acknowledged.offset")
    rows = rows.withColumn("times", F.count("*").over(Window.partitionBy(*once)))
    rows = first_of(rows, in_order(*once)).select(
        *("source", "file", "position", "time_ms", "broker", "client", *_KEY, "error", "sequence", "seen"),
        *("acknowledged", "first", "times"),
    )
    rows = beside(rows, observations, ["log-start", "truncation", "leader"])
    last = F.coalesce(F.col("acknowledged.end_offset") - 1, F.col("acknowledged.offset"))
    # A trace reports when a log start offset moves: if it does not, the offset is still the first.
    start = F.coalesce("log_start.offset", F.when(F.col("source") == "trace", F.lit(0)))
    overtaken = (F.col("error") != _UNKNOWN) & (F.col("first.sequence") > F.col("sequence"))
    overtaken &= F.col("first.producer_epoch") == F.col("acknowledged.producer_epoch")
    # Otherwise the files may begin after batches that came before.
    overtaken &= F.col("first.offset") == 0
    kind = (
        F.when(F.coalesce(overtaken, F.lit(False)), "overtaken")
        .when(last.isNull() | start.isNull(), "unclear")
        .when(start > last, "retention")
        .otherwise("loss")
    )
    rows = rows.withColumns({"last": last, "start": start, "verdict": kind})
    retention, loss = F.col("verdict") == "retention", F.col("verdict") == "loss"
    overtaken = F.col("verdict") == "overtaken"
    sure = (F.col("error") == _UNKNOWN) | F.col("truncation").isNotNull() | (F.col("leader.leader_epoch") > 0)
    return findings(
        rows,
        signature=F.when(retention, "spurious-sequence-error")
        .when(loss, "lost-records")
        .when(overtaken, "overtaken-batch")
        .otherwise("sequence-error"),
        **judged(
            If(retention & (F.col("source") == "trace"), CERTAIN, _RETAINED),
            If(retention, LIKELY, _RETAINED),
            If(loss & sure, LIKELY, _MISSING),
            If(loss, POSSIBLE, _MISSING),
            If(overtaken & (F.col("source") == "trace"), CERTAIN, _OVERTAKEN),
            If(overtaken, LIKELY, _OVERTAKEN),
            Else(
                POSSIBLE,
                "the files don't tell both where the log starts and what the producer had acknowledged",
            ),
        ),
        summary=F.concat(
            sentence("producer {producer_id} was refused in {at} with {error}", at=place()),
            only_if(F.col("sequence").isNotNull(), " at sequence {sequence}"),
            only_if(F.col("times") > 1, " ({times} times)"),
            only_if(F.col("last").isNotNull(), ", after offset {last} was acknowledged"),
            only_if(F.col("start").isNotNull(), "; the log starts at {start}"),
            F.when(retention, ": retention took its records, nothing is lost that was to be kept")
            .when(loss, ": acknowledged records are lost")
            .when(overtaken, ": a later batch has overtaken it, and its records are refused for good")
            .otherwise(""),
        ),
        evidence=[
            F.when(overtaken, F.col("first.seen")).otherwise(F.col("acknowledged.seen")),
            F.when(retention, F.col("log_start.seen")),
            F.col("truncation.seen"),
            F.col("seen"),
        ],
        behaviours=F.when(loss, texts(*_LOST))
        .when(overtaken, texts("new-partition-sequence"))
        .otherwise(texts(*_SPURIOUS)),
        ids=F.when(loss, texts("KIP-185", "KAFKA-19880"))
        .when(overtaken, texts("KAFKA-15591", "KAFKA-14312"))
        .otherwise(texts(*_SPURIOUS_IDS)),
    )


def _without_taken(refused: Table, appends: Table) -> Table:
    """What was refused, and taken when it was sent again, is no finding.

    A segment has the time at which a batch was made, before it was refused; brokers don't log its epoch.
    """
    batches = prefixed(appends, "_", *_KEY, "producer_epoch", "sequence", "time_ms")
    again = same("_", (*_KEY, "sequence"))
    again.append(F.coalesce(F.col("producer_epoch") == F.col("_producer_epoch"), F.lit(True)))
    again.append(F.col("_time_ms") >= F.col("time_ms") - _DELIVERED_MS)
    return refused.join(batches, again, "left_anti")


SEARCH: Final = Search(
    "sequences of producers",
    find,
    ("refused",),
    Signature(
        SEQUENCES,
        "errors about sequence numbers, told apart by the log start offset and the last offset that was "
        "acknowledged",
        known_as="KIP-185, KIP-360",
        stories={
            "spurious-sequence-error": "{who} got an error about sequence numbers without having lost a "
            "record",
            "lost-records": "{who} lost records that had been acknowledged",
        },
        alike=("unclean-election", "truncation-gap", "producer-expired"),
        reproductions=(forgotten_producer("spurious-sequence-error", "spurious-out-of-order"),),
    ),
    Signature(
        ("overtaken-batch",),
        "the first batch of a producer is refused for good, because a later one was taken before it",
        known_as="KAFKA-15591",
        stories={"overtaken-batch": "{who} had its first records refused, because later ones were taken"},
    ),
    Signature(("sequence-error",), "such an error, if the files don't tell these two offsets"),
)

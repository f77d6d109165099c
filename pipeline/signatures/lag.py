"""`lag-spike`: a group is suddenly further behind, and not because more was written.

The clearest sign of a rewind on the consumers' side, at LinkedIn as elsewhere. A consumer that is slow, and a
burst of its producers, are no findings.
"""

from typing import Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from ..findings import LIKELY, findings, in_order, of_kinds, place, seen, sentence, up_to

LEAST: Final = 1_000
"""Records by which the lag must have grown."""
_WHERE: Final = ("group", "topic", "partition")


def find(observations: DataFrame) -> DataFrame:
    offsets = of_kinds(observations, "commit", "restore", "reset").where("offset >= 0 and topic is not null")
    offsets = offsets.where(F.col("group").isNotNull())
    kept = (
        "kind",
        "file",
        "position",
        "time_ms",
        "group",
        "topic",
        "partition",
        "offset",
        "end_offset",
        "seen",
    )
    window = in_order(*_WHERE)
    previous = F.lag(F.struct("offset", "seen")).over(window)
    jumps = offsets.withColumn("seen", seen()).select(*kept).withColumn("previous", previous)
    # A commit that goes back after a seek is its user's.
    jumps = jumps.where((F.col("kind") != "commit") & (F.col("previous.offset") - F.col("offset") >= LEAST))
    jumps = jumps.persist()
    where = jumps.select("topic", "partition").distinct()
    ends = of_kinds(observations, "high-watermark").join(
        F.broadcast(where), ["topic", "partition"], "left_semi"
    )
    ends = ends.select(
        "kind", "source", "file", "position", "time_ms", "topic", "partition", "offset", "text"
    )
    both = jumps.unionByName(ends, allowMissingColumns=True)
    # Told in words only where it is evidence: there are many.
    told = F.struct("source", "file", "position", "time_ms", "offset", "text")
    end = F.when(F.col("kind") == "high-watermark", told)
    both = both.withColumn("end", F.last(end, True).over(up_to(in_order("topic", "partition"))))
    lag, was = F.col("end.offset") - F.col("offset"), F.col("end.offset") - F.col("previous.offset")
    rows = both.where("kind != 'high-watermark' and end is not null").withColumns({"lag": lag, "was": was})
    return findings(
        rows.where("lag >= 2 * was"),
        signature="lag-spike",
        confidence=LIKELY,
        why="the offset went back by as much; the log did not grow meanwhile",
        summary=sentence(
            "group {group} fell from {was} to {lag} records behind the high watermark of {at} at once",
            at=place(),
            was=F.greatest(F.col("was"), F.lit(0)),
        ),
        evidence=[F.col("previous.seen"), F.col("seen"), _seen_end()],
    )


def _seen_end() -> Column:
    told = sentence("high-watermark {at}: offset {offset}", at=place(), offset="end.offset")
    text = F.when(F.col("end.source") == "trace", told).otherwise(F.coalesce("end.text", told))
    where = (F.col(f"end.{name}").alias(name) for name in ("file", "position", "time_ms"))
    return F.struct(*where, text.alias("text"))

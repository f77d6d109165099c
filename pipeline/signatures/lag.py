"""`lag-spike`: a group is suddenly further behind, and not because more was written.

This is the clearest sign of a rewind on the consumers' side, at LinkedIn as elsewhere. A slow consumer, and a
burst of writes, are not findings.
"""

from typing import Final

from ..findings import LIKELY, SEEN, findings, in_order, of_kinds, place, row, seen, sentence, up_to
from ..tables import Table
from ..tables import functions as F

LEAST: Final = 1_000
"""The number of records by which the lag must have grown."""
_WHERE: Final = ("group", "topic", "partition")


def find(observations: Table) -> Table:
    offsets = of_kinds(observations, "commit", "restore", "reset").where("offset >= 0 and topic is not null")
    offsets = offsets.where(F.col("group").isNotNull())
    window = in_order(*_WHERE)
    jumps = offsets.select(*SEEN).withColumn("previous", F.lag(row()).over(window))
    # A commit that goes back after a seek is the user's own.
    jumps = jumps.where((F.col("kind") != "commit") & (F.col("previous.offset") - F.col("offset") >= LEAST))
    jumps = jumps.persist()
    where = jumps.select("topic", "partition").distinct()
    ends = of_kinds(observations, "high-watermark").join(
        F.broadcast(where), ["topic", "partition"], "left_semi"
    )
    both = jumps.unionByName(ends.select(*SEEN), allowMissingColumns=True)
    end = F.when(F.col("kind") == "high-watermark", row())
    both = both.withColumn("end", F.last(end, True).over(up_to(in_order("topic", "partition"))))
    lag, was = F.col("end.offset") - F.col("offset"), F.col("end.offset") - F.col("previous.offset")
    rows = both.where("kind != 'high-watermark' and end is not null").withColumns({"lag": lag, "was": was})
    # A broker that follows tells an older high watermark, below what the group has read.
    return findings(
        rows.where("was >= 0 and lag >= 2 * was"),
        signature="lag-spike",
        confidence=LIKELY,
        why="the offset went back by as much; the log did not grow meanwhile",
        summary=sentence(
            "group {group} fell from {was} to {lag} records behind the high watermark of {at} at once",
            at=place(),
            was="was",
        ),
        evidence=[seen("previous"), seen(), seen("end")],
    )

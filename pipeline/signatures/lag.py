"""`lag-spike`: a group is suddenly further behind, and not because more was written.

This is the clearest sign of a rewind on the consumers' side, at LinkedIn as elsewhere. A slow consumer, and a
burst of writes, are not findings.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..rows import PARTITION, SEEN, in_order, of_kinds, place, row, seen, sentence, up_to
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

LEAST: Final = 1_000
"""The number of records by which the lag must have grown."""


def find(observations: Table) -> Table:
    offsets = of_kinds(observations, "commit", "restore", "reset").where("offset >= 0 and topic is not null")
    offsets = offsets.where(F.col("group").isNotNull())
    jumps = offsets.select(*SEEN).withColumn("previous", F.lag(row()).over(in_order("group", *PARTITION)))
    # A commit that goes back after a seek is the user's own.
    jumps = jumps.where((F.col("kind") != "commit") & (F.col("previous.offset") - F.col("offset") >= LEAST))
    jumps = jumps.persist()
    where = F.broadcast(jumps.select(*PARTITION).distinct())
    ends = of_kinds(observations, "high-watermark").join(where, PARTITION, "left_semi")
    both = jumps.unionByName(ends.select(*SEEN), allowMissingColumns=True)
    end = F.when(F.col("kind") == "high-watermark", row())
    both = both.withColumn("end", F.last(end, True).over(up_to(in_order(*PARTITION))))
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
        ),
        evidence=[seen("previous"), seen(), seen("end")],
    )


SEARCH: Final = Search(
    "lag",
    find,
    ("restore", "reset"),
    Signature(
        ("lag-spike",),
        "a group is suddenly further behind",
        known_as="LinkedIn",
        stories={"lag-spike": "{who} fell behind"},
    ),
)

"""`group-renamed`: an application came back with another group id, and may have begun behind where it had
left off: with `auto.offset.reset=latest` nobody gets what was written meanwhile.

Only the names tell that they are one application: they differ in what is behind a stem.
"""

from typing import Final

from ..findings import POSSIBLE, findings
from ..offsets_log import SOURCES
from ..rows import PARTITION, SEEN, first_of, of_kinds, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_KEY: Final = ("group", *PARTITION)
_STEM: Final = r"^(.+?)(?:[-_.]?(?:v\d{1,2}|\d|new|next|copy|blue|green|bis))?$"
"""Numbers that tools give, as in `console-consumer-81357`, are no names of one application."""
_SOON_MS: Final = 86_400_000


def find(observations: Table) -> Table:
    commits = of_kinds(observations, "commit").where(F.col("source").isin(*SOURCES))
    commits = commits.where("group is not null and topic is not null and time_ms is not null")
    at = F.struct("time_ms", "file", "position")
    each = (
        commits.select(*SEEN)
        .groupBy(*_KEY)
        .agg(
            F.min_by(row(), at).alias("first"),
            F.max_by(row(), at).alias("last"),
        )
    )
    each = each.persist()
    each = each.withColumn("stem", F.regexp_extract("group", _STEM, 1))
    others = prefixed(each, "_", *_KEY, "stem", began=F.col("first"))
    pairs = each.join(
        others,
        [
            *same("_", (*PARTITION, "stem")),
            F.col("_group") != F.col("group"),
            F.col("began.time_ms") > F.col("last.time_ms"),
            F.col("began.time_ms") <= F.col("last.time_ms") + _SOON_MS,
            F.col("began.offset") > F.col("last.offset"),
        ],
    )
    next_ = Window.partitionBy(*_KEY).orderBy("began.time_ms", "_group")
    rows = first_of(pairs, next_)
    unread = _with_unread(rows, observations)
    return findings(
        unread,
        signature="group-renamed",
        confidence=POSSIBLE,
        why="the names are alike, and the first one did not come back; where the second one began, its log "
        "would tell",
        summary=sentence(
            "group {group} stopped at {stopped} in {at}, {unread} records before the log end, and group "
            "{_group} began there, whose first commit is {first}: if it is the same application, it may not "
            "have got what is between",
            at=place(),
            stopped=F.col("last.offset"),
            first=F.col("began.offset"),
        ),
        evidence=[seen("last"), F.col("written"), seen("began")],
    )


def _with_unread(rows: Table, observations: Table) -> Table:
    """Those of which something was written between: the log end before the second group's first commit."""
    ends = of_kinds(observations, "append", "high-watermark").where("topic is not null")
    ends = ends.where("time_ms is not null")
    ends = prefixed(ends, "e_", *PARTITION, "time_ms", "end_offset", shown=seen())
    pairs = rows.select(*_KEY, "last", "began").join(
        ends,
        [
            *same("e_", PARTITION),
            F.col("e_time_ms") <= F.col("began.time_ms"),
            F.col("e_end_offset") > F.col("last.offset"),
        ],
    )
    pairs = pairs.where(F.col("e_time_ms") > F.col("last.time_ms"))
    end = pairs.groupBy(*_KEY).agg(
        F.max(F.col("e_end_offset") - F.col("last.offset")).alias("unread"),
        F.max_by("shown", "e_end_offset").alias("written"),
    )
    return rows.join(end, list(_KEY))


SEARCH: Final = Search(
    "groups that were renamed",
    find,
    ("commit",),
    Signature(
        ("group-renamed",),
        "a group stopped before the log end, and one whose name is alike began behind it",
        stories={"group-renamed": "{who} came back with another name"},
    ),
)

"""`seeks-to-beginning`: an application seeks to the first record of a partition in which its group had an
offset.

Only clients in Java log it. Not here: a group without an offset, and a client that is not seen to go back.
"""

from typing import Final

from ..consequences import GROUP, LATE_MS, REWOUND, leads
from ..findings import CERTAIN, findings
from ..rows import before, in_order, of_kinds, only_if, place, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_SEEKS: Final = "%Seeking to %"
_SOON_MS: Final = 60_000


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "restore", "reset").where("group is not null")
    rows = rows.where("topic is not null and partition is not null and time_ms is not null")
    window = in_order("file", *GROUP)
    had = F.when(F.col("kind") == "restore", row())
    went = F.when((F.col("kind") == "reset") & F.col("offset").isNotNull(), row())
    rows = rows.withColumns(
        {
            "had": F.last(had, True).over(before(window)),
            "went": F.last(went, True).over(before(window.reversed)),
        }
    )
    soon = F.col("went.time_ms") - F.col("had.time_ms") <= _SOON_MS
    sought = rows.where(F.col("text").like(_SEEKS) & (F.col("kind") == "reset"))
    sought = sought.where((F.col("detail") == "earliest") & soon)
    sought = sought.where(F.col("went.offset") < F.col("had.offset")).withColumn("shown", seen())
    each = sought.groupBy(*GROUP).agg(
        F.count_distinct("went").alias("times"),
        F.min_by("had", "time_ms").alias("had"),
        F.min_by("shown", "time_ms").alias("shown"),
        F.min_by("went", "time_ms").alias("went"),
        F.max_by("went", "time_ms").alias("last"),
    )
    return findings(
        each,
        signature=_SOUGHT[0],
        confidence=CERTAIN,
        why="its client says so",
        summary=F.concat(
            sentence(
                "an application of group {group} sought to the first record of {at}, although the group had "
                "committed {offset}: it read all again",
                at=place(),
                offset="had.offset",
            ),
            only_if(F.col("times") > 1, " ({times} times)"),
        ),
        evidence=[seen("had"), F.col("shown"), seen("went"), seen("last")],
    )


_SOUGHT: Final = ("seeks-to-beginning",)
SEARCH: Final = Search(
    "seeks",
    find,
    ("reset",),
    Signature(
        _SOUGHT,
        "an application seeks to the first record of a partition in which its group had committed an offset, "
        "as a Java client says: it reads all again",
        stories={_SOUGHT[0]: "an application of {who} sought to the beginning"},
        rules=leads(_SOUGHT, REWOUND, GROUP, LATE_MS, "its application sought there"),
        unshown="what an application asks for is no fault of a cluster",
    ),
)

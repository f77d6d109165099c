"""`members-replaced`: members of a group fall silent one after the other, and others take their places.

So it is when the processes of an application are killed again and again, for their memory or by a probe: none
of them leaves its group, which waits for the session of each to expire. Members that are silent at once, as
when an application ends, are no finding; nor is one that comes back under its name (`session-timeout`).
"""

from typing import Final

from ..findings import LIKELY, findings
from ..ledgers.members import LOSES, LOSES_MS
from ..readers.coordinator_messages import SILENT
from ..rows import SEEN, of_kinds, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_NAMES: Final = ("members-replaced",)
_LONGEST_MS: Final = 3_600_000
_EXPIRED: Final = rf"^(\S+)-[0-9a-f]{{8}}-[0-9a-f-]{{27}} {SILENT}$"
"""Members that coordinators named are called after their client."""


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "member").where("group is not null and time_ms is not null")
    rows = rows.select(*SEEN).withColumn("named", F.regexp_extract("detail", _EXPIRED, 1))
    each = (
        rows.where(F.col("named") != "")
        .groupBy("broker", "group")
        .agg(
            F.min_by(row(), "time_ms").alias("first"),
            F.max_by(row(), "time_ms").alias("last"),
            F.min("time_ms").alias("since_ms"),
            F.max("time_ms").alias("until_ms"),
            F.count_distinct("named").alias("count"),
        )
    )
    took = F.col("until_ms") - F.col("since_ms")
    return findings(
        each.where((F.col("count") >= LOSES) & took.between(LOSES_MS, _LONGEST_MS)),
        signature="members-replaced",
        confidence=LIKELY,
        why="the log of the coordinator says so; whether they were killed, or hung, only they could tell",
        summary=sentence(
            "{count} members of group {group} fell silent in {took} s, none of which left it: each time the "
            "group waits until the session of one expires",
            took=F.floor(took / 1000).cast("bigint"),
        ),
        evidence=[seen("first"), seen("last")],
        ids=["KIP-62"],
    )


SEARCH: Final = Search(
    "members that are replaced",
    find,
    ("member",),
    Signature(
        _NAMES,
        "members of a classic group fell silent one after the other for half a minute and more, and "
        "others joined: processes that are killed again and again",
        stories={_NAMES[0]: "members of {who} were replaced without having left"},
        unshown="a test would have to kill processes of the application",
    ),
)

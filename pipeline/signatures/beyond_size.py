"""`retention-by-size`: a log grew beyond retention.bytes, and what groups had not read was deleted.

Nobody need have altered anything: a burst is enough, while a group is away or behind. The broker says of each
segment why it deletes it.
"""

from typing import Final

from ..consequences import BEHIND, LATE_MS, PARTITION, SET_BACK, leads
from ..deletions import BY_RETENTION
from ..findings import CERTAIN, findings
from ..readers.broker_messages import BEYOND
from ..rows import PARTITION as PLACE
from ..rows import of_kinds, place, prefixed, same, seen, sentence
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table
from ..tables import functions as F
from .administrators import with_groups

_SOON_MS: Final = 60_000
_NAMES: Final = ("retention-by-size",)


def find(observations: Table) -> Table:
    beyond = of_kinds(observations, "expiry").where(F.col("detail").startswith(BEYOND))
    beyond = prefixed(
        beyond.where("topic is not null"),
        "_",
        *PLACE,
        "offset",
        "time_ms",
        "broker",
        said=seen(),
        size=F.regexp_extract("detail", rf"^{BEYOND}(.*)$", 1),
    )
    starts = of_kinds(observations, "log-start").where(F.col("detail").startswith(BY_RETENTION))
    starts = starts.where("topic is not null and offset is not null").withColumn("shown", seen())
    own = [
        *same("_", (*PLACE, "broker")),
        F.col("_offset") < F.col("offset"),
        F.abs(F.col("_time_ms") - F.col("time_ms")) <= _SOON_MS,
    ]
    # Retention deletes again and again: what counts is how far it went before somebody came back.
    rows = (
        starts.join(beyond, own)
        .groupBy(*PLACE, "offset")
        .agg(
            F.min("time_ms").alias("time_ms"),
            F.min_by("broker", "time_ms").alias("broker"),
            F.min_by("shown", "time_ms").alias("shown"),
            F.max_by("said", "_offset").alias("said"),
            F.max_by("size", "_offset").alias("size"),
        )
    )
    rows = with_groups(rows.persist(), observations)
    rows = rows.groupBy(*PLACE).agg(
        F.max("time_ms").alias("time_ms"),
        *(
            F.max_by(name, "offset").alias(name)
            for name in ("broker", "shown", "said", "size", "missed", "committed")
        ),
        F.max("offset").alias("offset"),
    )
    return findings(
        rows,
        signature="retention-by-size",
        confidence=CERTAIN,
        why="the broker that deleted the segments says that the log was larger than that",
        summary=sentence(
            "the records of {at} below {offset} were deleted, which were not read yet, since the log was "
            "larger than its retention.bytes, {size}: {missed}",
            at=place(),
        ),
        evidence=[F.col("said"), F.col("shown"), F.col("committed")],
    )


SEARCH: Final = Search(
    "logs that grew beyond their size",
    find,
    ("expiry",),
    Signature(
        _NAMES,
        "a log grew beyond `retention.bytes`, so that records were deleted that groups had not read; how "
        "many each missed",
        stories={_NAMES[0]: "a log was larger than its retention.bytes"},
        rules=leads(_NAMES, (*SET_BACK, *BEHIND), PARTITION, LATE_MS, "what it had not read was deleted"),
        looked_for=Alike("a log beyond its retention.bytes", _NAMES, BROKERS),
    ),
)

"""`clock-stepped`: the clock of a broker was set while it ran, so that its log goes back in time.

A clock that is ahead deletes segments too early: retention compares it with the timestamps of records.
"""

from typing import Final

from ..consequences import ANYWHERE, LATE_MS, SET_BACK, leads
from ..findings import CERTAIN, LIKELY, findings
from ..rows import after, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

LEAST_MS: Final = 60_000
"""Clocks that are set by less are no finding."""


def find(observations: Table) -> Table:
    rows = observations.where("source = 'broker-log' and time_ms is not null and kind != 'unreadable'")
    window = Window.partitionBy("file").orderBy("position")
    broker = F.max("broker").over(Window.partitionBy("file")).alias("broker")
    lines = rows.select("file", "position", "time_ms", broker, seen().alias("seen"))
    stepped = (
        lines.withColumns({"was": F.lag("time_ms").over(window), "last": F.lag("seen").over(window)})
        .withColumn("by", F.col("time_ms") - F.col("was"))
        .where(F.abs("by") >= LEAST_MS)
    )
    back = F.when(F.col("by") < 0, F.struct("by", "last", "seen"))
    rows = stepped.withColumn("back", F.last(back, True).over(after(window)))
    there_and_back = F.abs(F.col("by") + F.col("back.by")) < LEAST_MS + F.col("by") / 10
    ahead = rows.where((F.col("by") > 0) & there_and_back)
    first = [F.min_by(name, "position").alias(name) for name in ("by", "last", "seen", "back")]
    return findings(
        ahead.groupBy("broker").agg(*first),
        signature="clock-stepped",
        confidence=F.when(F.col("broker").isNotNull(), CERTAIN).otherwise(LIKELY),
        why="the lines of one log are that much later than those before them, and those that follow are not",
        summary=sentence(
            "the clock of broker {broker} was ahead for a while, by {by} s: what it deleted then by age may "
            "have been too young",
            by=F.round(F.col("by") / 1000).cast("bigint"),
        ),
        evidence=[F.col("last"), F.col("seen"), F.col("back.seen")],
    )


_EXPIRED: Final = ("producer-expired", "transactional-id-expired", "offset-lost", "offsets-expired")
_LOWERED: Final = ("retention-lowered",)
_CLOCK: Final = ("clock-stepped",)
SEARCH: Final = Search(
    "clocks",
    find,
    ("leader", "log-start", "high-watermark", "truncation", "load"),
    Signature(
        _CLOCK,
        "a broker's log goes back in time: its clock was ahead for a while",
        unshown="all brokers of a mock cluster have one clock",
        rules=(
            *leads(_CLOCK, SET_BACK, ANYWHERE, LATE_MS, "by the wrong clock, records were old enough to go"),
            *leads(_CLOCK, _LOWERED, ANYWHERE, LATE_MS, "by the wrong clock, records were old enough to go"),
            *leads(_CLOCK, _EXPIRED, ANYWHERE, LATE_MS, "by the wrong clock, it was old enough to expire"),
        ),
    ),
)

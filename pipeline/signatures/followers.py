"""`log-start-past-log-end` and `follower-failure`: followers that could not do what the leader told them.

KAFKA-7104: the leader read records for a follower, then its log start offset advanced, and the answer had the
new one with the old records. A follower out of the ISR can't move there, and its fetcher stops.
"""

from typing import Final

from ..findings import CERTAIN, POSSIBLE, findings, of_kinds, place, seen, sentence, texts
from ..tables import Table
from ..tables import functions as F
from .beside import beside, near

_PAST: Final = r"(?i)cannot increment the log start offset to (\d+).*larger than the high watermark (\d+)"
_THREAD: Final = "(?i)its fetcher died with"


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "follower-failure").where("topic is not null and partition is not null")
    said = F.coalesce("detail", "text")
    start = F.when(said.rlike(_PAST), F.regexp_extract(said, _PAST, 1).cast("bigint"))
    watermark = F.when(said.rlike(_PAST), F.regexp_extract(said, _PAST, 2).cast("bigint"))
    rows = rows.withColumns({"seen": seen(), "said": said, "start": start, "watermark": watermark}).select(
        *("source", "file", "position", "time_ms", "topic", "partition", "broker", "from_offset"),
        *("seen", "said", "start", "watermark"),
    )
    rows = beside(rows, observations, ["log-start", "in-sync-replicas", "leader"])
    moved = F.when(near("log-start")["offset"] == F.col("start"), near("log-start"))
    rows = rows.withColumns({"moved": moved, "past": F.col("start").isNotNull()})
    # Partitions of the same thread failed because of one follower, and need no finding of their own; a paused
    # one was paused on purpose.
    rows = rows.where(F.col("past") | ~F.coalesce(F.col("said").rlike(_THREAD), F.lit(False)))
    return findings(
        rows,
        signature=F.when(F.col("past"), "log-start-past-log-end").otherwise("follower-failure"),
        confidence=F.when(F.col("past"), CERTAIN).otherwise(POSSIBLE),
        why=F.when(F.col("past"), "the follower says so itself").otherwise(
            "a fetcher stopped for a reason that has no name here"
        ),
        summary=F.when(
            F.col("past"),
            F.concat(
                sentence("the follower of {at}", at=place()),
                F.when(F.col("broker").isNotNull(), sentence(" on broker {broker}")).otherwise(""),
                sentence(
                    " was told the log start offset {start}, past its own high watermark "
                    "{watermark}: its fetcher stopped"
                ),
                F.when(
                    F.col("moved").isNotNull(), sentence("; the leader's log start moved there at that time")
                ).otherwise(""),
            ),
        ).otherwise(sentence("the follower of {at} on broker {broker} stopped: {said}", at=place())),
        evidence=[F.col("moved.seen"), F.col("seen")],
        behaviours=F.when(
            F.col("past"),
            texts("fetch-log-start-offset", "follower-log-start-offset", "fetcher-failure"),
        ).otherwise(texts("fetcher-failure")),
        ids=F.when(F.col("past"), texts("KAFKA-7104", "KIP-461")).otherwise(texts("KIP-461")),
    )

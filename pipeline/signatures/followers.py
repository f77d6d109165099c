"""`log-start-past-log-end` and `follower-failure`: followers that could not do what the leader told them.

KAFKA-7104: the leader read records for a follower, then its log start offset advanced, and the answer had the
new one with the old records. A follower out of the ISR can't move there, and its fetcher stops.
"""

from typing import Final

from ..beside import beside, near
from ..consequences import BROKER, LATE_MS, PARTITION, SOON_MS, leads
from ..findings import CERTAIN, POSSIBLE, Else, If, findings, judged, texts
from ..reproduction import answering, explored
from ..rows import of_kinds, only_if, place, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_PAST: Final = r"(?i)cannot increment the log start offset to (\d+).*larger than the high watermark (\d+)"
_THREAD: Final = "(?i)its fetcher died with"
_BEHAVIOURS: Final = ("fetch-log-start-offset", "follower-log-start-offset")


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
    past = F.col("past")
    of_broker, moves = F.col("broker").isNotNull(), F.col("moved").isNotNull()
    fell_past = F.concat(
        sentence("the follower of {at}", at=place()),
        only_if(of_broker, " on broker {broker}"),
        sentence(
            " was told the log start offset {start}, past its own high watermark {watermark}: its fetcher "
            "stopped"
        ),
        only_if(moves, "; the leader's log start moved there at that time"),
    )
    stopped = sentence("the follower of {at} on broker {broker} stopped: {said}", at=place())
    return findings(
        rows,
        signature=F.when(past, "log-start-past-log-end").otherwise("follower-failure"),
        **judged(
            If(past, CERTAIN, "the follower says so itself"),
            Else(POSSIBLE, "a fetcher stopped for a reason that has no name here"),
        ),
        summary=F.when(past, fell_past).otherwise(stopped),
        evidence=[F.col("moved.seen"), F.col("seen")],
        behaviours=F.when(past, texts(*_BEHAVIOURS, "fetcher-failure")).otherwise(texts("fetcher-failure")),
        ids=F.when(past, texts("KAFKA-7104", "KIP-461")).otherwise(texts("KIP-461")),
    )


_PAST_END: Final = ("log-start-past-log-end",)
_AFTERWARDS: Final = ("follower-failure", "out-of-range", "reset-to-earliest")
_NOTHING: Final = "the follower had nothing from that offset on"
SEARCH: Final = Search(
    "followers",
    find,
    ("follower-failure",),
    Signature(
        ("log-start-past-log-end", "follower-failure"),
        "a follower that could not move to the leader's log start offset, and those that failed with it",
        known_as="KAFKA-7104, KIP-461",
        stories={"follower-failure": "a follower failed"},
        rules=(
            *leads(_PAST_END, _AFTERWARDS, PARTITION, LATE_MS, _NOTHING),
            *leads(_PAST_END, ("follower-failure",), BROKER, SOON_MS, "one fetcher serves them all"),
        ),
        reproductions=(
            explored(
                _PAST_END,
                "fetch-log-start-offset=live",
                "follower-log-start-offset=bounded",
                "follower-fetcher-dead",
                answering(follower_log_start_offset="bounded"),
                policies={"fetch-log-start-offset": "live"},
            ),
        ),
    ),
)

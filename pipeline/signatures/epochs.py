"""`undefined-epoch`, `epoch-regression`: leader epochs that the broker asked does not know.

When asked where an epoch ends, a broker answers (-1, -1) for one above all that it knows (KAFKA-19902), and
up to 2.0.0 also for one below all that it knows (KAFKA-7415): either resets a consumer. A topic that was
created again, or a leader that was cut off, has lower epochs than clients have seen.
"""

from typing import Final

from ..beside import beside
from ..consequences import EPOCHS, LATE_MS, PARTITION, SET_BACK, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged, texts
from ..reproduction import answering, explored, with_epochs
from ..rows import before, in_order, of_kinds, only_if, place, prefixed, row, same, seen, sentence, who
from ..signature import CLIENT, Alike, Search, Signature
from ..tables import Table
from ..tables import functions as F

_CLIENTS: Final = ("commit", "restore", "position", "fetched")
_ENTRY: Final = ("undefined-epoch", "leader-epoch-entry")
_LATE_NEWS_MS: Final = 1_000
_REMOVED: Final = "the log begins behind the position that goes with that epoch: retention removed it"
_NOT_ENTERED: Final = "nothing tells that retention removed that epoch, so the broker had not entered it yet"


def find(observations: Table) -> Table:
    return _undefined(observations).unionByName(_regressions(observations))


def _undefined(observations: Table) -> Table:
    rows = of_kinds(observations, "epoch-answer").where(
        "leader_epoch >= 0 and end_offset < 0 and topic is not null"
    )
    rows = rows.withColumn("seen", seen()).select(
        *("source", "file", "position", "time_ms", "client", "group", "topic", "partition", "broker"),
        F.col("leader_epoch").alias("asked"),
        "seen",
    )
    rows = beside(rows, observations, ["log-start", "leader", "restore"])
    below = (F.col("log_start.offset") > 0) & (F.col("restore.offset") <= F.col("log_start.offset"))
    rows = rows.withColumn("below", F.coalesce(below, F.lit(False)))
    in_trace, begins, below = F.col("source") == "trace", F.col("log_start").isNotNull(), F.col("below")
    return findings(
        rows,
        signature="undefined-epoch",
        **judged(
            If(in_trace & below, CERTAIN, _REMOVED),
            If(in_trace, CERTAIN, _NOT_ENTERED),
            If(begins & below, LIKELY, _REMOVED),
            If(begins, LIKELY, _NOT_ENTERED),
            Else(
                POSSIBLE,
                "the files don't tell where the log begins: the epoch may be one that the broker had not "
                "entered yet, or one that retention removed",
            ),
        ),
        summary=F.concat(
            sentence(
                "{who} asked where epoch {asked} of {at} ends, and broker {broker} answered "
                "that it does not know",
                who=who(),
                at=place(),
            ),
            only_if(F.col("leader").isNotNull(), " (leader epoch {now})", now="leader.leader_epoch"),
            sentence(": an epoch {side} all it knows", side=F.when(below, "below").otherwise("above")),
        ),
        evidence=[F.col("leader.seen"), F.col("restore.seen"), F.col("seen")],
        behaviours=F.when(below, texts("epoch-below-first")).otherwise(texts(*_ENTRY)),
        ids=F.when(below, texts("KAFKA-7415")).otherwise(texts("KAFKA-19902")),
    )


def _regressions(observations: Table) -> Table:
    """A leader with a lower epoch than before, after a client has seen a higher one. A broker that only heard
    late of its earlier leadership tells of the later one at once."""
    leaders = of_kinds(observations, "leader").where(
        # A checkpoint does not say when an epoch began.
        "topic is not null and leader_epoch is not null and time_ms is not null and coalesce(leader, 0) >= 0"
    )
    window = in_order(*PARTITION)
    epoch = F.struct("leader_epoch", seen().alias("seen"))
    own = in_order(*PARTITION, "broker")
    leaders = leaders.withColumn("next", F.lead(F.struct("leader_epoch", "time_ms")).over(own))
    heard_late = (F.col("next.leader_epoch") >= F.col("highest.leader_epoch")) & (
        F.col("next.time_ms") - F.col("time_ms") <= _LATE_NEWS_MS
    )
    fell = leaders.withColumn("highest", F.max(epoch).over(before(window))).where(
        (F.col("leader_epoch") < F.col("highest.leader_epoch")) & ~F.coalesce(heard_late, F.lit(False))
    )
    fell = (
        fell.withColumn("seen", seen())
        .groupBy(*PARTITION, "leader_epoch", "highest")
        .agg(
            *(F.min_by(name, "time_ms").alias(name) for name in ("seen", "leader", "source")),
            F.min("time_ms").alias("at_ms"),
        )
    )
    known = F.coalesce("leader_epoch", "current_epoch")
    clients = prefixed(
        of_kinds(observations, *_CLIENTS).where(known.isNotNull()),
        "_",
        *(*PARTITION, "time_ms"),
        _epoch=known,
        _who=F.coalesce("group", "client"),
        _row=row(),
    )
    held = [
        *same("_", PARTITION),
        F.col("_time_ms") >= F.col("at_ms"),
        F.col("_epoch") > F.col("leader_epoch"),
    ]
    # Mostly nobody held one: then no rows are read as a whole.
    names = [f"_{name}" for name in (*PARTITION, "time_ms", "epoch")]
    some = clients.select(*names).join(F.broadcast(fell), held).select(*names).distinct().persist()
    clients = clients.join(some, names, "left_semi")
    keys = (*PARTITION, "leader_epoch", "highest", "seen", "leader", "source", "at_ms")
    rows = (
        clients.join(F.broadcast(fell), held)
        .groupBy(*keys)
        .agg(F.min_by(F.struct("_time_ms", "_epoch", "_who", "_row"), "_time_ms").alias("held"))
    )
    return findings(
        rows,
        signature="epoch-regression",
        confidence=F.when(F.col("source") == "trace", LIKELY).otherwise(POSSIBLE),
        why="leader epochs only grow: the topic was made again, or a leader speaks that was cut off",
        summary=sentence(
            "{at} was led by broker {leader} in epoch {leader_epoch} after epoch {old}, while {holder} still "
            "went by epoch {held}",
            at=place(),
            old="highest.leader_epoch",
            holder="held._who",
            held="held._epoch",
        ),
        evidence=[F.col("highest.seen"), F.col("seen"), seen("held._row")],
        ids=["KAFKA-12257"],
        columns={"broker": F.col("leader")},
    )


SEARCH: Final = Search(
    "leader epochs",
    find,
    ("epoch-answer", "commit", "restore", "position", "fetched"),
    Signature(
        EPOCHS,
        "epochs above or below all those that a broker knows; epochs lower than those seen before",
        known_as="KAFKA-19902, KAFKA-7415",
        stories={
            "undefined-epoch": "a leader epoch was not known",
            "epoch-regression": "a leader epoch was lower than before",
        },
        rules=leads(EPOCHS, SET_BACK, PARTITION, LATE_MS, "the position could not be validated"),
        looked_for=Alike("an epoch that nobody knows", ("undefined-epoch",), CLIENT, "epoch-answer"),
        reproductions=(
            explored(
                ("undefined-epoch",),
                "epoch-below-first=undefined",
                "epoch-below-first=requested-epoch",
                "reset-without-loss",
                lambda plan: with_epochs(answering(epoch_below_first="requested-epoch")(plan)),
                policies={"epoch-below-first": "undefined"},
            ),
        ),
    ),
)

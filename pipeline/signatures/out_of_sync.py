"""`broker-away`, `follower-slow`, `log-dir-failed`: why the replicas of a broker are not in sync for long.

Not here: a restart, a follower that catches up within a minute, and a broker whose only disk fails, which
ends itself.
"""

from functools import reduce
from typing import Final

from ..consequences import BROKER, LATE_MS, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..ledgers.replicas import BACK, LEFT, others_end, own_ends
from ..readers.broker_messages import NO_DISK
from ..rows import (
    PARTITION,
    SEEN,
    first_of,
    in_order,
    of_kinds,
    only_if,
    place,
    prefixed,
    row,
    same,
    seen,
    sentence,
)
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_AWAY_MS: Final = 600_000
_SLOW_MS: Final = 60_000
_MINUTES: Final = 10
_OTHER: Final = r"\(brokerId: \d+[^)]*\),? ?"
_OUT: Final = r"\(brokerId: (\d+)"
_OTHERS: Final = 3
"""How many replicas of a line are read that were put out at once."""
_FAILED: Final = r"Stopping serving replicas in dir (\S+)"
_FULL: Final = "No space left on device"
_NAMES: Final = ("broker-away", "follower-slow", "log-dir-failed")


def find(observations: Table) -> Table:
    lives = of_kinds(observations, "broker").where("broker is not null and time_ms is not null")
    lives = lives.where(F.col("detail").isin(*LEFT, *BACK)).select(*SEEN).persist()
    return (
        _away(lives, observations).unionByName(_slow(lives, observations)).unionByName(_failed(observations))
    )


def _away(lives: Table, observations: Table) -> Table:
    """From the first row by which it leaves to the first one by which it is back, or to the end."""
    window = in_order("broker")
    lives = lives.withColumns({"left": F.col("detail").isin(*LEFT), "known": row()})
    lives = lives.withColumn("was", F.lag("left").over(window))
    turns = lives.where(F.col("was").isNull() | (F.col("was") != F.col("left")))
    turns = turns.withColumn("back", F.lag("known").over(window.reversed)).where("left")
    turns = turns.join(others_end(observations), [F.col("broker") == F.col("of")], "left")
    until = F.coalesce(F.col("back.time_ms"), F.col("end_ms"))
    turns = turns.withColumn("away", until - F.col("time_ms")).where(F.col("away") >= _AWAY_MS)
    return findings(
        turns,
        signature="broker-away",
        **judged(
            If(
                F.col("back").isNotNull(),
                CERTAIN,
                "its log, or that of the controller, says that it left, and when it came back",
            ),
            Else(
                POSSIBLE,
                "its log, or that of the controller, says that it left; that it came back may be in a file "
                "that is missing",
            ),
        ),
        summary=sentence(
            "broker {broker} was away for {away} min{still}: its replicas fell behind",
            away=F.floor(F.col("away") / 60_000).cast("bigint"),
            still=F.when(F.col("back").isNull(), ", and had not come back at the end of the files").otherwise(
                ""
            ),
        ),
        evidence=[seen("known"), seen("back")],
    )


def _slow(lives: Table, observations: Table) -> Table:
    """Those that a leader put out of the ISR although nothing tells that they left, and not back soon."""
    known = of_kinds(observations, "in-sync-replicas").where("topic is not null and time_ms is not null")
    put_out = known.where("source = 'broker-log' and detail like 'shrank%'").withColumn("shown", seen())
    each = reduce(Table.unionByName, (put_out.withColumn("out", _nth(nth)) for nth in range(_OTHERS)))
    each = each.where("out is not null").drop("broker").withColumn("broker", F.col("out"))
    key = (*PARTITION, "broker", "time_ms", "shown")
    again = prefixed(known, "_", *PARTITION, "time_ms", "replicas")
    soon = [
        *same("_", PARTITION),
        F.col("_time_ms").between(F.col("time_ms") + 1, F.col("time_ms") + _SLOW_MS),
        F.size(F.filter("_replicas", lambda one: one == F.col("broker"))) > 0,
    ]
    each = each.select(*key).join(again, soon, "left_anti")
    left = prefixed(lives.where(F.col("detail").isin(*LEFT)), "_", "broker", "time_ms")
    about_then = F.abs(F.col("_time_ms") - F.col("time_ms")) <= _SLOW_MS
    each = each.join(left, [*same("_", ("broker",)), about_then], "left_anti")
    led = of_kinds(observations, "leader").where("topic is not null and time_ms is not null")
    led = prefixed(led, "_", *PARTITION, "time_ms")
    another = F.col("_time_ms").between(F.col("time_ms") + 1, F.col("time_ms") + _SLOW_MS)
    each = _with_life(each.join(led, [*same("_", PARTITION), another], "left_anti"), observations)
    latest = own_ends(observations).groupBy(F.lit(1).alias("_one")).agg(F.max("end_ms").alias("end_ms"))
    each = each.withColumn("_one", F.lit(1)).join(latest, "_one")
    each = each.where(F.col("end_ms") - F.col("time_ms") >= _SLOW_MS)
    rows = each.groupBy("broker").agg(
        F.count_distinct(*PARTITION).alias("partitions"),
        F.min_by("shown", "time_ms").alias("first"),
        F.max_by("shown", "time_ms").alias("last"),
        F.max("lives").alias("lives"),
    )
    return findings(
        rows,
        signature="follower-slow",
        **judged(
            If(
                F.col("lives") > 0,
                LIKELY,
                "leaders put it out of the ISR for a minute and more, nothing tells that it left, and its "
                "own log goes on: its disk, its network or replica.lag.time.max.ms",
            ),
            Else(
                POSSIBLE,
                "leaders put it out of the ISR for a minute and more; whether it was there its own log would "
                "tell, or that of a controller",
            ),
        ),
        summary=sentence(
            "broker {broker} did not keep up as a follower of {partitions} partition{s}: its leaders put it "
            "out of the ISR",
            s=F.when(F.col("partitions") == 1, "").otherwise("s"),
        ),
        evidence=[F.col("first"), F.col("last")],
    )


def _with_life(each: Table, observations: Table) -> Table:
    """`lives`: the minutes in which its own log says something soon after."""
    minute = F.floor(F.col("time_ms") / _SLOW_MS)
    own = observations.where("source = 'broker-log' and broker is not null and time_ms is not null")
    own = own.where("kind != 'broker'").withColumn("minute", minute).select("broker", "minute").distinct()
    own = own.select(F.col("broker").alias("_broker"), F.col("minute").alias("_minute"))
    soon = F.col("_minute").between(minute + 1, minute + _MINUTES)
    rows = each.join(own, [*same("_", ("broker",)), soon], "left")
    key = (*PARTITION, "broker", "time_ms", "shown")
    return rows.groupBy(*key).agg(F.count("_minute").alias("lives"))


def _nth(nth: int) -> Column:
    """The broker in a line's list of those that are out of sync, null if there are not so many."""
    told = F.regexp_extract("text", rf"replicas: (?:{_OTHER}){{{nth}}}{_OUT}", 1)
    return F.when(told != "", told.cast("int"))


def _failed(observations: Table) -> Table:
    rows = of_kinds(observations, "complaint").where("source = 'broker-log' and broker is not null")
    rows = rows.where("time_ms is not null").select(*SEEN).persist()
    failed = rows.where(F.col("text").rlike(_FAILED)).withColumn("dir", F.regexp_extract("text", _FAILED, 1))
    failed = failed.withColumn("shown", seen())
    full = prefixed(
        rows.where(F.concat_ws(" ", "text", "detail").like(f"%{_FULL}%")),
        "_",
        "broker",
        "time_ms",
        full=seen(),
    )
    about_then = F.abs(F.col("_time_ms") - F.col("time_ms")) <= _SLOW_MS
    failed = failed.join(full, [*same("_", ("broker",)), about_then], "left")
    failed = first_of(failed, Window.partitionBy("broker", "dir").orderBy("time_ms", "_time_ms"))
    about_then = F.abs(F.col("of_time_ms") - F.col("time_ms")) <= _SLOW_MS
    failed = failed.drop(*PARTITION).join(
        _led_there(observations), [*same("of_", ("broker",)), about_then], "left"
    )
    return findings(
        first_of(failed, Window.partitionBy("broker", "dir", *PARTITION).orderBy("of_time_ms")),
        signature="log-dir-failed",
        confidence=CERTAIN,
        why="the broker says that it gives it up",
        summary=sentence(
            "broker {broker} gave up the log directory {dir}{why}: no replica in it is in sync any more"
            "{nobody}",
            why=F.when(F.col("full").isNotNull(), ", whose disk was full").otherwise(""),
            nobody=only_if(F.col("topic").isNotNull(), ", and nobody else could lead {at}", at=place()),
        ),
        evidence=[F.col("full"), F.col("shown"), F.col("offline"), F.col("nobody")],
        ids=["KIP-112"],
    )


def _led_there(observations: Table) -> Table:
    """Partitions that a broker can't lead because of its disk (`offline`), and nobody leads later."""
    leaders = of_kinds(observations, "leader").where("topic is not null and time_ms is not null")
    offline = prefixed(
        leaders.where(F.col("detail") == NO_DISK), "of_", *PARTITION, "broker", "time_ms", offline=seen()
    )
    nobody = prefixed(leaders.where("leader < 0"), "_", *PARTITION, "time_ms", nobody=seen())
    later = [
        *(F.col(f"_{name}") == F.col(f"of_{name}") for name in PARTITION),
        F.col("_time_ms") >= F.col("of_time_ms"),
    ]
    each = Window.partitionBy("of_topic", "of_partition", "of_broker").orderBy("of_time_ms", "_time_ms")
    rows = first_of(offline.join(nobody, later), each)
    return rows.select(
        *(F.col(f"of_{name}").alias(name) for name in PARTITION),
        "of_broker",
        "of_time_ms",
        "offline",
        "nobody",
    )


_UNSHOWN: Final = "as long as others are in sync, nothing is lost that a test could miss"
SEARCH: Final = Search(
    "replicas that are not in sync",
    find,
    ("broker", "in-sync-replicas", "complaint"),
    Signature(
        _NAMES[:1],
        "a broker was away for ten minutes and more, so that its replicas were not in sync",
        stories={"broker-away": "{who} was away for long"},
        unshown=_UNSHOWN,
    ),
    Signature(
        _NAMES[1:2],
        "leaders put a follower out of the ISR, and it was not back within a minute, although nothing tells "
        "that it had left",
        stories={"follower-slow": "{who} did not keep up as a follower"},
        unshown=_UNSHOWN,
    ),
    Signature(
        _NAMES[2:],
        "a broker gave up a log directory, since its disk was full or failed, and what nobody else could "
        "lead",
        known_as="KIP-112",
        stories={"log-dir-failed": "{who} gave up a log directory"},
        rules=leads(_NAMES[2:], ("leader-away",), BROKER, LATE_MS, "its log directory had failed"),
        unshown=_UNSHOWN,
    ),
)

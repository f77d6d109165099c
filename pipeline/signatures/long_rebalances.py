"""`rebalance-held-up`: a whole classic group waited for a member that worked on what it had read.

All members have to join again before a rebalance ends. One that is not polling goes on with its heartbeats,
and is only removed once `max.poll.interval.ms` is over (KIP-62): until then nobody reads anything. The
coordinator does not say for whom it waits. Rebalances of less than a minute are no finding.
"""

from typing import Final

from ..findings import LIKELY, POSSIBLE, Else, If, findings, judged
from ..rows import SEEN, before, first_of, in_order, of_kinds, prefixed, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_NAMES: Final = ("rebalance-held-up",)
_MINUTE_MS: Final = 60_000
_BEGINS: Final = "PreparingRebalance"
_ENDS: Final = "CompletingRebalance"
_GONE: Final = " left: (its session expired|did not join again|consumer poll timeout)"


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "group").where("source = 'broker-log' and group is not null")
    rows = rows.where("time_ms is not null and detail is not null").select(*SEEN)
    # A broker writes some lines to two files.
    rows = first_of(rows, Window.partitionBy("group", "time_ms", "detail").orderBy("file", "position"))
    begins = F.col("detail").startswith(_BEGINS)
    ended = F.sum(F.when(begins, 0).otherwise(1)).over(before(in_order("group")))
    rows = rows.withColumns({"begins": begins, "nth": F.coalesce(ended, F.lit(0))})
    each = rows.groupBy("group", "nth").agg(
        F.min(F.when(F.col("begins"), F.col("time_ms"))).alias("time_ms"),
        F.min_by(row(), F.when(F.col("begins"), F.col("time_ms"))).alias("first"),
        F.max(F.when(~F.col("begins"), F.col("time_ms"))).alias("until_ms"),
        F.max_by(row(), F.when(~F.col("begins"), F.col("time_ms"))).alias("last"),
    )
    long = F.col("until_ms") - F.col("time_ms") >= _MINUTE_MS
    each = each.where(long & (F.col("last.detail") == _ENDS))
    each = _with_gone(each, observations)
    longest = Window.partitionBy("group").orderBy(F.lit(0) - (F.col("until_ms") - F.col("time_ms")), "nth")
    return findings(
        first_of(each, longest).withColumn("broker", F.col("first.broker")),
        signature=_NAMES[0],
        **judged(
            If(
                F.col("gone").isNull(),
                LIKELY,
                "no member fell silent or was removed meanwhile: one of them was alive, and did not poll; "
                "which one only the applications can tell",
            ),
            Else(POSSIBLE, "members fell silent or were removed meanwhile, for which it may have waited"),
        ),
        summary=sentence(
            "a rebalance of group {group} took {took} s, in which nobody read anything: it waited for a "
            "member that had not polled again, as its max.poll.interval.ms allows",
            took=F.floor((F.col("until_ms") - F.col("time_ms")) / 1000).cast("bigint"),
        ),
        evidence=[seen("first"), F.col("gone"), seen("last")],
        ids=["KIP-62"],
    )


def _with_gone(each: Table, observations: Table) -> Table:
    """`gone`: the first member that fell silent, or was removed, before the rebalance ended."""
    members = of_kinds(observations, "member").where("group is not null and time_ms is not null")
    members = prefixed(members.where(F.col("detail").rlike(_GONE)), "_", "group", "time_ms", shown=seen())
    then = [
        F.col("group") == F.col("_group"),
        F.col("_time_ms").between(F.col("time_ms"), F.col("until_ms")),
    ]
    pairs = each.select("group", "nth", "time_ms", "until_ms").join(members, then)
    first = pairs.groupBy("group", "nth").agg(F.min_by("shown", "_time_ms").alias("gone"))
    return each.join(first, ["group", "nth"], "left")


SEARCH: Final = Search(
    "rebalances that take long",
    find,
    ("group",),
    Signature(
        _NAMES,
        "a classic group rebalanced for a minute and more, since one of its members did not poll "
        "(`max.poll.interval.ms`)",
        known_as="KIP-62",
        stories={_NAMES[0]: "{who} waited for a member that did not poll"},
        unshown="a test would have to wait for as long as the application works",
    ),
)

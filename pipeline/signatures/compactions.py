"""`compacted-before-read`: while a group was away, the log cleaner removed records that it had not read.

A topic with `cleanup.policy = compact` keeps the last record of each key for sure, and no others: who reads
it to see every change has to read before the cleaner comes (`min.compaction.lag.ms`). Not here: groups that
had members all the time, since what they had read and not committed is not known.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..offsets_log import KEY, NO_MEMBERS, OF_GROUP, logs, with_members
from ..readers.broker_messages import COMPACTED
from ..rows import PARTITION, first_of, of_kinds, place, prefixed, row, same, seen, sentence, up_to
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F


def find(observations: Table) -> Table:
    cleaned = of_kinds(observations, "log").where(F.col("detail") == COMPACTED)
    cleaned = cleaned.where("time_ms is not null").withColumn("shown", seen())
    where = F.broadcast(cleaned.select(*PARTITION).distinct())
    returns = _returns(logs(observations), where).persist()
    rows = _with_gap(_with_cleaning(returns, cleaned), observations)
    once = Window.partitionBy("group", *PARTITION, "_last", "_time_ms").orderBy("log")
    return findings(
        first_of(rows, once),
        signature="compacted-before-read",
        confidence=LIKELY,
        why="the cleaner compacted the log while the group had no members, and nothing is left there",
        summary=sentence(
            "group {group} did not get up to {missed} records of {at}, from {_last} up to {next}: they were "
            "compacted while it was away",
            at=place(),
            missed=F.col("next") - F.col("_last"),
        ),
        evidence=[seen("last"), F.col("cleaned"), F.col("left"), seen("back")],
    )


def _returns(rows: Table, where: Table) -> Table:
    """The first commits of groups that were away: `last` is the one before, `_away_ms` when they went."""
    rows = rows.where("group is not null")
    # What else a group committed says nothing of its members.
    of_groups, offsets = rows.where("topic is null"), rows.where("topic is not null")
    rows = with_members(of_groups.unionByName(offsets.join(where, PARTITION, "left_semi")))
    order = ("file", "position", "time_ms")
    went = F.when((F.col("kind") == "group") & (F.col("state") == NO_MEMBERS), F.col("time_ms"))
    of_group = Window.partitionBy(*OF_GROUP).orderBy(*order)
    rows = rows.withColumn("_away_ms", F.last(went, True).over(up_to(of_group)))
    commits = rows.where("topic is not null").withColumn(
        "last", F.lag(row()).over(Window.partitionBy(*KEY).orderBy(*order))
    )
    commits = commits.where("kind = 'commit' and last.kind = 'commit' and offset > last.offset")
    commits = commits.where(F.col("_away_ms").between(F.col("last.time_ms"), F.col("time_ms")))
    return commits.select(
        *KEY,
        "last",
        row().alias("back"),
        "_away_ms",
        F.col("last.offset").alias("_last"),
        F.col("offset").alias("_offset"),
        F.col("time_ms").alias("_time_ms"),
    )


def _with_cleaning(returns: Table, cleaned: Table) -> Table:
    """Those of partitions whose logs were compacted meanwhile, beyond what the group had read."""
    cleaned = prefixed(cleaned, "c_", *PARTITION, "time_ms", "end_offset", "broker", cleaned=F.col("shown"))
    while_away = [
        *same("c_", PARTITION),
        F.col("c_time_ms").between(F.col("_away_ms"), F.col("_time_ms")),
        F.col("c_end_offset") > F.col("_last"),
    ]
    last = Window.partitionBy(*KEY, "_time_ms").orderBy("c_time_ms", "c_end_offset").reversed
    return first_of(returns.join(cleaned, while_away), last)


def _with_gap(rows: Table, observations: Table) -> Table:
    """Those that find a gap where they go on: `next` is the first offset that is left."""
    batches = of_kinds(observations, "append").where("source = 'segment' and topic is not null")
    # Deleted segments, and those that the cleaner has just written, have other names.
    batches = batches.where(F.col("file").endswith(".log"))
    batches = prefixed(batches, "b_", *PARTITION, "offset", "end_offset", shown=seen())
    key = (*KEY, "_last", "_time_ms")
    pairs = rows.select(*key).join(batches, same("b_", PARTITION))
    more = F.when(F.col("b_end_offset") > F.col("_last"), F.col("b_offset"))
    log = pairs.groupBy(*key).agg(
        F.min(more).alias("next"),
        F.min_by("shown", more).alias("left"),
        F.min("b_offset").alias("start"),
    )
    rows = rows.join(log, list(key))
    rows = rows.where("start <= _last and next > _last and next <= _offset")
    return rows.withColumn("broker", F.col("c_broker"))


SEARCH: Final = Search(
    "logs that were compacted before they were read",
    find,
    ("log",),
    Signature(
        ("compacted-before-read",),
        "records of a compacted topic were removed while a group was away that had not read them: how many "
        "at most",
        stories={"compacted-before-read": "{who} came back after records had been compacted"},
    ),
)

"""`offset-rewind` and `offset-lost`: a group's offset goes back, or is lost, although nobody asked for that.

At LinkedIn in 2015 a coordinator answered with offsets that were a month old, because loading them had
stopped early, and with none at all, because a cleanup wrote tombstones while another load was still reading.
A commit that goes back by itself comes from a member that did not know that it no longer was one, or from
commits that overtook each other. Not here, because they are found elsewhere or on purpose: what the records
of the offsets topic tell by themselves (`offsets_topic`), a commit after a reset (`resets`), a user's seek,
an offset that an administrator sets, a group that was deleted.
"""

from typing import Final

from ..findings import (
    CERTAIN,
    LIKELY,
    POSSIBLE,
    SEEN,
    before,
    findings,
    in_order,
    of_kinds,
    place,
    row,
    seen,
    sentence,
    texts,
)
from ..tables import Column, Table
from ..tables import functions as F
from . import offsets_topic

_WHERE: Final = ("group", "topic", "partition")
_OF_A_GROUP: Final = " group"
_DAY_MS: Final = 86_400_000
_SKEW_MS: Final = 1_000
"""The greatest difference between the clocks of different machines."""


def find(observations: Table) -> Table:
    """Rewinds of commits and of restores, and lost offsets."""
    rows = _timeline(observations)
    suspects = rows.where(_went_back() | (F.col("offset") < 0))
    suspects = _with_watched(suspects, observations).persist()
    return (
        _restored(suspects, rows)
        .unionByName(_lost(suspects, observations))
        .unionByName(_committed(suspects, observations))
    )


def _went_back() -> Column:
    return (F.col("offset") < F.col("commit.offset")) | (F.col("offset") < F.col("last.offset"))


def _timeline(observations: Table) -> Table:
    """What happened to each group's offsets, with the previous commit and the previous row of the file."""
    rows = of_kinds(observations, "commit", "restore", "reset", "tombstone")
    # Commits of aborted transactions never become valid.
    rows = rows.where("detail is null or detail != 'in a transaction'")
    rows = rows.where("group is not null and topic is not null and partition is not null")
    rows, known = rows.select(*SEEN), row()
    is_commit = F.col("kind") == "commit"
    everywhere, here = in_order(*_WHERE), in_order("source", *_WHERE)
    return rows.withColumns(
        {
            "commit": F.last(F.when(is_commit, known), True).over(before(everywhere)),
            "last": F.last(F.when(F.col("kind") != "tombstone", known), True).over(before(here)),
            "tombstone": F.last(F.when(F.col("kind") == "tombstone", known), True).over(before(everywhere)),
        }
    )


def _with_watched(suspects: Table, observations: Table) -> Table:
    """`watched`: whether the files would show who else changed the group's offsets meanwhile. A trace does;
    the offsets topic does if it has what the group did afterwards. Clients know nothing of it."""
    told = observations.where(F.col("source").isin(*offsets_topic.SOURCES) & F.col("group").isNotNull())
    told = told.groupBy(*_WHERE).agg(F.max("time_ms").alias("told_ms"))
    told = told.select(*(F.col(name).alias(f"_{name}") for name in _WHERE), "told_ms")
    same = [F.col(name) == F.col(f"_{name}") for name in _WHERE]
    suspects = suspects.join(told, same, "left").drop(*(f"_{name}" for name in _WHERE))
    watched = (F.col("source") == "trace") | (F.col("told_ms") >= F.col("time_ms"))
    return suspects.withColumn("watched", F.coalesce(watched, F.lit(False))).drop("told_ms")


def _restored(suspects: Table, rows: Table) -> Table:
    one_clock = F.col("source") == F.col("commit.source")
    went_back = suspects.where(
        (F.col("kind") == "restore")
        & (F.col("offset") >= 0)
        & (F.col("offset") < F.col("commit.offset"))
        & (one_clock | (F.col("time_ms") - F.col("commit.time_ms") > _SKEW_MS))
    )
    # Of the many commits only those of partitions in which something went back.
    where = F.broadcast(went_back.select(*_WHERE).distinct())
    old = (
        rows.where("kind = 'commit'")
        .join(where, list(_WHERE), "left_semi")
        .select(
            *(F.col(name).alias(f"old_{name}") for name in (*_WHERE, "offset", "time_ms")),
            row().alias("old_row"),
        )
    )
    same = [F.col(name).eqNullSafe(F.col(f"old_{name}")) for name in (*_WHERE, "offset")]
    pairs = went_back.join(old, [*same, F.col("old_time_ms") <= F.col("time_ms")], "left")
    key = ("file", "position", *_WHERE)
    last = F.max_by("old_row", "old_time_ms").alias("old")
    others = [F.first(name).alias(name) for name in (*SEEN, "commit", "watched") if name not in key]
    one = pairs.groupBy(*key).agg(*others, last)
    age = F.col("time_ms") - F.col("old.time_ms")
    as_loaded = F.col("old").isNotNull()
    return findings(
        one,
        signature="offset-rewind",
        confidence=F.when(F.col("source") == "trace", CERTAIN)
        .when(F.col("watched"), LIKELY)
        .otherwise(POSSIBLE),
        why=F.when(
            F.col("source") == "trace", "the trace tells both the newer commit and, later, the older offset"
        )
        .when(
            F.col("watched"),
            "the offsets topic has no commit of the older offset in between; clocks of the files may differ",
        )
        .otherwise(
            "an operator's reset would leave the same in these files: the offsets topic, from before until "
            "after it, would tell"
        ),
        summary=F.concat(
            sentence(
                "group {group} was given offset {offset} of {at}, {back} behind the {newest} "
                "that it had committed",
                at=place(),
                back=F.col("commit.offset") - F.col("offset"),
                newest="commit.offset",
            ),
            F.when(
                F.col("old").isNotNull(),
                sentence(
                    ": that of an older commit, of {age} ms before, as when loading the offsets "
                    "stopped early",
                    age=age,
                ),
            ).otherwise(""),
        ),
        evidence=[seen("old"), seen("commit"), seen()],
        behaviours=["offsets-load", "time-retention"],
        ids=F.when(as_loaded, texts("KAFKA-5600")).otherwise(texts()),
    )


def _lost(suspects: Table, observations: Table) -> Table:
    gone = suspects.where(
        (F.col("kind") == "restore") & (F.col("offset") < 0) & (F.col("commit.offset") >= 0)
    )
    deleted = (F.col("kind") == "tombstone") & F.col("detail").endswith(_OF_A_GROUP)
    ended = observations.where(((F.col("kind") == "group") & (F.col("detail") == "Dead")) | deleted).select(
        F.col("group").alias("_dead"), F.col("time_ms").alias("_dead_ms")
    )
    died = [
        F.col("group") == F.col("_dead"),
        F.col("_dead_ms").between(F.col("commit.time_ms"), F.col("time_ms")),
    ]
    gone = gone.join(F.broadcast(ended), died, "left_anti")
    waited = F.col("time_ms") - F.col("commit.time_ms")
    tombstone = F.when(F.col("tombstone.time_ms") >= F.col("commit.time_ms"), F.col("tombstone"))
    return findings(
        gone.withColumns({"waited": waited, "deleted": tombstone}),
        signature="offset-lost",
        confidence=F.when((F.col("waited") >= _DAY_MS) | F.col("deleted").isNotNull(), POSSIBLE)
        .when(F.col("source") == "trace", CERTAIN)
        .when(F.col("watched"), LIKELY)
        .otherwise(POSSIBLE),
        why=F.when(
            F.col("waited") >= _DAY_MS, "so long after the commit the offset may have expired as configured"
        )
        .when(
            F.col("deleted").isNotNull(),
            "a tombstone followed a commit that was too young to expire; deleting offsets by "
            "hand does that too",
        )
        .when(
            F.col("watched"),
            "the offset was too young to expire, and nothing tells that it or the group was deleted",
        )
        .otherwise(
            "an operator who deletes the offset or the group leaves the same in these files: the offsets "
            "topic, from before until after it, would tell"
        ),
        summary=sentence(
            "group {group} was told that it has no offset of {at}, {waited} ms after it had "
            "committed {newest}",
            at=place(),
            newest="commit.offset",
        ),
        evidence=[seen("commit"), seen("deleted"), seen()],
        behaviours=[
            "offsets-load",
            "offsets-cleanup",
            "loaded-offsets",
            "offset-retention-start",
            "unsubscribed-offsets",
        ],
        ids=["KAFKA-8069", "KAFKA-4682", "KAFKA-13636"],
    )


def _committed(suspects: Table, observations: Table) -> Table:
    by_hand = F.col("generation").isNull() & F.col("last.generation").isNotNull()
    went_back = suspects.where(
        (F.col("kind") == "commit")
        & (F.col("offset") >= 0)
        & (F.col("offset") < F.col("last.offset"))
        & ~by_hand
        & ~F.col("source").isin(*offsets_topic.SOURCES)
    )
    where = F.broadcast(went_back.select("client", "topic", "partition").distinct())
    fetched = (
        of_kinds(observations, "position")
        .join(where, ["client", "topic", "partition"], "left_semi")
        .select(
            *(
                F.col(name).alias(f"at_{name}")
                for name in ("client", "topic", "partition", "offset", "time_ms")
            )
        )
    )
    same = [F.col(name) == F.col(f"at_{name}") for name in ("client", "topic", "partition")]
    between = F.col("at_time_ms").between(F.col("last.time_ms"), F.col("time_ms"))
    pairs = went_back.join(fetched, [*same, between], "left")
    key = ("file", "position", *_WHERE)
    others = [F.first(name).alias(name) for name in (*SEEN, "last") if name not in key]
    one = pairs.groupBy(*key).agg(*others, F.min("at_offset").alias("lowest"))
    # A consumer that fetches from there was set back: by itself, by its user, or by what `resets` finds.
    one = one.where(F.col("lowest").isNull() | (F.col("lowest") >= F.col("last.offset")))
    watched = F.col("lowest").isNotNull()
    return findings(
        one,
        signature="offset-rewind",
        confidence=F.when(watched, LIKELY).otherwise(POSSIBLE),
        why=F.when(
            watched, "the client's own position did not go back: a late or overtaken commit"
        ).otherwise("the files don't tell where the consumer read, so it may have been set back by its user"),
        summary=sentence(
            "group {group} committed {offset} for {at}, {back} behind the {newest} before",
            at=place(),
            back=F.col("last.offset") - F.col("offset"),
            newest="last.offset",
        ),
        evidence=[seen("last"), seen()],
    )

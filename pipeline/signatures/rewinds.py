"""`offset-rewind` and `offset-lost`: a group's offset goes back, or is lost, although nobody asked for that.

At LinkedIn in 2015 a coordinator answered with offsets that were a month old, because loading them had
stopped early, and with none at all, because a cleanup wrote tombstones while another load was still reading.
A commit that goes back by itself comes from a member that did not know that it no longer was one, or from
commits that overtook each other. Not here, because they are found elsewhere or on purpose: what the records
of the offsets topic tell by themselves (`offsets_topic`), a commit after a reset (`resets`), a user's seek,
an offset that an administrator sets, a group that was deleted.
"""

from typing import Final

from ..consequences import BEHIND, GROUP, LATE_MS, REWOUND, SET_BACK, SOON_MS, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged, texts
from ..offsets_log import SOURCES
from ..reproduction import answering, explored
from ..rows import SEEN, before, in_order, of_kinds, only_if, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Column, Table
from ..tables import functions as F

_OF_A_GROUP: Final = " group"
_DAY_MS: Final = 86_400_000
_LOSE: Final = (
    *("offsets-load", "offsets-cleanup", "loaded-offsets", "offset-retention-start", "unsubscribed-offsets"),
)
_YOUNG: Final = "the offset was not a day old, and nothing tells that it or the group was deleted"
_CLIENT: Final = ("client", "topic", "partition")
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
    # What only the offsets topic tells is the other search's.
    is_told = (F.col("kind") == "restore") | ((F.col("kind") == "commit") & ~F.col("source").isin(*SOURCES))
    rows = rows.select(*SEEN).join(rows.where(is_told).select(*GROUP).distinct(), GROUP, "left_semi")
    known = row()
    is_commit = F.col("kind") == "commit"
    everywhere, here = in_order(*GROUP), in_order("source", *GROUP)
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
    told = observations.where(F.col("source").isin(*SOURCES) & F.col("group").isNotNull())
    last = told.groupBy(*GROUP).agg(F.max("time_ms").alias("told_ms"))
    suspects = suspects.join(prefixed(last, "_", *GROUP, "told_ms"), same("_", GROUP), "left")
    watched = (F.col("source") == "trace") | (F.col("_told_ms") >= F.col("time_ms"))
    return suspects.withColumn("watched", F.coalesce(watched, F.lit(False))).drop(
        *(f"_{name}" for name in (*GROUP, "told_ms"))
    )


def _restored(suspects: Table, rows: Table) -> Table:
    one_clock = F.col("source") == F.col("commit.source")
    went_back = suspects.where(
        (F.col("kind") == "restore")
        & (F.col("offset") >= 0)
        & (F.col("offset") < F.col("commit.offset"))
        & (one_clock | (F.col("time_ms") - F.col("commit.time_ms") > _SKEW_MS))
    )
    # Of the many commits only those of partitions in which something went back.
    where = F.broadcast(went_back.select(*GROUP).distinct())
    commits = rows.where("kind = 'commit'").join(where, GROUP, "left_semi")
    old = prefixed(commits, "old_", *GROUP, "offset", "time_ms", old_row=row())
    earlier = [*same("old_", (*GROUP, "offset")), F.col("old_time_ms") <= F.col("time_ms")]
    pairs = went_back.join(old, earlier, "left")
    key = ("file", "position", *GROUP)
    last = F.max_by("old_row", "old_time_ms").alias("old")
    others = [F.first(name).alias(name) for name in (*SEEN, "commit", "watched") if name not in key]
    one = pairs.groupBy(*key).agg(*others, last)
    as_loaded = F.col("old").isNotNull()
    return findings(
        one,
        signature="offset-rewind",
        **judged(
            If(
                F.col("source") == "trace",
                CERTAIN,
                "the trace tells both the newer commit and, later, the older offset",
            ),
            If(
                F.col("watched"),
                LIKELY,
                "the offsets topic has no commit of the older offset in between; clocks of the files may "
                "differ",
            ),
            Else(
                POSSIBLE,
                "an operator's reset would leave the same in these files: the offsets topic, from before "
                "until after it, would tell",
            ),
        ),
        summary=F.concat(
            sentence(
                "group {group} was given offset {offset} of {at}, {back} behind the {newest} "
                "that it had committed",
                at=place(),
                back=F.col("commit.offset") - F.col("offset"),
                newest="commit.offset",
            ),
            only_if(
                as_loaded,
                ": that of an older commit, of {age} ms before, as when loading the offsets stopped early",
                age=F.col("time_ms") - F.col("old.time_ms"),
            ),
        ),
        evidence=[seen("old"), seen("commit"), seen()],
        behaviours=["offsets-load", "deposed-coordinator", "time-retention"],
        ids=F.when(as_loaded, texts("KAFKA-5600", "KAFKA-20634")).otherwise(texts()),
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
        **judged(
            If(
                F.col("waited") >= _DAY_MS,
                POSSIBLE,
                "so long after the commit the offset may have expired as configured",
            ),
            If(
                F.col("deleted").isNotNull(),
                POSSIBLE,
                "a tombstone followed a commit that was not a day old; deleting offsets by hand does "
                "that too",
            ),
            If(F.col("source") == "trace", CERTAIN, _YOUNG),
            If(F.col("watched"), LIKELY, _YOUNG),
            Else(
                POSSIBLE,
                "an operator who deletes the offset or the group leaves the same in these files: the offsets "
                "topic, from before until after it, would tell",
            ),
        ),
        summary=sentence(
            "group {group} was told that it has no offset of {at}, {waited} ms after it had "
            "committed {newest}",
            at=place(),
            newest="commit.offset",
        ),
        evidence=[seen("commit"), seen("deleted"), seen()],
        behaviours=_LOSE,
        ids=["KAFKA-8069", "KAFKA-4682", "KAFKA-13636"],
    )


def _committed(suspects: Table, observations: Table) -> Table:
    by_hand = F.col("generation").isNull() & F.col("last.generation").isNotNull()
    went_back = suspects.where(
        (F.col("kind") == "commit")
        & (F.col("offset") >= 0)
        & (F.col("offset") < F.col("last.offset"))
        & ~by_hand
        & ~F.col("source").isin(*SOURCES)
    )
    where = F.broadcast(went_back.select(*_CLIENT).distinct())
    fetched = of_kinds(observations, "position").join(where, _CLIENT, "left_semi")
    fetched = prefixed(fetched, "at_", *_CLIENT, "offset", "time_ms")
    between = F.col("at_time_ms").between(F.col("last.time_ms"), F.col("time_ms"))
    pairs = went_back.join(fetched, [*same("at_", _CLIENT), between], "left")
    key = ("file", "position", *GROUP)
    others = [F.first(name).alias(name) for name in (*SEEN, "last") if name not in key]
    one = pairs.groupBy(*key).agg(*others, F.min("at_offset").alias("lowest"))
    # A consumer that fetches from there was set back: by itself, by its user, or by what `resets` finds.
    one = one.where(F.col("lowest").isNull() | (F.col("lowest") >= F.col("last.offset")))
    return findings(
        one,
        signature="offset-rewind",
        **judged(
            If(
                F.col("lowest").isNotNull(),
                LIKELY,
                "the client's own position did not go back: a late or overtaken commit",
            ),
            Else(
                POSSIBLE,
                "the files don't tell where the consumer read, so it may have been set back by its user",
            ),
        ),
        summary=sentence(
            "group {group} committed {offset} for {at}, {back} behind the {newest} before",
            at=place(),
            back=F.col("last.offset") - F.col("offset"),
            newest="last.offset",
        ),
        evidence=[seen("last"), seen()],
    )


SEARCH: Final = Search(
    "offsets that go back",
    find,
    ("commit", "restore", "reset", "tombstone"),
    Signature(
        REWOUND,
        "a group is given, or commits, an older offset than it had, or none although it had one; in a dump "
        "of the offsets topic: a group with members goes back, near an older commit of its own",
        known_as="LinkedIn's first rewind, KAFKA-5600",
        stories={
            "offset-rewind": "{who} went back",
            "offset-lost": "{who} had no committed offset any more",
        },
        rules=(
            *leads(REWOUND, SET_BACK, GROUP, SOON_MS, "there was no valid offset to begin with"),
            *leads(REWOUND, BEHIND, GROUP, LATE_MS, "from there everything has to be read again"),
        ),
        alike=(
            *("load-ended-early", "tombstone-of-live-group", "unclean-election", "truncation-gap"),
            "topic-recreated",
        ),
        reproductions=(
            explored(
                ("offset-rewind",),
                "offsets-load=stops",
                "offsets-load=skips",
                "group-offset-back",
                answering(offsets_load="skips"),
                policies={"offsets-load": "stops"},
                offsets_topic=True,
                newer_commits=True,
            ),
        ),
    ),
)

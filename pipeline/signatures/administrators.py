"""`records-deleted`, `retention-lowered`: somebody had records deleted that groups had not read.

Brokers tell why a log begins later. It is the leader's line that counts: a follower only goes along. Whoever
deletes what all groups have read, or lowers a retention that deletes nothing, is no finding.
"""

from typing import Final

from ..consequences import BEHIND, LATE_MS, PARTITION, SET_BACK, leads
from ..deletions import BY_REQUEST, BY_RETENTION, deleted, retained
from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..readers.log_spans import CONTROLLER
from ..readers.share_states import KIND
from ..rows import (
    NO_PARTITION,
    first_of,
    in_order,
    of_kinds,
    place,
    prefixed,
    same,
    seen,
    sentence,
    up_to,
)
from ..rows import PARTITION as PLACE
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_WEEK_MS: Final = 604_800_000
"""The default of `retention.ms`."""
_CHECKED_MS: Final = 600_000
"""Twice the default of `log.retention.check.interval.ms`."""
_AT_ONCE_MS: Final = 1_000
"""What a topic is created with is written with it."""
_SET: Final = r"^retention\.ms = (-?\d+)$"


def find(observations: Table) -> Table:
    starts = of_kinds(observations, "log-start").where("topic is not null and offset is not null")
    starts = starts.withColumn("shown", seen())
    return _requested(starts, observations).unionByName(_lowered(starts, observations))


def _requested(starts: Table, observations: Table) -> Table:
    each = first_of(
        starts.where(F.col("detail").startswith(BY_REQUEST)),
        Window.partitionBy(*PLACE, "offset").orderBy("time_ms", "position"),
    )
    rows = with_groups(each.select(*PLACE, "broker", "offset", "time_ms", "shown").persist(), observations)
    return findings(
        rows,
        signature="records-deleted",
        confidence=CERTAIN,
        why="the leader says that a client asked for it",
        summary=sentence(
            "somebody had the records of {at} below {offset} deleted (DeleteRecords), which were not read "
            "yet: {missed}",
            at=place(),
        ),
        evidence=[F.col("shown"), F.col("committed")],
        ids=["KIP-107"],
    )


def _lowered(starts: Table, observations: Table) -> Table:
    value = F.regexp_extract("detail", _SET, 1).cast("bigint")
    settings = of_kinds(observations, "config").where(F.col("detail").rlike(_SET))
    settings = settings.where("topic is not null").withColumns({"ms": value, "set": seen()})
    window = Window.partitionBy("topic").orderBy("time_ms", "position")
    settings = settings.withColumn("was", F.coalesce(F.lag("ms").over(window), F.lit(_WEEK_MS)))
    lower = (F.col("ms") >= 0) & ((F.col("ms") < F.col("was")) | (F.col("was") < 0))
    created = (
        of_kinds(observations, "log").where("detail = 'created'").where(F.col("partition") == NO_PARTITION)
    )
    created = created.select(F.col("topic").alias("_topic"), F.col("time_ms").alias("_ms"))
    with_it = [
        F.col("topic") == F.col("_topic"),
        F.abs(F.col("time_ms") - F.col("_ms")) <= _AT_ONCE_MS,
    ]
    lowered = settings.where(lower).join(created, with_it, "left_anti")
    lowered = prefixed(lowered, "set_", "topic", "time_ms", "ms", "was", set=F.col("set"))
    deleted = starts.where(F.col("detail").startswith(BY_RETENTION))
    ago = F.col("time_ms") - F.col("set_time_ms")
    pairs = deleted.join(lowered, [F.col("topic") == F.col("set_topic"), ago >= 0])
    # The first deletion tells how soon it came, the last how far it went; of settings the last counts.
    last = first_of(pairs, Window.partitionBy(*PLACE, "offset").orderBy("set_time_ms").reversed)
    rows = last.groupBy(*PLACE, "set_time_ms", "set_ms", "set_was").agg(
        F.min_by("set", "time_ms").alias("set"),
        F.min("time_ms").alias("first_ms"),
        F.max("offset").alias("offset"),
        F.max_by("shown", "offset").alias("shown"),
        F.max_by("broker", "offset").alias("broker"),
    )
    rows = rows.withColumns({"time_ms": F.col("first_ms"), "after": F.col("first_ms") - F.col("set_time_ms")})
    rows = with_groups(rows.persist(), observations)
    return findings(
        rows,
        signature="retention-lowered",
        **judged(
            If(
                F.col("after") <= _CHECKED_MS,
                CERTAIN,
                "the controller says how long records are kept since then, and the leader deleted segments "
                "soon after",
            ),
            Else(LIKELY, "segments were deleted after that, but not soon"),
        ),
        summary=sentence(
            "somebody lowered retention.ms of topic {topic} from {set_was} to {set_ms}, and {after} ms later "
            "the records of {at} below {offset} were deleted, which were not read yet: {missed}",
            at=place(),
        ),
        evidence=[F.col("set"), F.col("shown"), F.col("committed")],
    )


def with_groups(rows: Table, observations: Table) -> Table:
    """Only where groups had committed less than what was deleted: `missed` says which."""
    commits = of_kinds(observations, "commit").where("group is not null and offset >= 0")
    commits = prefixed(
        commits, "_", *PLACE, who=F.col("group"), at_ms=F.col("time_ms"), read=F.col("offset"), row=seen()
    )
    commits = commits.withColumn("shares", F.lit(False)).unionByName(_shared(observations))
    key = (*PLACE, "offset", "time_ms")
    before = [*same("_", PLACE), F.col("at_ms") <= F.col("time_ms")]
    last = (
        rows.select(*key)
        .join(commits, before)
        .groupBy(*key, "who", "shares")
        .agg(F.max_by("read", "at_ms").alias("read"), F.max_by("row", "at_ms").alias("row"))
        .where(F.col("read") < F.col("offset"))
    )
    far = F.col("offset") - F.col("read")
    one = F.when(
        F.col("shares"),
        sentence("share group {who} had acknowledged none of the {far} from {read} on", far=far),
    ).otherwise(sentence("group {who} had read up to {read}, and missed {far}", far=far))
    groups = (
        last.withColumn("one", one)
        .groupBy(*key)
        .agg(
            F.array_sort(F.collect_set("one")).alias("each"),
            F.min_by("row", "who").alias("committed"),
        )
    )
    rows = rows.join(groups, list(key))
    return rows.withColumn("missed", F.array_join("each", "; "))


def _shared(observations: Table) -> Table:
    """How far share groups are, as `with_groups` takes it: up to the last record that is done by then."""
    states = of_kinds(observations, KIND).where("group is not null and time_ms is not null")
    so_far = up_to(in_order("group", *PLACE))
    done = F.max(F.greatest(F.coalesce("offset", F.lit(-1)), F.coalesce("end_offset", F.lit(-1))))
    states = states.withColumn("done", done.over(so_far)).where("done >= 0")
    states = prefixed(
        states, "_", *PLACE, who=F.col("group"), at_ms=F.col("time_ms"), read=F.col("done"), row=seen()
    )
    return states.withColumn("shares", F.lit(True))


_DELETED: Final = ("records-deleted",)
_LOWERED: Final = ("retention-lowered",)
_MISSED: Final = "what it had not read was deleted"
SEARCH: Final = Search(
    "what administrators deleted",
    find,
    ("log-start",),
    Signature(
        _DELETED,
        "somebody had records deleted that groups had not read (`kafka-delete-records`); how many each "
        "missed",
        known_as="KIP-107",
        rules=leads(_DELETED, (*SET_BACK, *BEHIND), PARTITION, LATE_MS, _MISSED),
        looked_for=Alike("records that somebody had deleted", _DELETED, BROKERS),
        reproductions=(deleted(_DELETED),),
    ),
    Signature(
        _LOWERED,
        "somebody lowered the retention of a topic, so that records were deleted that groups had not read; "
        "how many each missed",
        stories={"retention-lowered": "a retention had been lowered"},
        rules=leads(_LOWERED, (*SET_BACK, *BEHIND), PARTITION, LATE_MS, _MISSED),
        looked_for=Alike("a retention that was lowered", _LOWERED, CONTROLLER),
        reproductions=(retained(_LOWERED),),
    ),
)

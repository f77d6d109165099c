"""`unclean-election`: a replica that was not in sync was elected leader, and loses what others had.

The controller says that it was unclean. The new leader's epoch begins where its log ended; what had been
replicated to the replicas in sync above that offset, or was committed by a group that had read it, is lost.
"""

from typing import Final

from ..findings import CERTAIN, findings, of_kinds, place, seen, sentence
from ..tables import Column, Table
from ..tables import functions as F

_WHERE: Final = ("topic", "partition")


def find(observations: Table) -> Table:
    # One of the controller's two lines about it has the topic's id in place of its name.
    unclean = (
        of_kinds(observations, "leader")
        .where("detail = 'unclean' and topic is not null and partition is not null")
        .where("coalesce(text, '') not like '%topicId %'")
    )
    elected = (
        unclean.withColumn("seen", seen())
        .groupBy(*_WHERE, "leader", "leader_epoch")
        .agg(F.min("time_ms").alias("at_ms"), F.min_by("seen", "time_ms").alias("seen"))
    )
    event = (*_WHERE, "leader", "leader_epoch", "at_ms", "seen")
    ends = _with(elected, _ends(observations), "end_epoch", "end_ms", "high", "fell", "begins", "end_seen")
    entered = F.col("begins").isNotNull() & (F.col("end_epoch") == F.col("leader_epoch"))
    after = F.col("end_ms") >= F.col("at_ms")
    began = ends.groupBy(*event).agg(
        F.min(F.when(entered, F.col("begins"))).alias("begins"),
        F.max(F.when(after, F.col("fell")).otherwise(F.col("high"))).alias("high"),
        F.max_by("end_seen", F.when(after, F.col("fell"))).alias("fell_seen"),
    )
    commits = _with(began, _commits(observations), "who", "commit_ms", "committed")
    before = F.col("commit_ms") <= F.col("at_ms")
    last = commits.groupBy(*event, "begins", "high", "fell_seen", "who").agg(
        F.max_by("committed", F.when(before, F.col("commit_ms"))).alias("committed")
    )
    set_back = F.when(F.col("committed") > F.col("begins"), F.col("who"))
    rows = last.groupBy(*event, "begins", "high", "fell_seen").agg(
        F.array_sort(F.collect_set(set_back)).alias("groups"), F.max("committed").alias("committed")
    )
    lost = F.greatest("high", "committed") - F.col("begins")
    return findings(
        rows.withColumn("lost", F.when(lost >= 0, lost)),
        signature="unclean-election",
        confidence=CERTAIN,
        why="the controller says that the replica was elected although it was not in sync",
        summary=F.concat(
            sentence(
                "broker {leader}, which was not in sync, was elected leader of {at} in epoch {leader_epoch}",
                at=place(),
            ),
            F.when(
                F.col("lost") > 0,
                sentence(": {lost} acknowledged records from offset {begins} on are lost"),
            )
            .when(F.col("lost") == 0, ": no acknowledged record is known to be lost")
            .otherwise("; the files don't tell what was lost"),
            F.when(
                F.size("groups") > 0,
                sentence("; groups that had read on: {names}", names=F.array_join("groups", ", ")),
            ).otherwise(""),
        ),
        evidence=[F.col("seen"), F.col("fell_seen")],
        behaviours=["election"],
        ids=["KIP-106"],
        columns={"broker": F.col("leader")},
    )


def _with(events: Table, facts: Table, *names: str) -> Table:
    """Each event with every fact of its partition."""
    renamed = facts.select(*(F.col(name).alias(f"_{name}") for name in _WHERE), *names)
    same: list[Column] = [F.col(name) == F.col(f"_{name}") for name in _WHERE]
    return events.join(renamed, same, "left").drop(*(f"_{name}" for name in _WHERE))


def _ends(observations: Table) -> Table:
    """High watermarks, those that fell, and the first offsets of leader epochs."""
    is_end = F.col("kind") == "high-watermark"
    return of_kinds(observations, "high-watermark", "leader").select(
        *_WHERE,
        F.col("leader_epoch").alias("end_epoch"),
        F.col("time_ms").alias("end_ms"),
        F.when(is_end, F.col("offset")).alias("high"),
        F.when(is_end, F.col("from_offset")).alias("fell"),
        F.when(~is_end, F.col("offset")).alias("begins"),
        seen().alias("end_seen"),
    )


def _commits(observations: Table) -> Table:
    return (
        of_kinds(observations, "commit")
        .where("group is not null")
        .select(
            *_WHERE,
            F.col("group").alias("who"),
            F.col("time_ms").alias("commit_ms"),
            F.col("offset").alias("committed"),
        )
    )

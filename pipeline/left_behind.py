"""How far groups were behind at the end of the files: what those did not read that can't go on."""

from typing import Final

from .rows import PARTITION, first_of, of_kinds, place, prefixed, same, sentence
from .tables import Column, Table, Window
from .tables import functions as F

_KEY: Final = ("group", *PARTITION)


def with_left_behind(rows: Table, observations: Table) -> Table:
    """`rows`, which have `group`, with `unread`, the number of records behind its last commits, and `stands`,
    the place of most of them; null if the files don't tell."""
    commits = of_kinds(observations, "commit").where("group is not null and topic is not null")
    commits = commits.where("time_ms is not null and (detail is null or detail != 'in a transaction')")
    last = commits.groupBy(*_KEY).agg(F.max("offset").alias("committed"))
    ends = of_kinds(observations, "append", "high-watermark").where("topic is not null")
    by_partition = prefixed(ends, "_", *PARTITION, "end_offset").groupBy("_topic", "_partition")
    log_ends = by_partition.agg(F.max("_end_offset").alias("log_end"))
    behind = last.join(log_ends, same("_", PARTITION)).where("log_end > committed")
    behind = behind.withColumn("behind", F.col("log_end") - F.col("committed"))
    behind = behind.withColumn("_all", F.sum("behind").over(Window.partitionBy("group")))
    most = Window.partitionBy("group").orderBy(F.lit(0) - F.col("behind"), *PARTITION)
    behind = first_of(behind, most).withColumn("_at", sentence("{committed} of {at}", at=place()))
    known = prefixed(behind, "", stands=F.col("_at"), unread=F.col("_all"), whose=F.col("group"))
    return rows.join(known, [F.col("group") == F.col("whose")], "left").drop("whose")


def told() -> Column:
    """The end of a sentence that says so; nothing if it is not known."""
    there = F.when(
        F.col("unread").isNotNull(), sentence("; it stands at {stands}, and {unread} records are unread")
    )
    return there.otherwise("")

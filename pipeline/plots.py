"""What a report draws: the offsets of a partition over time, and how far each group is behind."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

PARTITIONS: Final = 12
"""How many partitions are drawn: those with the most findings."""
POINTS: Final = 240
"""How many points of a series are drawn at most."""
Points = list[tuple[int, int]]


@dataclass(slots=True)
class Plot:
    """Series of (time in ms, offset) by name, of lag by group, and the findings as (from ms, to ms,
    signature)."""

    topic: str
    partition: int
    offsets: dict[str, Points] = field(default_factory=dict)
    lag: dict[str, Points] = field(default_factory=dict)
    marks: list[tuple[int, int, str]] = field(default_factory=list)


def plots(table: "DataFrame", findings: Sequence[dict[str, Any]]) -> list[Plot]:
    """Plots of the partitions with the most findings; without findings, of those with the most commits."""
    chosen = _chosen(table, findings)
    drawn = {(topic, partition): Plot(topic, partition) for topic, partition in chosen}
    for finding in findings:
        plot = drawn.get((finding["topic"], finding["partition"]))
        if plot is not None and finding["from_ms"] is not None:
            plot.marks.append((finding["from_ms"], finding["to_ms"], finding["signature"]))
    if chosen:
        _draw(table, drawn)
    return [plot for plot in drawn.values() if any(len(each) > 1 for each in plot.offsets.values())]


def _chosen(table: "DataFrame", findings: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    counted = Counter(
        (each["topic"], each["partition"])
        for each in findings
        if each["topic"] is not None and each["partition"] is not None
    )
    if counted:
        return [where for where, _ in counted.most_common(PARTITIONS)]
    busy = table.where("kind = 'commit' and topic is not null").groupBy("topic", "partition").count()
    return [(row[0], row[1]) for row in busy.orderBy("count", ascending=False).limit(PARTITIONS).collect()]


def _draw(table: "DataFrame", drawn: dict[tuple[str, int], Plot]) -> None:
    from pyspark.sql import functions as F

    where = table.sparkSession.createDataFrame(list(drawn), "topic string, `partition` int")
    rows = table.where(
        F.col("kind").isin("commit", "restore", "high-watermark", "log-start") & F.col("offset").isNotNull()
    )
    rows = rows.where("time_ms is not null and offset >= 0").join(
        F.broadcast(where), ["topic", "partition"], "left_semi"
    )
    series = F.when(
        F.col("kind").isin("commit", "restore"), F.concat(F.lit("group "), F.coalesce("group", F.lit("?")))
    )
    series = series.otherwise(F.regexp_replace("kind", "-", " "))
    rows = rows.select("topic", "partition", series.alias("series"), "time_ms", "offset").persist()
    first, last = rows.agg(F.min("time_ms"), F.max("time_ms")).collect()[0]
    if first is None:
        return
    width = max(1, (last - first) // POINTS + 1)
    # The lowest and the last point of each slice, so that even a short rewind is visible.
    at = F.floor((F.col("time_ms") - first) / width)
    lowest = F.min(F.struct("offset", "time_ms")).alias("low")
    newest = F.max(F.struct("time_ms", "offset")).alias("new")
    sliced = rows.groupBy("topic", "partition", "series", at.alias("at")).agg(lowest, newest)
    points: dict[tuple[str, int], dict[str, Points]] = {}
    for row in sliced.collect():
        found = points.setdefault((row["topic"], row["partition"]), {}).setdefault(row["series"], [])
        found += {
            (row["low"]["time_ms"], row["low"]["offset"]),
            (row["new"]["time_ms"], row["new"]["offset"]),
        }
    rows.unpersist()
    for key, plot in drawn.items():
        plot.offsets = {name: sorted(each) for name, each in sorted(points.get(key, {}).items())}
        ends = plot.offsets.get("high watermark", [])
        plot.lag = {
            name.removeprefix("group "): _behind(each, ends)
            for name, each in plot.offsets.items()
            if name.startswith("group ") and ends
        }


def _behind(offsets: Points, ends: Points) -> Points:
    """The high watermark minus the offset, at the time of each offset."""
    found, at = [], 0
    for time_ms, offset in offsets:
        while at + 1 < len(ends) and ends[at + 1][0] <= time_ms:
            at += 1
        found.append((time_ms, max(ends[at][1] - offset, 0)))
    return found

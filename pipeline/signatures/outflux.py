"""`outflux-without-influx`: far more is read from a topic than written: a group reads again what it had read.

This is the clearest sign of a rewind on the brokers' side, at LinkedIn as elsewhere. A new group that catches
up, a group whose user sought back, and one that starts where it had committed, and so reads again what it had
only fetched ahead, are not findings.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..rows import PARTITION, before, in_order, of_kinds, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

LEAST: Final = 100
"""The number of records that were read again."""
_BUCKET_MS: Final = 60_000
_WINDOW_MS: Final = 5 * _BUCKET_MS
_READ: Final = ("reader", *PARTITION)


def find(observations: Table) -> Table:
    events = of_kinds(observations, "commit", "restore", "reset", "refused")
    events = events.where("topic is not null and partition is not null")
    events = events.withColumn("reader", F.coalesce("group", "client")).where("reader is not null")
    last = F.last(F.when(F.col("kind") == "commit", F.col("offset")), True)
    events = events.withColumn("committed", last.over(before(in_order(*_READ))))
    cause = events.where(
        "kind = 'reset' or error = 'OFFSET_OUT_OF_RANGE' or kind = 'restore' and offset < committed"
    )
    about = F.struct("time_ms", "position", seen().alias("seen")).alias("cause")
    cause = cause.select(*_READ, about).persist()
    # Only readers to which something happened there: sorting every fetch would take longest.
    suspects = F.broadcast(cause.select(*_READ).distinct())
    fetched = of_kinds(observations, "fetched").where("topic is not null and end_offset is not null")
    reader = F.coalesce("group", "client")
    fetched = fetched.where(reader.isNotNull()).select(
        *(*PARTITION, "time_ms", "file", "position", "offset", "end_offset"), reader.alias("reader")
    )
    fetched = fetched.join(suspects, _READ, "left_semi")
    highest = F.max("end_offset").over(before(in_order(*_READ)))
    # `least` ignores null.
    again = F.when(highest > F.col("offset"), F.least("end_offset", highest) - F.col("offset"))
    bucket = F.floor(F.col("time_ms") / _BUCKET_MS)
    read = fetched.withColumns({"again": F.coalesce(again, F.lit(0)), "bucket": bucket})
    at = F.when(F.col("again") > 0, F.col("time_ms"))
    out = F.sum(F.col("end_offset") - F.col("offset")).alias("out")
    reread = read.groupBy("reader", "topic", "bucket").agg(
        out,
        F.sum("again").alias("again"),
        F.min(at).alias("since_ms"),
        F.max(at).alias("until_ms"),
    )
    reread = reread.where(F.col("again") >= LEAST).persist()
    where = reread.select("topic").distinct()
    written = of_kinds(observations, "append").where("end_offset is not null").withColumn("bucket", bucket)
    buckets = written.join(F.broadcast(where), "topic", "left_semi").groupBy("topic", "bucket")
    influx = buckets.agg(F.sum(F.col("end_offset") - F.col("offset")).alias("influx"))
    rows = (
        reread.join(influx, ["topic", "bucket"], "left")
        .fillna(0, ["influx"])
        .where(F.col("out") > 2 * F.col("influx"))
    )
    # What was fetched ahead may have been read again earlier in that minute.
    close = F.col("cause.time_ms").between(F.col("since_ms") - _WINDOW_MS, F.col("until_ms"))
    rows = rows.join(cause.drop("partition"), ["reader", "topic"]).where(close)
    keys = ("reader", "topic", "bucket", "out", "again", "influx", "since_ms")
    rows = rows.groupBy(*keys).agg(F.max("cause").alias("cause"))
    return findings(
        rows,
        signature="outflux-without-influx",
        confidence=LIKELY,
        why="a reset, or an offset that was given back, came right before; without one a group may "
        "have been set back by hand",
        summary=sentence(
            "{reader} read {out} records of {topic} in a minute in which {influx} were written; "
            "{again} it had read before"
        ),
        evidence=[F.col("cause.seen")],
        columns={"group": F.col("reader")},
    )


SEARCH: Final = Search(
    "outflux without influx",
    find,
    ("fetched",),
    Signature(
        ("outflux-without-influx",),
        "a group reads far more than is written",
        known_as="LinkedIn",
        stories={"outflux-without-influx": "{who} read more than was written"},
    ),
)

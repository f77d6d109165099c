"""`unreplicated-tail-lost`: a leader died with records that no other replica had, and later removed them.

The election was clean: a replica in sync was elected. Records that are written with acks=all are acknowledged
only once the replicas in sync have them, so that their producer sends them again; those of acks=1 are lost.
Not here: internal topics, whose coordinators write with acks=all.
"""

from typing import Final

from ..consequences import of_loss
from ..findings import LIKELY, POSSIBLE, Else, If, findings, judged
from ..rows import PARTITION, first_of, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

SOON_MS: Final = 600_000
"""How soon after it has loaded a log a broker follows, and truncates it."""
_INTERNAL: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__cluster_metadata")
_WEAK: Final = ("acks = 1", "acks = 0")


def find(observations: Table) -> Table:
    rows = _removed(observations).persist()
    led = of_kinds(observations, "leader").where("leader is not null and topic is not null")
    led = prefixed(
        led, "_", *PARTITION, "leader", "leader_epoch", "time_ms", "offset", "detail", shown=seen()
    )
    unclean = led.where("_detail = 'unclean'").select("_topic", "_partition").distinct()
    rows = rows.join(unclean, same("_", PARTITION), "left_anti")
    another = [
        *same("_", PARTITION),
        F.col("_leader") != F.col("broker"),
        F.col("_time_ms") <= F.col("time_ms"),
    ]
    key = (*PARTITION, "broker", "time_ms", "cut", "end", "loaded", "removed")
    rows = (
        rows.join(led, another, "left")
        .groupBy(*key)
        .agg(
            F.max_by("_leader", "_time_ms").alias("elected"),
            F.coalesce(
                F.max_by("shown", F.when(F.col("_offset") == F.col("cut"), F.col("_time_ms"))),
                F.max_by("shown", "_time_ms"),
            ).alias("led"),
        )
    )
    rows = _with_in_sync(rows.persist(), observations)
    weak = of_kinds(observations, "config").where(F.col("detail").isin(*_WEAK))
    weak = (
        weak.withColumn("shown", seen())
        .groupBy(F.lit(1).alias("_one"))
        .agg(F.min_by("shown", "time_ms").alias("weak"), F.min_by("client", "time_ms").alias("client"))
    )
    rows = rows.withColumn("_one", F.lit(1)).join(weak, "_one", "left")
    return findings(
        rows,
        signature="unreplicated-tail-lost",
        **judged(
            If(
                F.col("clean") & F.col("weak").isNotNull(),
                LIKELY,
                "by what the dead leader had said last, the next one was in sync, and a producer writes with "
                "acks=1 or 0: it was told that they were written",
            ),
            If(
                F.col("clean"),
                POSSIBLE,
                "by what the dead leader had said last, the next one was in sync; what was written with "
                "acks=all was not acknowledged by then, and its producers wrote it again",
            ),
            Else(
                POSSIBLE,
                "its next leader did not have these records; the files don't tell that it was in sync: an "
                "unclean election looks the same",
            ),
        ),
        summary=F.concat(
            sentence(
                "broker {broker} died as leader of {at} with {lost} records that no other replica had, from "
                "offset {cut} to {end}, and removed them when it came back",
                at=place(),
                lost=F.col("end") - F.col("cut"),
            ),
            only_if(F.col("elected").isNotNull(), "; broker {elected} had been elected"),
            only_if(
                F.col("client").isNotNull(),
                "; records that producer {client} wrote with acks=1 or 0 are lost if they are among them",
            ),
        ),
        evidence=[F.col(name) for name in ("weak", "in_sync_seen", "led", "loaded", "removed")],
        ids=["KIP-679"],
    )


def _with_in_sync(rows: Table, observations: Table) -> Table:
    """`clean`: whether the next leader was in sync, by what the one that died had said last."""
    known = of_kinds(observations, "in-sync-replicas").where("replicas is not null")
    known = prefixed(known, "_", *PARTITION, "broker", "time_ms", "replicas", in_sync_seen=seen())
    key = (*PARTITION, "broker", "time_ms")
    before = [*same("_", (*PARTITION, "broker")), F.col("_time_ms") <= F.col("time_ms")]
    last = (
        rows.select(*key)
        .join(known, before)
        .groupBy(*key)
        .agg(
            F.max_by("_replicas", "_time_ms").alias("in_sync"),
            F.max_by("in_sync_seen", "_time_ms").alias("in_sync_seen"),
        )
    )
    rows = rows.join(last, list(key), "left")
    among = F.size(F.filter("in_sync", lambda each: each == F.col("elected"))) > 0
    return rows.withColumn("clean", F.coalesce(among, F.lit(False)))


def _removed(observations: Table) -> Table:
    """Logs that were loaded, and soon cut: `cut` is where, `end` where they ended."""
    loads = of_kinds(observations, "log-start").where("detail = 'loaded' and end_offset is not null")
    loads = loads.where("broker is not null and topic is not null").where(~F.col("topic").isin(*_INTERNAL))
    loads = prefixed(loads, "_", *PARTITION, "broker", "time_ms", "end_offset", loaded=seen())
    cuts = of_kinds(observations, "truncation").where("broker is not null and topic is not null")
    ago = F.col("time_ms") - F.col("_time_ms")
    after_load = [*same("_", (*PARTITION, "broker")), ago.between(0, SOON_MS)]
    rows = cuts.withColumn("removed", seen()).join(loads, after_load)
    rows = rows.where(F.col("_end_offset") > F.col("offset"))
    # A truncation is told by several lines.
    each = Window.partitionBy(*PARTITION, "broker", "_time_ms").orderBy("time_ms", "position")
    return first_of(rows, each).select(
        *PARTITION,
        "broker",
        "time_ms",
        F.col("offset").alias("cut"),
        F.col("_end_offset").alias("end"),
        "loaded",
        "removed",
    )


_LOST: Final = ("unreplicated-tail-lost",)
SEARCH: Final = Search(
    "records that only a dead leader had",
    find,
    ("truncation",),
    Signature(
        _LOST,
        "a leader died with records that no other replica had, and a replica in sync was elected: what was "
        "acknowledged with acks=1 or 0 is lost; which offsets",
        known_as="acks=1",
        stories={"unreplicated-tail-lost": "records that only a dead leader had were removed"},
        rules=of_loss("unreplicated-tail-lost"),
        alike=("unclean-election", "cut-off-leader"),
        looked_for=Alike("records that only a dead leader had", _LOST, BROKERS, "truncation"),
    ),
)

"""`cut-off-leader`: a broker that reached neither the controller nor its followers went on as leader.

It shrinks the ISR to itself although another broker leads already. What it took by then with acks=1 is
removed when it comes back and follows.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, findings, of_kinds, place, seen, sentence
from ..tables import Table
from ..tables import functions as F

_WHERE: Final = ("topic", "partition")
_LONGEST_MS: Final = 3_600_000


def find(observations: Table) -> Table:
    alone = (
        of_kinds(observations, "in-sync-replicas")
        .where((F.size("replicas") == 1) & (F.col("replicas")[0] == F.col("broker")))
        .where("detail like 'shrank%' and topic is not null")
        .withColumn("seen", seen())
        .select(*_WHERE, "broker", "time_ms", "file", "position", "seen")
    )
    ends = of_kinds(observations, "high-watermark").select("file", "position", "offset", "end_offset")
    alone = alone.join(ends, ["file", "position"], "left")
    led = of_kinds(observations, "leader").where("leader = broker and offset is not null")
    own = led.select(
        *(F.col(name).alias(f"own_{name}") for name in (*_WHERE, "leader", "leader_epoch", "time_ms"))
    )
    own_term = [
        *(F.col(name) == F.col(f"own_{name}") for name in _WHERE),
        F.col("broker") == F.col("own_leader"),
        F.col("own_time_ms") <= F.col("time_ms"),
    ]
    event = (*_WHERE, "broker", "time_ms", "seen", "end_offset")
    alone = (
        alone.join(own, own_term, "left").groupBy(*event).agg(F.max("own_leader_epoch").alias("own_epoch"))
    )
    led = led.withColumn("_seen", seen()).select(
        *(F.col(name).alias(f"_{name}") for name in (*_WHERE, "leader", "leader_epoch", "time_ms", "offset")),
        "_seen",
    )
    ago = F.col("time_ms") - F.col("_time_ms")
    another = [
        *(F.col(name) == F.col(f"_{name}") for name in _WHERE),
        F.col("broker") != F.col("_leader"),
        F.col("_leader_epoch") > F.coalesce("own_epoch", F.lit(-1)),
        ago.between(0, _LONGEST_MS),
    ]
    cut = of_kinds(observations, "truncation").withColumn("cut_seen", seen())
    cut = cut.select(
        *(F.col(name).alias(f"cut_{name}") for name in (*_WHERE, "broker", "time_ms", "offset")), "cut_seen"
    )
    removed = [
        *(F.col(name) == F.col(f"cut_{name}") for name in (*_WHERE, "broker")),
        (F.col("cut_time_ms") - F.col("time_ms")).between(0, _LONGEST_MS),
        F.col("cut_offset") < F.col("end_offset"),
    ]
    rows = (
        alone.join(led, another)
        .join(cut, removed, "left")
        .groupBy(*_WHERE, "broker", "_leader", "_leader_epoch")
        .agg(
            *(F.max_by(name, "time_ms").alias(name) for name in ("seen", "_seen", "end_offset")),
            F.min("cut_offset").alias("cut"),
            F.min_by("cut_seen", "cut_offset").alias("cut_seen"),
        )
    )
    told = F.col("cut").isNotNull()
    return findings(
        rows,
        signature="cut-off-leader",
        confidence=F.when(told, CERTAIN).otherwise(LIKELY),
        why="it shrank the ISR to itself after another broker had become the leader",
        summary=F.concat(
            sentence(
                "broker {broker} went on as leader of {at}, cut off from the others, while broker {_leader} "
                "led in epoch {_leader_epoch}",
                at=place(),
            ),
            F.when(
                told,
                sentence(
                    ": the {lost} records that it had taken from offset {cut} on were removed",
                    lost=F.col("end_offset") - F.col("cut"),
                ),
            ).otherwise(""),
        ),
        evidence=[F.col("_seen"), F.col("seen"), F.col("cut_seen")],
        behaviours=["broker-session"],
        ids=["KAFKA-19902"],
    )

"""`truncation-gap` and `log-end-fell`: positions above the end of a truncated log, and records that are lost.

KAFKA-19902's log lines: a consumer's position is out of range; seconds later a broker shrinks the ISR to
itself and truncates its log below that position. If the position is above everything that this broker had
*before* it truncated its log, the records came from another leader: the broker had been cut off, and
consumers still asked it.
"""

from typing import Final

from ..findings import (
    CERTAIN,
    LIKELY,
    POSSIBLE,
    before,
    findings,
    in_order,
    of_kinds,
    place,
    row,
    seen,
    sentence,
    texts,
    who,
)
from ..tables import Table
from ..tables import functions as F
from .beside import beside, near
from .resets import lost_positions

_ID: Final = "KAFKA-19902"


def find(observations: Table) -> Table:
    return _gaps(observations).unionByName(_fell(observations))


def _gaps(observations: Table) -> Table:
    rows = lost_positions(observations).where("refused is not null")
    named = observations.where("kind != 'leader' or leader is not null")
    rows = beside(rows, named, ["truncation", "in-sync-replicas", "leader", "high-watermark"])
    cut, isr, leader, ends = (
        near(kind) for kind in ("truncation", "in-sync-replicas", "leader", "high-watermark")
    )
    rows = rows.withColumns({"cut": cut, "isr": isr, "new": leader, "ends": ends})
    rows = rows.where(F.col("cut.offset") < F.col("lost"))
    alone = F.when(F.size("isr.replicas") == 1, F.col("isr.replicas")[0])
    # In a trace the answer itself says which broker refused, and the states say who led.
    refused_by = F.when(
        (F.col("source") == "trace") & (F.col("broker") != F.col("leader.leader")), F.col("broker")
    )
    cut_off = F.coalesce(refused_by, alone, F.col("cut.broker"))
    end = F.coalesce("cut.from_offset", "ends.end_offset")
    new_leader = F.when(F.col("new.leader") != cut_off, F.col("new.leader"))
    rows = rows.withColumns(
        {
            "cut_off": cut_off,
            "end": end,
            "new_leader": new_leader,
            "above": F.col("lost") > end,
            "alone": alone,
        }
    )
    whole = F.col("above") & F.col("cut_off").isNotNull()
    return findings(
        rows,
        signature="truncation-gap",
        confidence=F.when(refused_by.isNotNull(), CERTAIN).when(whole, LIKELY).otherwise(POSSIBLE),
        why=F.when(refused_by.isNotNull(), "the trace says which broker refused, and that another one led")
        .when(
            whole,
            "the position lies above all that the log held before it was cut, so what was read "
            "came from another leader",
        )
        .otherwise("a position above the cut, within a minute of it"),
        summary=F.concat(
            sentence(
                "{who} was out of range at {lost} in {at}, {gap} above the {cut} to which the "
                "log was truncated",
                who=who(),
                at=place(),
                gap=F.col("lost") - F.col("cut.offset"),
                cut="cut.offset",
            ),
            F.when(F.col("end").isNotNull(), sentence(" (from {end})")).otherwise(""),
            F.when(
                F.col("cut_off").isNotNull()
                & (F.coalesce("above", F.col("alone").isNotNull()) | refused_by.isNotNull()),
                F.concat(
                    sentence(
                        "; a possible cause: broker {cut_off} went on as leader, cut off from the others"
                    ),
                    F.when(F.col("alone").isNotNull(), sentence(" (it shrank the ISR to itself)")).otherwise(
                        ""
                    ),
                    F.when(
                        F.col("new_leader").isNotNull(), sentence(", while broker {new_leader} led already")
                    ).otherwise(""),
                ),
            ).otherwise(""),
        ),
        evidence=[
            F.col(name)
            for name in ("refused.seen", "reset.seen", "isr.seen", "ends.seen", "new.seen", "cut.seen")
        ],
        behaviours=F.when(F.col("above"), texts("broker-session")).otherwise(texts("election")),
        ids=[_ID],
        columns={"broker": F.col("cut_off")},
    )


def _fell(observations: Table) -> Table:
    """The end of the leader's log fell below its earlier high watermark: acknowledged records are lost."""
    window = in_order("source", "broker", "topic", "partition")
    rows = of_kinds(observations, "high-watermark", "leader").where("topic is not null")
    is_end = F.col("kind") == "high-watermark"
    # Rows about leaders are not about a broker's own log.
    rows = rows.withColumn("broker", F.when(is_end, F.col("broker")))
    highest = F.max(F.when(is_end, F.col("offset"))).over(before(window))
    epochs = F.when(~is_end, F.col("leader_epoch"))
    fell = rows.withColumns(
        {
            "highest": highest,
            "was": F.last(F.when(is_end, row()), True).over(before(window)),
            "epoch": F.last(epochs, True).over(before(window)),
            "max_epoch": F.max(epochs).over(before(window)),
        }
    )
    again = F.col("epoch") < F.col("max_epoch")
    fell = fell.where(
        is_end
        & (F.col("end_offset") < F.col("highest"))
        & (F.col("was.offset") == F.col("highest"))
        & ~F.coalesce(again, F.lit(False))
    )
    keys = ("source", "topic", "partition", "time_ms", "end_offset", "highest", "was", "seen")
    fell = fell.withColumn("seen", seen()).select(*keys)
    stood = of_kinds(observations, "commit").select(
        *(F.col(name).alias(f"_{name}") for name in ("topic", "partition", "time_ms", "offset")),
        F.col("group").alias("who"),
    )
    above = [
        F.col("topic") == F.col("_topic"),
        F.col("partition") == F.col("_partition"),
        F.col("_time_ms") <= F.col("time_ms"),
        F.col("_offset") > F.col("end_offset"),
    ]
    rows = (
        fell.join(stood, above, "left").groupBy(*keys).agg(F.array_sort(F.collect_set("who")).alias("groups"))
    )
    told = F.col("source") == "trace"
    return findings(
        rows,
        signature="log-end-fell",
        confidence=F.when(told, CERTAIN).otherwise(LIKELY),
        why=F.when(told, "the trace tells the leader's log end and high watermark").otherwise(
            "one broker's own lines; a topic that was deleted and made again looks the same"
        ),
        summary=F.concat(
            sentence(
                "the log of {at} ended at {end_offset}, below the high watermark {highest} that it had: "
                "{lost} acknowledged records are gone",
                at=place(),
                lost=F.col("highest") - F.col("end_offset"),
            ),
            F.when(
                F.size("groups") > 0,
                sentence("; groups that stood above: {names}", names=F.array_join("groups", ", ")),
            ).otherwise(""),
        ),
        evidence=[
            seen("was"),
            F.col("seen"),
        ],
        behaviours=["election", "isr-entry"],
        ids=["KAFKA-7128"],
    )

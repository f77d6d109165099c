"""`truncation-gap` and `log-end-fell`: positions above the end of a truncated log, and records that are lost.

KAFKA-19902's log lines: a consumer's position is out of range; seconds later a broker shrinks the ISR to
itself and truncates its log below that position. If the position is above everything that this broker had
*before* it truncated its log, the records came from another leader: the broker had been cut off, and
consumers still asked it.
"""

from typing import Final

from ...simulation.consumer_setting import Commit
from ..beside import beside, near
from ..consequences import LATE_MS, PARTITION, SEQUENCES, SET_BACK, SHORTER, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged, texts
from ..reproduction import explored, with_epochs
from ..rows import before, in_order, of_kinds, only_if, place, prefixed, row, same, seen, sentence, who
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table
from ..tables import functions as F
from .resets import lost_positions


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
    made = {"cut_off": cut_off, "end": end, "new_leader": new_leader, "alone": alone}
    rows = rows.withColumns({**made, "above": F.col("lost") > end})
    known, told, is_alone = F.col("cut_off").isNotNull(), refused_by.isNotNull(), F.col("alone").isNotNull()
    return findings(
        rows,
        signature="truncation-gap",
        **judged(
            If(told, CERTAIN, "the trace says which broker refused, and that another one led"),
            If(
                F.col("above") & known,
                LIKELY,
                "the position lies above all that the log held before it was cut, so what was read "
                "came from another leader",
            ),
            Else(POSSIBLE, "a position above the cut, within a minute of it"),
        ),
        summary=F.concat(
            sentence(
                "{who} was out of range at {lost} in {at}, {gap} above the {cut} to which the "
                "log was truncated",
                who=who(),
                at=place(),
                gap=F.col("lost") - F.col("cut.offset"),
                cut="cut.offset",
            ),
            only_if(F.col("end").isNotNull(), " (from {end})"),
            only_if(
                known & (F.coalesce("above", is_alone) | told),
                "; a possible cause: broker {cut_off} went on as leader, cut off from the "
                "others{alone}{other}",
                alone=only_if(is_alone, " (it shrank the ISR to itself)"),
                other=only_if(F.col("new_leader").isNotNull(), ", while broker {new_leader} led already"),
            ),
        ),
        evidence=[
            F.col(name)
            for name in ("refused.seen", "reset.seen", "isr.seen", "ends.seen", "new.seen", "cut.seen")
        ],
        behaviours=F.when(F.col("above"), texts("broker-session")).otherwise(texts("election")),
        ids=["KAFKA-19902"],
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
    keys = ("source", *PARTITION, "time_ms", "end_offset", "highest", "was", "seen")
    fell = fell.withColumn("seen", seen()).select(*keys)
    stood = prefixed(
        of_kinds(observations, "commit"), "_", *PARTITION, "time_ms", "offset", who=F.col("group")
    )
    above = [
        *same("_", PARTITION),
        F.col("_time_ms") <= F.col("time_ms"),
        F.col("_offset") > F.col("end_offset"),
    ]
    rows = (
        fell.join(stood, above, "left").groupBy(*keys).agg(F.array_sort(F.collect_set("who")).alias("groups"))
    )
    names = F.array_join("groups", ", ")
    return findings(
        rows,
        signature="log-end-fell",
        **judged(
            If(
                F.col("source") == "trace", CERTAIN, "the trace tells the leader's log end and high watermark"
            ),
            Else(
                LIKELY,
                "one broker's own lines; a topic that was deleted and made again looks the same",
            ),
        ),
        summary=F.concat(
            sentence(
                "the log of {at} ended at {end_offset}, below the high watermark {highest} that it had: "
                "{lost} acknowledged records are gone",
                at=place(),
                lost=F.col("highest") - F.col("end_offset"),
            ),
            only_if(F.size("groups") > 0, "; groups that stood above: {names}", names=names),
        ),
        evidence=[seen("was"), F.col("seen")],
        behaviours=["election", "isr-entry"],
        ids=["KAFKA-7128"],
    )


SEARCH: Final = Search(
    "truncations",
    find,
    ("reset", "refused", "high-watermark"),
    Signature(
        SHORTER,
        "a position above the offset to which the log was truncated; a log end that fell below the high "
        "watermark; the leader that was cut off, if there was one",
        known_as="KAFKA-19902, unclean election",
        stories={
            "truncation-gap": "a position lay past the end of the log",
            "log-end-fell": "the log end offset fell",
        },
        rules=(
            *leads(SHORTER, SET_BACK, PARTITION, LATE_MS, "the log was cut below the position"),
            *leads(SHORTER, SEQUENCES, PARTITION, LATE_MS, "what was acknowledged was cut off"),
        ),
        alike=("unclean-election", "cut-off-leader", "topic-recreated"),
        looked_for=Alike("a truncation", SHORTER, BROKERS, "truncation"),
        reproductions=(
            explored(
                ("truncation-gap",),
                "offsets committed without epochs",
                "offsets committed with epochs",
                "reset-without-loss",
                with_epochs,
                commit=Commit.NO_EPOCH,
            ),
        ),
    ),
)

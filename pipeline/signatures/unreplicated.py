"""`unreplicated-tail-lost`: a leader died with records that no other replica had, and later removed them.

The election was clean: a replica in sync was elected. Records that are written with acks=all are acknowledged
only once the replicas in sync have them, so that their producer sends them again; those of acks=1 are lost.
Not here: internal topics, whose coordinators write with acks=all, and clusters of which no log of a client
says that it writes with acks=1 or 0. There a leader that is killed leaves the same, and nothing is lost.
"""

from dataclasses import replace
from typing import Final

from ...simulation.plan import Plan, Step
from ...simulation.producer_setting import ProducerSetting
from ..consequences import of_loss
from ..findings import LIKELY, POSSIBLE, Else, If, findings, judged
from ..reproduction import Reproduction, Template, late_ms
from ..rows import INTERNAL, PARTITION, first_of, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

SOON_MS: Final = 600_000
"""How soon after it has loaded a log a broker follows, and truncates it."""
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
    rows = rows.withColumn("_one", F.lit(1)).join(weak, "_one")
    return findings(
        rows,
        signature="unreplicated-tail-lost",
        **judged(
            If(
                F.col("clean"),
                LIKELY,
                "by what the dead leader had said last, the next one was in sync, and a producer writes with "
                "acks=1 or 0: it was told that they were written",
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
    loads = loads.where("broker is not null and topic is not null").where(~F.col("topic").isin(*INTERNAL))
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


def _history(seed: int, kafka: str) -> Plan:
    """The followers fetch nothing for a while, in which the leader takes records and dies."""
    written, back_ms = {"producer": 0, "count": 2}, 12_000 + late_ms(seed)
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", written),
        *(Step(1_000, "pause-follower", {"broker": each}) for each in (2, 3)),
        Step(1_010, "produce", written),
        Step(1_060, "kill-broker", {"broker": 1}),
        *(Step(1_100, "resume-follower", {"broker": each}) for each in (2, 3)),
        Step(back_ms, "start-broker", {"broker": 1}),
    )
    return Plan(seed, kafka, producers=(ProducerSetting(acks=1),), commit_rate=1.0, steps=steps)


def _with_all(plan: Plan) -> Plan:
    return replace(plan, producers=tuple(replace(each, acks=-1) for each in plan.producers))


_TEMPLATE: Final = Template(
    """\
from contextlib import suppress
from typing import Literal

import pytest

from mockbroker import MockCluster, RefusedError

# {story}


@pytest.mark.parametrize("acks", [pytest.param(1, id="incident"), pytest.param(-1, id="prevented")])
def test_no_acknowledged_record_is_lost(acks: Literal[1, -1]) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, clock="manual") as cluster:
        written = [cluster.produce("{topic}", "1", acks=acks)]
        for follower in (2, 3):
            cluster.pause_follower("{topic}", 0, broker=follower)
        with suppress(RefusedError):  # it was not acknowledged
            written.append(cluster.produce("{topic}", "2", acks=acks, timeout=1.0))
        cluster.kill_broker(1)
        for follower in (2, 3):
            cluster.resume_follower("{topic}", 0, broker=follower)
        cluster.clock.advance(10_000)
        written.append(cluster.produce("{topic}", "3", acks=acks))
        cluster.start_broker(1)
        cluster.clock.advance(10_000)
        assert cluster.records("{topic}") == written
"""
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
        reproductions=(Reproduction(_LOST, "acks=1", "acks=all", _history, _with_all, template=_TEMPLATE),),
    ),
)

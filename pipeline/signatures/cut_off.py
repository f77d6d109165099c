"""`cut-off-leader`: a broker that reached neither the controller nor its followers went on as leader.

One whose process stood still, as that of a suspended virtual machine, does the same when it goes on.

It shrinks the ISR to itself although another broker leads already. What it took by then with acks=1 is
removed when it comes back and follows.
"""

from dataclasses import replace
from typing import Final

from ...simulation.plan import Plan, Step
from ...simulation.producer_setting import ProducerSetting
from ..consequences import of_loss
from ..findings import CERTAIN, LIKELY, findings
from ..reproduction import Reproduction, Template, late_ms
from ..rows import PARTITION, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table
from ..tables import functions as F

_LONGEST_MS: Final = 3_600_000


def find(observations: Table) -> Table:
    alone = (
        of_kinds(observations, "in-sync-replicas")
        .where((F.size("replicas") == 1) & (F.col("replicas")[0] == F.col("broker")))
        .where("detail like 'shrank%' and topic is not null")
        .withColumn("seen", seen())
        .select(*PARTITION, "broker", "time_ms", "file", "position", "seen")
    )
    ends = of_kinds(observations, "high-watermark").select("file", "position", "offset", "end_offset")
    alone = alone.join(ends, ["file", "position"], "left")
    led = of_kinds(observations, "leader").where("leader = broker and offset is not null")
    own = prefixed(led, "own_", *PARTITION, "broker", "leader_epoch", "time_ms")
    own_term = [*same("own_", (*PARTITION, "broker")), F.col("own_time_ms") <= F.col("time_ms")]
    event = (*PARTITION, "broker", "time_ms", "seen", "end_offset")
    alone = (
        alone.join(own, own_term, "left").groupBy(*event).agg(F.max("own_leader_epoch").alias("own_epoch"))
    )
    led = prefixed(led, "_", *PARTITION, "leader", "leader_epoch", "time_ms", "offset", _seen=seen())
    ago = F.col("time_ms") - F.col("_time_ms")
    another = [
        *same("_", PARTITION),
        F.col("broker") != F.col("_leader"),
        F.col("_leader_epoch") > F.coalesce("own_epoch", F.lit(-1)),
        ago.between(0, _LONGEST_MS),
    ]
    cut = of_kinds(observations, "truncation")
    cut = prefixed(cut, "cut_", *PARTITION, "broker", "time_ms", "offset", cut_seen=seen())
    removed = [
        *same("cut_", (*PARTITION, "broker")),
        (F.col("cut_time_ms") - F.col("time_ms")).between(0, _LONGEST_MS),
        F.col("cut_offset") < F.col("end_offset"),
    ]
    rows = (
        alone.join(led, another)
        .join(cut, removed, "left")
        .groupBy(*PARTITION, "broker", "_leader", "_leader_epoch")
        .agg(
            *(F.max_by(name, "time_ms").alias(name) for name in ("seen", "_seen", "end_offset")),
            F.min("cut_offset").alias("cut"),
            F.min_by("cut_seen", "cut_offset").alias("cut_seen"),
        )
    )
    was_cut = F.col("cut").isNotNull()
    return findings(
        rows,
        signature="cut-off-leader",
        confidence=F.when(was_cut, CERTAIN).otherwise(LIKELY),
        why="it shrank the ISR to itself after another broker had become the leader",
        summary=F.concat(
            sentence(
                "broker {broker} went on as leader of {at}, cut off from the others or after it had stood "
                "still, while broker {_leader} led in epoch {_leader_epoch}",
                at=place(),
            ),
            only_if(
                was_cut,
                ": the {lost} records that it had taken from offset {cut} on were removed",
                lost=F.col("end_offset") - F.col("cut"),
            ),
        ),
        evidence=[F.col("_seen"), F.col("seen"), F.col("cut_seen")],
        behaviours=["broker-session"],
        ids=["KAFKA-19902"],
    )


def _history(seed: int, kafka: str) -> Plan:
    """The leader is cut off from the other brokers, and takes records until it comes back and follows."""
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", {"producer": 0, "count": 2}),
        Step(1_000, "cut-off-broker", {"broker": 1}),
        Step(1_100, "produce", {"producer": 0, "count": 2}),
        Step(12_000 + late_ms(seed), "rejoin-broker", {"broker": 1}),
    )
    return Plan(seed, kafka, producers=(ProducerSetting(acks=1),), commit_rate=1.0, steps=steps)


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
        cluster.cut_off(1)
        with suppress(RefusedError):  # it was not acknowledged
            written.append(cluster.produce("{topic}", "2", acks=acks, timeout=1.0))
        cluster.clock.advance(60_000)
        written.append(cluster.produce("{topic}", "3", acks=acks))
        cluster.rejoin(1)
        cluster.clock.advance(60_000)
        assert cluster.records("{topic}") == written
"""
)
_NAME: Final = ("cut-off-leader",)
SEARCH: Final = Search(
    "leaders that were cut off",
    find,
    ("in-sync-replicas",),
    Signature(
        _NAME,
        "a broker that was cut off, or had stood still, went on as leader while another one led; how many "
        "records it had taken were removed",
        stories={"cut-off-leader": "a broker went on as leader that did not know of another one"},
        rules=of_loss("cut-off-leader"),
        alike=("unclean-election",),
        looked_for=Alike("a leader that was cut off", _NAME, BROKERS),
        reproductions=(
            Reproduction(
                _NAME,
                "acks=1",
                "acks=all",
                _history,
                lambda plan: replace(
                    plan, producers=tuple(replace(each, acks=-1) for each in plan.producers)
                ),
                template=_TEMPLATE,
            ),
        ),
    ),
)

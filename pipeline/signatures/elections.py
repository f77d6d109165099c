"""`unclean-election`: a replica that was not in sync was elected leader, and loses what others had.

The controller and the new leader say that it was unclean. They say so, too, of the last leader, which comes
back when nobody is in sync any more (KIP-966), such as the only replica: that is a finding only if it lacks
something. The new leader's epoch begins where its log ended; what had been replicated to the replicas in sync
above that offset, or was committed by a group that had read it, is lost.
"""

from dataclasses import replace
from typing import Final

from ...simulation.plan import Plan, Step
from ..consequences import of_loss
from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..readers.log_spans import CONTROLLER
from ..reproduction import Reproduction, Template, broker, late_ms, produce, scenario
from ..rows import PARTITION, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..settings import with_setting
from ..signature import Alike, Search, Signature
from ..tables import Column, Table
from ..tables import functions as F

_SAME_MS: Final = 30_000


def find(observations: Table) -> Table:
    # One of the controller's two lines about it has the topic's id in place of its name.
    unclean = (
        of_kinds(observations, "leader")
        .where("detail = 'unclean' and topic is not null and partition is not null")
        .where("coalesce(text, '') not like '%topicId %'")
    )
    elected = (
        unclean.withColumn("seen", seen())
        .groupBy(*PARTITION, "leader", "leader_epoch")
        .agg(
            F.min("time_ms").alias("at_ms"),
            F.min_by("seen", "time_ms").alias("seen"),
            F.max(_led_last()).alias("knew_all"),
        )
    )
    # The new leader says so, too, without its epoch.
    known = prefixed(elected.where("leader_epoch is not null"), "_", *PARTITION, "leader", "at_ms")
    near = [*same("_", (*PARTITION, "leader")), F.abs(F.col("at_ms") - F.col("_at_ms")) <= _SAME_MS]
    again = elected.where("leader_epoch is null").join(known, near, "left_anti")
    elected = elected.where("leader_epoch is not null").unionByName(again)
    elected = _with_own_log(elected, observations)
    event = (*PARTITION, "leader", "leader_epoch", "knew_all", "at_ms", "seen")
    ends = elected.join(_ends(observations), same("_", PARTITION), "left")
    entered = F.col("begins").isNotNull() & (F.col("end_epoch") == F.col("leader_epoch"))
    # A checkpoint is of the time at which it was copied, which nobody knows.
    before, after = F.col("end_ms") < F.col("at_ms"), F.col("end_ms") >= F.col("at_ms")
    began = ends.groupBy(*event).agg(
        F.min(F.when(entered, F.col("begins"))).alias("begins"),
        F.max(F.when(after, F.col("fell")).when(before, F.col("high"))).alias("high"),
        F.max_by("end_seen", F.when(after, F.col("fell"))).alias("fell_seen"),
    )
    commits = began.join(_commits(observations), same("_", PARTITION), "left")
    before = F.col("commit_ms") <= F.col("at_ms")
    last = commits.groupBy(*event, "begins", "high", "fell_seen", "who").agg(
        F.max_by("committed", F.when(before, F.col("commit_ms"))).alias("committed")
    )
    set_back = F.when(F.col("committed") > F.col("begins"), F.col("who"))
    rows = last.groupBy(*event, "begins", "high", "fell_seen").agg(
        F.array_sort(F.collect_set(set_back)).alias("groups"), F.max("committed").alias("committed")
    )
    rows = rows.where(
        ~F.col("knew_all") | F.coalesce(F.greatest("high", "committed") > F.col("begins"), F.lit(False))
    )
    rows = with_setting(rows, observations, "unclean.leader.election.enable", "at_ms", event[:-2])
    allowed = F.col("value") == "true"
    lost = F.greatest("high", "committed") - F.col("begins")
    names = F.array_join("groups", ", ")
    return findings(
        rows.withColumn("lost", F.when(lost >= 0, lost)),
        signature="unclean-election",
        **judged(
            If(
                F.col("leader_epoch").isNotNull(),
                CERTAIN,
                "the controller says that the replica was elected although it was not in sync",
            ),
            If(
                F.coalesce(F.col("lost") > 0, F.lit(False)),
                CERTAIN,
                "the replica says that it was elected although it was not in sync, and it lacks records",
            ),
            Else(
                LIKELY,
                "the replica says that it was elected although it was not in sync; the last leader says so, "
                "too, which lacks nothing: the log of the controller would tell",
            ),
        ),
        summary=F.concat(
            sentence(
                "broker {leader}, which was not in sync, was elected leader of {at}{epoch}",
                at=place(),
                epoch=only_if(F.col("leader_epoch").isNotNull(), " in epoch {leader_epoch}"),
            ),
            F.when(
                F.col("lost") > 0, sentence(": {lost} acknowledged records from offset {begins} on are lost")
            )
            .when(F.col("lost") == 0, ": no acknowledged record is known to be lost")
            .otherwise("; the files don't tell what was lost"),
            only_if(allowed, "; somebody had set unclean.leader.election.enable {earlier} s before"),
            only_if(F.size("groups") > 0, "; groups that had read on: {names}", names=names),
        ),
        evidence=[F.when(allowed, F.col("act")), F.col("seen"), F.col("fell_seen")],
        behaviours=["election"],
        ids=["KIP-106"],
        columns={"broker": F.col("leader")},
    )


def _led_last() -> Column:
    """Whether a controller's line says that the leader had led last, before nobody was in sync any more."""
    last = F.regexp_extract("text", r"lastKnownElr: \[(\d+)\] -> \[\]", 1)
    return F.coalesce(last == F.col("leader").cast("string"), F.lit(False))


def _with_own_log(elected: Table, observations: Table) -> Table:
    """`knew_all` also by what brokers say: the leader had led the last epoch that had a leader."""
    rows = of_kinds(observations, "leader").where("topic is not null and time_ms is not null")
    rows = rows.where("leader_epoch is not null and leader is not null")
    nobody = prefixed(rows.where("leader < 0"), "n_", *PARTITION, "leader_epoch")
    led = rows.where("leader = broker")
    before = prefixed(led, "b_", *PARTITION, "leader", "leader_epoch")
    again = prefixed(led, "", *PARTITION, "leader", "leader_epoch", "time_ms")
    again = again.join(nobody, [*same("n_", PARTITION), F.col("leader_epoch") == F.col("n_leader_epoch") + 1])
    of_last = F.col("leader_epoch") == F.col("b_leader_epoch") + 2
    again = again.join(before, [*same("b_", (*PARTITION, "leader")), of_last])
    again = prefixed(again, "a_", *PARTITION, "leader", "time_ms")
    near = F.abs(F.col("at_ms") - F.col("a_time_ms")) <= _SAME_MS
    found = elected.join(again, [*same("a_", (*PARTITION, "leader")), near], "left")
    found = found.groupBy(*PARTITION, "leader", "leader_epoch", "knew_all", "at_ms", "seen").agg(
        F.max("a_time_ms").alias("came_back")
    )
    return found.withColumn("knew_all", F.col("knew_all") | F.col("came_back").isNotNull())


def _ends(observations: Table) -> Table:
    """High watermarks, those that fell, and the first offsets of leader epochs."""
    is_end = F.col("kind") == "high-watermark"
    return prefixed(
        of_kinds(observations, "high-watermark", "leader"),
        "_",
        *PARTITION,
        end_epoch=F.col("leader_epoch"),
        end_ms=F.col("time_ms"),
        high=F.when(is_end, F.col("offset")),
        fell=F.when(is_end, F.col("from_offset")),
        begins=F.when(~is_end, F.col("offset")),
        end_seen=seen(),
    )


def _commits(observations: Table) -> Table:
    named = {"who": F.col("group"), "commit_ms": F.col("time_ms"), "committed": F.col("offset")}
    return prefixed(of_kinds(observations, "commit").where("group is not null"), "_", *PARTITION, **named)


def _history(seed: int, kafka: str) -> Plan:
    """A replica is left behind, those in sync go down, and it is elected. The files don't tell when the
    others came back, compared with when consumers noticed: the seed chooses."""
    back_ms, written = 4_000 + late_ms(seed), {"producer": 0, "count": 2}
    steps = (
        Step(0, "rebalance"),
        Step(100, "produce", written),
        Step(1_000, "stop-broker", {"broker": 3}),
        Step(1_500, "produce", written),
        Step(2_500, "stop-broker", {"broker": 2}),
        Step(2_600, "kill-broker", {"broker": 1}),
        Step(4_000, "start-broker", {"broker": 3}),
        Step(back_ms, "start-broker", {"broker": 2}),
        Step(back_ms, "start-broker", {"broker": 1}),
    )
    return Plan(seed, kafka, unclean=True, commit_rate=1.0, steps=steps)


_TEMPLATE: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "unclean", [pytest.param("true", id="incident"), pytest.param("false", id="prevented")]
)
def test_no_acknowledged_record_is_lost(unclean: str) -> None:
    config = {{"unclean.leader.election.enable": unclean}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        written = [cluster.produce("{topic}", "1")]
        cluster.stop_broker(3)
        written.append(cluster.produce("{topic}", "2"))
        cluster.stop_broker(2)
        cluster.stop_broker(1)
        for broker in (3, 2, 1):
            cluster.start_broker(broker)
        assert cluster.records("{topic}") == written
""",
    scenario(
        '"unclean.leader.election.enable" = "true"',
        [
            produce(1),
            broker("stop", 3),
            produce(2),
            *(broker("stop", each) for each in (2, 1)),
            *(broker("start", each) for each in (3, 2, 1)),
        ],
        ["1", "2"],
    ),
    '"unclean.leader.election.enable" = "true"',
    '"unclean.leader.election.enable" = "false"',
)
_NAME: Final = ("unclean-election",)
SEARCH: Final = Search(
    "unclean elections",
    find,
    ("leader",),
    Signature(
        _NAME,
        "a replica that was not in sync was elected; how many acknowledged records that lost, and which "
        "groups had read them",
        stories={"unclean-election": "a replica that was not in sync was elected"},
        rules=of_loss("unclean-election"),
        alike=("cut-off-leader",),
        looked_for=Alike("an unclean election", _NAME, CONTROLLER, "leader"),
        reproductions=(
            Reproduction(
                _NAME,
                "unclean elections",
                "no unclean elections",
                _history,
                lambda plan: replace(plan, unclean=False),
                template=_TEMPLATE,
            ),
        ),
    ),
)

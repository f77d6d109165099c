"""`controller-away`: a leader was gone, and nobody elected another one, since brokers could not reach the
controller.

Nobody logs that a partition has no leader then: followers tell that their leader does not answer, until
they hear of another one.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..readers.follower_messages import UNANSWERED
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, after, before, of_kinds, place, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
"""A controller elects another leader within the session timeout of a broker, 18 s at most by default."""
_APART_MS: Final = 10_000
"""A broker that can't reach the controller says so each second."""


def find(observations: Table) -> Table:
    rows = _with_controllers(_silent(observations), observations)
    return findings(
        rows,
        signature="controller-away",
        confidence=LIKELY,
        why="followers tell that the leader did not answer until another one was elected, and brokers tell "
        "that they did not reach the controller meanwhile; if it ran, it is not known why nobody reached it",
        summary=sentence(
            "{at} had no leader for {seconds} s: broker {leader} did not answer, and no other leader was "
            "elected, since the controller could not be reached from {brokers}",
            at=place(),
            seconds=F.floor((F.col("elected_ms") - F.col("begun_ms")) / 1000).cast("bigint"),
            brokers=F.array_join("named", ", "),
        ),
        evidence=[F.col("first"), F.col("away"), F.col("back"), F.col("elected")],
        columns={"broker": F.col("leader")},
    )


def _silent(observations: Table) -> Table:
    """Leaders that did not answer, from `begun_ms` until another one was elected at `elected_ms`."""
    elects = F.col("elects")
    rows = of_kinds(observations, UNANSWERED, "leader").where("topic is not null and time_ms is not null")
    rows = rows.withColumns({"elects": F.col("kind") == "leader", "seen": seen()})
    rows = rows.where(F.col("leader").isNotNull() & ((F.col("leader") >= 0) | ~elects))
    window = Window.partitionBy(*PARTITION).orderBy("time_ms", "elects", "file", "position")
    rows = rows.select(*PARTITION, "leader", "time_ms", "file", "position", "elects", "seen")
    rows = rows.withColumn("was", F.last(F.when(elects, F.col("leader")), True).over(before(window)))
    another = elects & (F.col("was").isNull() | (F.col("was") != F.col("leader")))
    elected = F.struct("leader", "time_ms", "seen")
    # One row of a leader may name the one that does not answer: the next that names another one counts.
    rows = rows.withColumn("other", F.last(F.when(another, elected), True).over(after(window)))
    told = F.struct("leader", "time_ms", "seen", "other")
    rows = rows.withColumn("next", F.last(F.when(elects, told), True).over(after(window)))
    rows = rows.where(~elects)
    is_other = F.col("next.leader") != F.col("leader")
    rows = rows.withColumns(
        {
            name: F.when(is_other, F.col(f"next.{of}")).otherwise(F.col(f"next.other.{of}"))
            for name, of in (("elected_ms", "time_ms"), ("elected", "seen"))
        }
    )
    return (
        rows.where("elected_ms is not null")
        .groupBy(*PARTITION, "leader", "elected_ms")
        .agg(
            F.min("time_ms").alias("begun_ms"),
            F.max("time_ms").alias("last_ms"),
            F.min_by("seen", "time_ms").alias("first"),
            F.min_by("elected", "time_ms").alias("elected"),
        )
        .where(F.col("elected_ms") - F.col("begun_ms") >= _LASTS_MS)
        .where(F.col("elected_ms") - F.col("last_ms") <= _LASTS_MS)
    )


def _with_controllers(silent: Table, observations: Table) -> Table:
    """Those of whose time brokers tell that they did not reach the controller."""
    away = of_kinds(observations, "controller").where("time_ms is not null")
    away = away.select(
        F.col("broker").alias("told_by"), F.col("time_ms").alias("told_ms"), seen().alias("away")
    )
    meanwhile = F.col("told_ms").between(F.col("begun_ms") - _APART_MS, F.col("elected_ms"))
    named = F.concat(F.lit("broker "), F.coalesce(F.col("told_by").cast("string"), F.lit("?")))
    return (
        silent.join(away, [meanwhile])
        .groupBy(*PARTITION, "leader", "begun_ms", "elected_ms", "first", "elected")
        .agg(
            F.min("told_ms").alias("away_ms"),
            F.max("told_ms").alias("back_ms"),
            F.array_sort(F.collect_set(named)).alias("named"),
            F.min_by("away", "told_ms").alias("away"),
            F.max_by("away", "told_ms").alias("back"),
        )
        .where(F.col("back_ms") - F.col("away_ms") >= (F.col("elected_ms") - F.col("begun_ms")) / 2)
    )


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("away", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_another_leader_is_elected_when_one_is_gone(away: bool) -> None:
    config = {{"broker.session.timeout.ms": "500"}}
    with MockCluster(kafka="{kafka}", brokers=2, topics={{"{topic}": 1}}, config=config) as cluster:
        if away:
            for broker in (1, 2):
                cluster.cut_off(broker, from_=["controller"])
        cluster.kill_broker(cluster.topic("{topic}").partitions[0].leader)
        producer = Producer({{"bootstrap.servers": cluster.bootstrap_servers, "message.timeout.ms": 4_000}})
        errors = []
        producer.produce("{topic}", "1", on_delivery=lambda error, _: errors.append(str(error)))
        producer.flush(30)
        assert errors == ["None"]
"""
)
_AWAY: Final = ("controller-away",)
SEARCH: Final = Search(
    "elections that waited for the controller",
    find,
    (UNANSWERED, "controller"),
    Signature(
        _AWAY,
        "a leader was gone, and for half a minute no other was elected, since brokers could not reach the "
        "controller",
        stories={"controller-away": "the controller was away"},
        reproductions=(
            Reproduction(
                _AWAY,
                "a leader that dies while brokers don't reach the controller",
                "a controller that elects another one",
                template=_TEMPLATE,
            ),
        ),
    ),
)

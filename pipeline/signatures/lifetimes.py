"""`topic-recreated` and `follower-log-lost`: a topic, or a replica's log, that begins anew.

Whoever reads a topic that was deleted and created again meets other records at the same offsets. A broker
whose disk was emptied copies its logs from the leaders.
"""

from typing import Final

from ..consequences import ANYWHERE, BROKER, LATE_MS, LOSSY, TO_USERS, TOPIC, leads
from ..findings import CERTAIN, LIKELY, findings
from ..readers.log_spans import CONTROLLER
from ..reproduction import Reproduction, Template
from ..rows import NO_PARTITION, in_order, of_kinds, seen, sentence
from ..signature import Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F


def find(observations: Table) -> Table:
    logs = of_kinds(observations, "log").where("topic is not null").withColumn("seen", seen())
    return _recreated(logs, observations).unionByName(_lost(logs))


def _recreated(logs: Table, observations: Table) -> Table:
    """Only if a group had committed an offset of the topic: nobody else could tell."""
    window = in_order("topic")
    topics = logs.where(F.col("partition") == NO_PARTITION)
    last = F.lag(F.struct("detail", "time_ms", "seen")).over(window)
    again = topics.withColumn("last", last).where("detail = 'created' and last.detail = 'deleted'")
    commits = of_kinds(observations, "commit").select(
        F.col("topic").alias("_topic"), F.col("group").alias("who"), F.col("time_ms").alias("commit_ms")
    )
    read = [F.col("topic") == F.col("_topic"), F.col("commit_ms") <= F.col("last.time_ms")]
    rows = (
        again.join(commits, read)
        .groupBy("topic", "time_ms", "last", "seen")
        .agg(F.array_sort(F.collect_set("who")).alias("groups"))
    )
    return findings(
        rows,
        signature="topic-recreated",
        confidence=CERTAIN,
        why="the controller deleted the topic and created another one of that name",
        summary=sentence(
            "topic {topic} was deleted and created again after {ms} ms; groups that had read it: {names}",
            ms=F.col("time_ms") - F.col("last.time_ms"),
            names=F.array_join("groups", ", "),
        ),
        evidence=[F.col("last.seen"), F.col("seen")],
        ids=["KIP-516"],
    )


def _lost(logs: Table) -> Table:
    window = Window.partitionBy("broker", "topic", "partition").orderBy("time_ms", "position")
    own = logs.where((F.col("partition") != NO_PARTITION) & F.col("broker").isNotNull())
    last = F.lag(F.struct("detail", "seen")).over(window)
    again = own.withColumn("last", last).where("detail = 'created' and last.detail = 'created'")
    rows = again.groupBy("broker").agg(
        F.count_distinct("topic", "partition").alias("logs"),
        F.min_by("seen", "time_ms").alias("seen"),
        F.min_by(F.col("last.seen"), "time_ms").alias("last"),
    )
    return findings(
        rows,
        signature="follower-log-lost",
        confidence=LIKELY,
        why="it created these logs a second time, and had not deleted them: its disk was emptied or replaced",
        summary=sentence("broker {broker} began anew with the logs of {logs} partitions that it had before"),
        evidence=[F.col("last"), F.col("seen")],
    )


_TEMPLATE: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("anew", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_readers_get_all_that_is_written_after_a_topic_was_emptied(anew: bool) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        position = max(cluster.produce("{topic}", str(number)).offset for number in range(5)) + 1
        if anew:
            cluster.delete_topic("{topic}")
            cluster.create_topic("{topic}", partitions=1)
        else:
            cluster.delete_records("{topic}", 0)
        written = [cluster.produce("{topic}", str(number)) for number in range(10)]
        assert cluster.records("{topic}", offset=position) == written
"""
)
_AGAIN: Final = ("topic-recreated",)
_LOST: Final = ("follower-log-lost",)
_MEANINGLESS: Final = "offsets, epochs and producers of the old topic mean nothing in the new one"
SEARCH: Final = Search(
    "logs that begin anew",
    find,
    ("log",),
    Signature(
        _AGAIN,
        "a topic that groups had read was deleted and created again",
        known_as="KIP-516",
        rules=leads(_AGAIN, TO_USERS, TOPIC, LATE_MS, _MEANINGLESS),
        alike=("unclean-election", "truncation-gap"),
        looked_for=Alike("a topic that was created anew", _AGAIN, CONTROLLER, "log", ("topic",)),
        reproductions=(
            Reproduction(
                _AGAIN,
                "a topic that is deleted and created again",
                "a topic whose records are deleted",
                template=_TEMPLATE,
            ),
        ),
    ),
    Signature(
        _LOST,
        "a broker began anew with logs that it had before: its disk was emptied",
        rules=(
            *leads(_LOST, LOSSY, ANYWHERE, LATE_MS, "a replica that began anew was elected"),
            *leads(_LOST, ("follower-failure",), BROKER, LATE_MS, "its logs were gone"),
        ),
        alike=("unclean-election",),
    ),
)

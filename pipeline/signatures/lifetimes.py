"""`topic-recreated`, `follower-log-lost` and `only-replica-lost`: a topic, or a replica's log, that begins
anew.

Whoever reads a topic that was deleted and created again meets other records at the same offsets. A broker
whose disk was emptied copies its logs from the leaders; the records of a log that it leads itself, because no
other replica is in sync, are gone.
"""

from typing import Final

from ..consequences import ANYWHERE, BROKER, LATE_MS, LOSSY, TO_USERS, TOPIC, leads, of_loss
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..readers.log_spans import CONTROLLER
from ..reproduction import Reproduction, Template
from ..rows import (
    NO_PARTITION,
    PARTITION,
    after,
    in_order,
    of_kinds,
    place,
    prefixed,
    row,
    same,
    seen,
    sentence,
)
from ..signature import Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_TWICE: Final = (
    "it created these logs a second time, and had not deleted them: its disk was emptied or replaced"
)


def find(observations: Table) -> Table:
    logs = of_kinds(observations, "log").where("topic is not null").withColumn("seen", seen())
    again = _again(logs).persist()
    led = _led_anew(again, observations).persist()
    read = _read(led, observations).persist()
    return _recreated(logs, observations).unionByName(_lost(again, led, read)).unionByName(_gone(read))


def _recreated(logs: Table, observations: Table) -> Table:
    """Only if a group had read the topic, by its commits or by a client's log: nobody else could tell."""
    window = in_order("topic")
    topics = logs.where(F.col("partition") == NO_PARTITION)
    last = F.lag(F.struct("detail", "time_ms", "seen")).over(window)
    again = topics.withColumn("last", last).where("detail = 'created' and last.detail = 'deleted'")
    readers = of_kinds(observations, "commit", "position", "reset", "restore").where("group is not null")
    readers = readers.select(
        F.col("topic").alias("_topic"), F.col("group").alias("who"), F.col("time_ms").alias("read_ms")
    )
    before = [F.col("topic") == F.col("_topic"), F.col("read_ms") <= F.col("last.time_ms")]
    rows = (
        again.join(readers, before)
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


def _again(logs: Table) -> Table:
    """Logs that a broker created a second time, and had not deleted: `last` is the first time."""
    window = Window.partitionBy("broker", "topic", "partition").orderBy("time_ms", "position")
    own = logs.where((F.col("partition") != NO_PARTITION) & F.col("broker").isNotNull())
    last = F.lag(F.struct("detail", "seen")).over(window)
    return own.withColumn("last", last).where("detail = 'created' and last.detail = 'created'")


def _led_anew(again: Table, observations: Table) -> Table:
    """Those that their broker led from the first offset on."""
    leaders = of_kinds(observations, "leader").where("leader = broker and leader_epoch > 0 and offset = 0")
    key = ("broker", *PARTITION)
    leaders = leaders.select(*key, "time_ms", seen().alias("leads"))
    again = again.select(*key, "time_ms", "last", "seen")
    rows = again.unionByName(leaders, allowMissingColumns=True)
    rows = rows.withColumn("nth", F.when(F.col("leads").isNull(), 0).otherwise(1))
    later = after(Window.partitionBy(*key).orderBy("time_ms", "nth"))
    rows = rows.withColumn("led", F.last("leads", True).over(later))
    return rows.where("nth = 0 and led is not null").drop("leads", "nth")


def _read(led: Table, observations: Table) -> Table:
    """Those of them of which a group had read more before: `read` is how far, `committed` its commit."""
    commits = of_kinds(observations, "commit").where("group is not null and offset > 0")
    commits = prefixed(commits, "c_", *PARTITION, "time_ms", "offset", committed=row())
    before = [*same("c_", PARTITION), F.col("c_time_ms") <= F.col("time_ms")]
    # Mostly nobody had read anything: then no rows are read as a whole.
    names = [f"c_{name}" for name in (*PARTITION, "time_ms", "offset")]
    some = led.join(commits.select(*names), before).select(*names).distinct().persist()
    commits = commits.join(some, names, "left_semi")
    return (
        led.join(commits, before)
        .groupBy("broker", *PARTITION, "time_ms", "last", "seen", "led")
        .agg(F.max("c_offset").alias("read"), F.max_by("committed", "c_offset").alias("committed"))
    )


def _gone(read: Table) -> Table:
    return findings(
        read,
        signature="only-replica-lost",
        confidence=LIKELY,
        why="it created the log a second time, and had not deleted it: its disk was emptied or replaced; it "
        "led the partition from the first offset on, so that no other replica in sync had the records",
        summary=sentence(
            "broker {broker} began anew with the log of {at}, which it leads, and no other replica in sync "
            "had the records: {read} records that groups had read are gone",
            at=place(),
        ),
        evidence=[F.col("last.seen"), seen("committed"), F.col("seen"), F.col("led")],
    )


def _lost(again: Table, led: Table, read: Table) -> Table:
    """Of brokers that lost nothing else."""
    again = again.join(prefixed(read, "_", "broker"), same("_", ["broker"]), "left_anti")
    leading = prefixed(led.select("broker").distinct(), "l_", "broker")
    again = again.join(leading, same("l_", ["broker"]), "left")
    rows = again.groupBy("broker", "l_broker").agg(
        F.count_distinct("topic", "partition").alias("logs"),
        F.min_by("seen", "time_ms").alias("seen"),
        F.min_by(F.col("last.seen"), "time_ms").alias("last"),
    )
    return findings(
        rows,
        signature="follower-log-lost",
        **judged(
            If(
                F.col("l_broker").isNotNull(),
                POSSIBLE,
                f"{_TWICE}; it led some of them from the first offset on, and nothing tells whether anybody "
                "had read them before",
            ),
            Else(LIKELY, _TWICE),
        ),
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
_ONE_REPLICA: Final = Template(
    """\
import pytest

from mockbroker import MockCluster, RefusedError

# {story}


@pytest.mark.parametrize("replicas", [pytest.param(1, id="incident"), pytest.param(3, id="prevented")])
def test_records_outlive_the_disk_of_a_broker(replicas: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, clock="manual") as cluster:
        cluster.create_topic("{topic}", partitions=1, replication_factor=replicas)
        written = [cluster.produce("{topic}", str(number)) for number in range(10)]
        cluster.kill_broker(cluster.topic("{topic}").partitions[0].leader)  # its disk never comes back
        cluster.clock.advance(60_000)
        try:
            written.append(cluster.produce("{topic}", "10", timeout=5))
        except RefusedError as error:
            pytest.fail(f"nobody has the records: {{error}}")
        assert cluster.records("{topic}") == written
"""
)
_AGAIN: Final = ("topic-recreated",)
_ONLY: Final = ("only-replica-lost",)
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
        _ONLY,
        "a broker began anew with a log that it leads, because no other replica was in sync: its disk was "
        "emptied, and the records are gone that only it had; how many groups had read",
        stories={"only-replica-lost": "the only replica of a partition was lost"},
        rules=of_loss("only-replica-lost"),
        alike=("unclean-election",),
        reproductions=(Reproduction(_ONLY, "one replica", "three replicas", template=_ONE_REPLICA),),
    ),
    Signature(
        _LOST,
        "a broker began anew with logs that it had before: its disk was emptied",
        rules=(
            *leads(_LOST, LOSSY, ANYWHERE, LATE_MS, "a replica that began anew was elected"),
            *leads(_LOST, ("follower-failure",), BROKER, LATE_MS, "its logs were gone"),
        ),
        alike=("unclean-election",),
        unshown="as long as others have the records, nothing is lost that a test could miss",
    ),
)

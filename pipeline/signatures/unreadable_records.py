"""`record-unreadable`, `partition-paused`: a group does not get past a record.

A client that can't deserialize a record, or whose application fails on it, begins with it again and again.
The group lives, and goes on in other partitions. Not here: a group that stands still in all of them. Only
Java's consumers tell that a partition was paused, when it is taken from them.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..readers.member_messages import UNREADABLE
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, of_kinds, only_if, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_KEY: Final = ("group", *PARTITION)
_LEAST: Final = 10
"""Commits of the same offset."""
_LEAST_MS: Final = 60_000


def find(observations: Table) -> Table:
    commits = of_kinds(observations, "commit").where(
        "group is not null and topic is not null and offset >= 0"
    )
    commits = commits.where("time_ms is not null and (detail is null or detail != 'in a transaction')")
    standing = _standing(commits).persist()
    rows = _with_end(standing, observations)
    rows = _with_others(rows, commits)
    rows = _with_complaints(rows, observations)
    rows = _with_pauses(rows, observations)
    told, paused = F.col("told").isNotNull(), F.col("paused").isNotNull()
    only_paused = paused & ~told
    return findings(
        rows,
        signature=F.when(only_paused, _PAUSED[0]).otherwise(_UNREADABLE[0]),
        **judged(
            If(told, CERTAIN, "a client says that it can't read it, and the group gets no further"),
            If(
                paused,
                LIKELY,
                "its client says that the partition was paused when it was taken from it, and the group went "
                "on elsewhere; why and since when the log of the application would tell",
            ),
            Else(
                POSSIBLE,
                "the group goes on elsewhere; a partition that an application pauses would look the same: "
                "the log of the application would tell",
            ),
        ),
        summary=F.concat(
            F.when(
                only_paused,
                sentence("group {group} had paused {at}, and read nothing after {offset}", at=place()),
            ).otherwise(
                sentence(
                    "group {group} does not get past offset {offset} of {at}, a record that it can't read, "
                    "or on which its application fails",
                    at=place(),
                )
            ),
            only_if(~told & ~paused, ", unless that has paused the partition"),
            sentence(
                ": it committed that {times} times in {took} s, and the log goes to {end}",
                took=F.round((F.col("until") - F.col("since")) / 1000).cast("bigint"),
            ),
        ),
        evidence=[seen("first"), seen("last"), seen("other"), F.col("told"), F.col("paused")],
    )


def _standing(commits: Table) -> Table:
    """Of each group the partitions in which it commits the same offset until the end."""
    at = F.struct("time_ms", "file", "position")
    last = commits.groupBy(*_KEY).agg(F.max_by("offset", at).alias("_offset"))
    last = prefixed(last, "_", *_KEY, _offset=F.col("_offset"))
    again = commits.join(last, [*same("_", _KEY), F.col("offset") == F.col("_offset")])
    each = again.groupBy(*_KEY, "offset").agg(
        F.min("time_ms").alias("since"),
        F.max("time_ms").alias("until"),
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
        # Replicas tell the same.
        F.count_distinct("time_ms").alias("times"),
    )
    long = F.col("until") - F.col("since") >= _LEAST_MS
    return each.where(long & (F.col("times") >= _LEAST)).withColumn("time_ms", F.col("since"))


def _with_end(standing: Table, observations: Table) -> Table:
    """Those behind which there is more: `end` is the end of the log then."""
    ends = of_kinds(observations, "append", "high-watermark").where("topic is not null")
    ends = prefixed(ends, "_", *PARTITION, "time_ms", "end_offset")
    then = [
        *same("_", PARTITION),
        F.col("_time_ms") <= F.col("until"),
        F.col("_end_offset") > F.col("offset"),
    ]
    end = standing.join(ends, then).groupBy(*_KEY).agg(F.max("_end_offset").alias("end"))
    return standing.join(end, list(_KEY))


def _with_others(rows: Table, commits: Table) -> Table:
    """Those whose group goes on in another partition of the topic."""
    others = prefixed(commits, "_", *_KEY, "time_ms", "offset", shown=row())
    pairs = rows.select(*_KEY, "since", "until").join(
        others,
        [
            *same("_", ("group", "topic")),
            F.col("partition") != F.col("_partition"),
            F.col("_time_ms").between(F.col("since"), F.col("until")),
        ],
    )
    went_on = (
        pairs.groupBy(*_KEY, "_partition")
        .agg(
            F.min("_offset").alias("low"),
            F.max("_offset").alias("high"),
            F.max_by("shown", "_time_ms").alias("other"),
        )
        .where("high > low")
        .groupBy(*_KEY)
        .agg(F.max_by("other", "high").alias("other"))
    )
    return rows.join(went_on, list(_KEY))


def _with_complaints(rows: Table, observations: Table) -> Table:
    """`told`: where a client says that it can't read the record."""
    told = of_kinds(observations, "complaint").where(F.col("error") == UNREADABLE)
    told = prefixed(told, "_", *PARTITION, "offset", "time_ms", shown=seen())
    at = (*PARTITION, "offset")
    first = rows.select(*_KEY, "offset").join(told, same("_", at)).groupBy(*_KEY)
    return rows.join(first.agg(F.min_by("shown", "_time_ms").alias("told")), list(_KEY), "left")


def _with_pauses(rows: Table, observations: Table) -> Table:
    """`paused`: where a client of the group says that the partition was paused in the end."""
    said = of_kinds(observations, "paused").where("group is not null and time_ms is not null")
    said = prefixed(said, "_", *_KEY, "time_ms", shown=seen())
    then = [
        *same("_", _KEY),
        F.col("_time_ms").between(F.col("until") - _LEAST_MS, F.col("until") + _LEAST_MS),
    ]
    first = rows.select(*_KEY, "until").join(said, then).groupBy(*_KEY)
    return rows.join(first.agg(F.max_by("shown", "_time_ms").alias("paused")), list(_KEY), "left")


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import DeserializingConsumer
from confluent_kafka.error import ConsumeError

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "value", [pytest.param("two", id="incident"), pytest.param("2", id="prevented")]
)
def test_the_application_gets_past_every_record(value: str) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        for each in ("1", value, "3"):
            cluster.produce("{topic}", each)
        consumer = DeserializingConsumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "auto.offset.reset": "earliest",
                "value.deserializer": lambda written, _: int(written),
            }}
        )
        consumer.subscribe(["{topic}"])
        try:
            read = [consumer.poll(30).value() for _ in range(3)]
        except ConsumeError as error:
            pytest.fail(f"it gets no further: {{error}}")
        finally:
            consumer.close()
        assert read == [1, 2, 3]
"""
)
_PAUSES: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, TopicPartition

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("paused", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_the_group_gets_all_records(paused: bool) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "auto.offset.reset": "earliest",
            }}
        )
        consumer.subscribe(["{topic}"])
        cluster.produce("{topic}", "1")
        assert consumer.poll(30) is not None
        if paused:
            consumer.pause([TopicPartition("{topic}", 0)])
        cluster.produce("{topic}", "2")
        read = consumer.poll(5)
        consumer.close()
        assert read is not None
"""
)
_UNREADABLE: Final = ("record-unreadable",)
_PAUSED: Final = ("partition-paused",)
SEARCH: Final = Search(
    "records that a group does not get past",
    find,
    ("commit",),
    Signature(
        _UNREADABLE,
        "a group commits the same offset of a partition again and again, and goes on in others: it can't "
        "read the record there, or its application fails on it",
        stories={"record-unreadable": "{who} did not get past a record"},
        reproductions=(
            Reproduction(
                _UNREADABLE,
                "a record that the application can't read",
                "records that it can read",
                template=_TEMPLATE,
            ),
        ),
    ),
    Signature(
        _PAUSED,
        "a group commits the same offset of a partition again and again, and goes on in others: its client "
        "says that it had paused that one",
        stories={"partition-paused": "{who} had paused a partition"},
        reproductions=(
            Reproduction(
                _PAUSED,
                "a partition that stays paused",
                "a partition that is not paused",
                template=_PAUSES,
            ),
        ),
    ),
)

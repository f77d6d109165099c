"""`commit-past-log-end`: somebody committed an offset for a group that the partition never had, such as one
of another cluster, or of another partition.

Its members are out of range there, and are reset. What a leader lost looks the same, but for its epoch: a
leader does not go back within its own, and so the log never had more than what it appended next.
"""

from typing import Final

from ..consequences import BEHIND, GROUP, LATE_MS, SET_BACK, leads
from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, SEEN, first_of, of_kinds, place, prefixed, row, same, seen, sentence
from ..signature import OFFSETS, Alike, Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_NAMES: Final = ("commit-past-log-end",)
_KEY: Final = ("group", *PARTITION, "offset")


def find(observations: Table) -> Table:
    commits = of_kinds(observations, "commit").where("group is not null and topic is not null")
    commits = commits.where("time_ms is not null and (detail is null or detail != 'in a transaction')")
    # A broker's high watermark and what clients are told are later than the commit; segments have all.
    appends = of_kinds(observations, "append").where("source = 'segment' and topic is not null")
    appends = appends.where("time_ms is not null and leader_epoch is not null").select(*SEEN)
    tops = appends.groupBy(*PARTITION).agg(F.max("end_offset").alias("_top"))
    tops = prefixed(tops, "_", *PARTITION, _top=F.col("_top"))
    places = (*_KEY, "time_ms", "file", "position")
    found = commits.select(*places).join(tops, same("_", PARTITION)).where(F.col("offset") > F.col("_top"))
    above = first_of(
        commits.select(*SEEN).join(found.select(*places).persist(), places, "left_semi"),
        Window.partitionBy(*_KEY).orderBy("time_ms", "file", "position"),
    )
    above = above.withColumn("commit", row()).select(*_KEY, "time_ms", "commit").persist()
    batches = prefixed(appends, "_", *PARTITION, "time_ms", "leader_epoch", "end_offset", shown=row())
    pairs = above.join(batches, same("_", PARTITION)).persist()
    at = F.struct("_end_offset", "_time_ms")
    before = pairs.where(F.col("_time_ms") <= F.col("time_ms")).groupBy(*_KEY)
    was = before.agg(F.max_by("shown", at).alias("was"), F.max("time_ms").alias("time_ms"))
    after = pairs.where(F.col("_time_ms") > F.col("time_ms")).groupBy(*_KEY)
    then = after.agg(F.min_by("shown", at).alias("then"))
    rows = was.join(then, list(_KEY)).where("then.leader_epoch = was.leader_epoch")
    rows = rows.where("then.offset >= was.end_offset").join(above.drop("time_ms"), list(_KEY))
    rows = _with_refusals(rows, observations)
    return findings(
        rows,
        signature="commit-past-log-end",
        **judged(
            If(
                F.col("refused").isNotNull(),
                CERTAIN,
                "a member was out of range there, and the same leader appended below it before and after",
            ),
            Else(LIKELY, "the same leader appended below it before and after"),
        ),
        summary=sentence(
            "somebody committed {offset} for group {group} in {at}, whose log ended at {end}: no leader had "
            "lost anything",
            at=place(),
            end=F.col("was.end_offset"),
        ),
        evidence=[seen("was"), seen("commit"), seen("then"), F.col("refused")],
    )


def _with_refusals(rows: Table, observations: Table) -> Table:
    """With the first time that a client was out of range at that offset."""
    refused = of_kinds(observations, "refused").where("error = 'OFFSET_OUT_OF_RANGE' and offset is not null")
    refused = prefixed(refused, "_", *PARTITION, "offset", "time_ms", shown=seen())
    pairs = rows.select(*_KEY).join(refused, same("_", (*PARTITION, "offset")))
    first = pairs.groupBy(*_KEY).agg(F.min_by("shown", "_time_ms").alias("refused"))
    return rows.join(first, list(_KEY), "left")


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, TopicPartition

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("offset", [pytest.param(5_000, id="incident"), pytest.param(5, id="prevented")])
def test_the_group_goes_on_where_it_was(offset: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        for number in range(6):
            cluster.produce("{topic}", str(number))
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "auto.offset.reset": "earliest",
            }}
        )
        consumer.commit(offsets=[TopicPartition("{topic}", 0, offset)], asynchronous=False)
        consumer.subscribe(["{topic}"])
        (first,) = consumer.consume(1, timeout=30)
        consumer.close()
        assert first.value() == b"5"
"""
)
SEARCH: Final = Search(
    "commits above the log end",
    find,
    ("commit",),
    Signature(
        _NAMES,
        "an offset was committed for a group that the partition never had",
        stories={"commit-past-log-end": "{who} was given an offset that does not exist"},
        rules=(
            *leads(_NAMES, (*SET_BACK, "offset-rewind", *BEHIND), GROUP, LATE_MS, "it is out of range there"),
        ),
        alike=("unclean-election", "truncation-gap"),
        looked_for=Alike("a commit above the log end", _NAMES, OFFSETS),
        reproductions=(
            Reproduction(
                _NAMES,
                "a committed offset that the log does not have",
                "a committed offset that it has",
                template=_TEMPLATE,
            ),
        ),
    ),
)

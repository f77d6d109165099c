"""`reassignment-stuck`: a partition is to move to a broker that is away: its reassignment does not end.

It holds up the next ones, and no client notices. A move that takes long, because there is much to copy, is no
finding.
"""

from functools import reduce
from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, SEEN, first_of, of_kinds, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
_AWAY: Final = ("in controlled shutdown", "fenced", "fenced: its session timed out", "state SHUTTING_DOWN")
_HERE: Final = ("unfenced", "state STARTED", "started")
_ADDED: Final = [rf"^adding (?:\d+, ){{{nth}}}(\d+)" for nth in range(3)]
"""As many of the brokers that are added are looked at."""
_COMPLETED: Final = "completed"


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "reassignment").where("topic is not null and time_ms is not null")
    rows = rows.where("source = 'broker-log'").select(*SEEN)
    newest = Window.partitionBy(*PARTITION).orderBy("ago", "file", "position")
    last = first_of(rows.withColumn("ago", F.lit(0) - F.col("time_ms")), newest)
    last = last.where(F.col("detail") != _COMPLETED).persist()
    added = [last.withColumn("added", F.regexp_extract("detail", each, 1)) for each in _ADDED]
    pending = reduce(Table.unionByName, added).where("added != ''")
    pending = pending.withColumn("added", F.col("added").cast("int"))
    pending = pending.join(_away(observations), [F.col("added") == F.col("_broker")])
    since = F.when(F.col("away_ms") > F.col("time_ms"), F.col("away_ms")).otherwise(F.col("time_ms"))
    pending = pending.withColumns({"took": F.col("until_ms") - since, "goes_on": F.col("own_ms") - since})
    pending = pending.where(F.col("took") >= _LASTS_MS)
    pending = first_of(pending, Window.partitionBy(*PARTITION).orderBy("added"))
    return findings(
        pending.withColumn("broker", F.col("added")),
        signature="reassignment-stuck",
        **judged(
            If(
                F.col("goes_on") >= _LASTS_MS,
                CERTAIN,
                "the controller's log goes on without an end of it, and the broker did not come back",
            ),
            Else(LIKELY, "the controller's log tells of no end of it, and of nothing later"),
        ),
        summary=sentence(
            "the reassignment of {at} ({detail}) had not ended after {seconds} s: broker {broker} was away",
            at=place(),
            seconds=F.floor(F.col("took") / 1000).cast("bigint"),
        ),
        evidence=[seen(), F.col("left"), seen("last")],
    )


def _away(observations: Table) -> Table:
    """Brokers that were away at the end of the controller's log: since when (`away_ms`), where it says so
    (`left`), when it ends (`own_ms`), and the last that any broker's file tells (`until_ms`, `last`)."""
    told = observations.where(
        "source in ('broker-log', 'segment') and client is null and time_ms is not null"
    )
    rows = told.where("source = 'broker-log'").select(*SEEN)
    moved = of_kinds(rows, "reassignment").select(F.col("file").alias("_file")).distinct()
    own = rows.join(moved, [F.col("file") == F.col("_file")], "left_semi").persist()
    at = F.struct("time_ms", "file", "position")
    ends = own.groupBy("file").agg(F.max("time_ms").alias("own_ms"))
    ends = prefixed(ends, "", "own_ms", of=F.col("file"), one=F.lit(1))
    last = told.withColumn("one", F.lit(1)).groupBy("one")
    ends = ends.join(last.agg(F.max("time_ms").alias("until_ms"), F.max_by(row(), at).alias("last")), "one")
    states = own.where("kind = 'broker' and broker is not null")
    states = states.where(F.col("detail").isin(*_AWAY, *_HERE))
    here = states.where(F.col("detail").isin(*_HERE)).groupBy("broker")
    back = prefixed(here.agg(F.max("time_ms").alias("back_ms")), "_", "broker", "back_ms")
    gone = states.where(F.col("detail").isin(*_AWAY)).join(back, same("_", ("broker",)), "left")
    gone = gone.where(F.col("_back_ms").isNull() | (F.col("time_ms") > F.col("_back_ms")))
    first = first_of(gone, Window.partitionBy("broker").orderBy("time_ms", "file", "position"))
    first = prefixed(first, "_", "broker", away_ms=F.col("time_ms"), left=seen(), by=F.col("file"))
    return first.join(ends, [F.col("by") == F.col("of")]).drop("by", "of", "one")


_NAMES: Final = ("reassignment-stuck",)
_TEMPLATE: Final = Template(
    """\
import time

import pytest
from kafka import KafkaAdminClient, TopicPartition

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("stopped", [pytest.param(3, id="incident"), pytest.param(2, id="prevented")])
def test_a_partition_moves_to_broker_3(stopped: int) -> None:
    config = {{"default.replication.factor": "2"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        cluster.stop_broker(stopped)
        there = cluster.bootstrap_servers.split(",")[0]
        admin = KafkaAdminClient(bootstrap_servers=there)
        moved = TopicPartition("{topic}", 0)
        admin.alter_partition_reassignments({{moved: [1, 3]}})
        limit = time.monotonic() + 5
        while admin.list_partition_reassignments([moved]) and time.monotonic() < limit:
            time.sleep(0.1)
        pending = admin.list_partition_reassignments([moved])
        admin.close()
        assert not pending
"""
)
SEARCH: Final = Search(
    "reassignments that do not end",
    find,
    ("reassignment",),
    Signature(
        _NAMES,
        "a partition's reassignment does not end for half a minute, because a broker that gets it is away",
        stories={"reassignment-stuck": "a reassignment did not end"},
        reproductions=(
            Reproduction(
                _NAMES,
                "a reassignment to a broker that is away",
                "a reassignment to one that is there",
                template=_TEMPLATE,
            ),
        ),
    ),
)

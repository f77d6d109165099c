"""`too-few-in-sync`: a partition refused producers, because fewer of its replicas were in sync than
`min.insync.replicas` demands.

A restart of a broker does that for some seconds, which clients bridge by sending again. Only what takes half
a minute is a finding.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..readers.refusal_messages import TOO_FEW
from ..refusals import refused_records
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, first_of, in_order, of_kinds, only_if, place, prefixed, seen, sentence, up_to
from ..settings import with_setting
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
_RUN: Final = ("client", *PARTITION, "run")
_APART_MS: Final = 60_000
"""Refusals that lie further apart don't belong together."""
_BEFORE_MS: Final = 600_000
_SKEW_MS: Final = 1_000
_SAID: Final = r"ISR\D*(\d+).* is insufficient to satisfy the min\.isr requirement of (\d+)"
_LEFT: Final = ("in controlled shutdown", "state SHUTTING_DOWN", "fenced: its session timed out")
_BACK: Final = ("unfenced", "state STARTED", "started")


def find(observations: Table) -> Table:
    rows = refused_records(observations, *TOO_FEW)
    rows = rows.withColumn("client", F.when(F.col("topic").isNull(), F.col("client")))
    window = in_order("client", *PARTITION)
    apart = F.col("time_ms") - F.lag("time_ms").over(window)
    rows = rows.withColumn("begins", F.when(apart <= _APART_MS, 0).otherwise(1))
    rows = rows.withColumn("run", F.sum("begins").over(up_to(window)))
    said = F.when(F.col("detail").rlike(_SAID), F.struct("time_ms", "detail", "seen"))
    rows = rows.withColumn("said", said)
    runs = rows.groupBy("client", *PARTITION, "run").agg(
        F.min("time_ms").alias("begun_ms"),
        F.max("time_ms").alias("ended_ms"),
        F.count("file").alias("told"),
        F.count("said").alias("times"),
        F.min_by("seen", "time_ms").alias("first"),
        F.max_by("seen", "time_ms").alias("last"),
        F.max_by("detail", F.when(F.col("said").isNotNull(), F.col("time_ms"))).alias("detail"),
        F.min_by("seen", F.when(F.col("said").isNotNull(), F.col("time_ms"))).alias("said"),
    )
    # Clients are told of the same.
    runs = runs.withColumn("times", F.when(F.col("times") > 0, F.col("times")).otherwise(F.col("told")))
    runs = runs.where(F.col("ended_ms") - F.col("begun_ms") >= _LASTS_MS).persist()
    placed = prefixed(runs.where("topic is not null"), "_", "begun_ms", "ended_ms")
    at_once = [F.col("_begun_ms") <= F.col("ended_ms"), F.col("begun_ms") <= F.col("_ended_ms")]
    unplaced = runs.where("topic is null").join(placed, at_once, "left_anti")
    runs = runs.where("topic is not null").unionByName(unplaced)
    runs = with_setting(runs, observations, "min.insync.replicas", "begun_ms", _RUN)
    least = F.regexp_extract("detail", _SAID, 2)
    runs = runs.withColumn("act", F.when(F.col("value") == least, F.col("act"))).drop("value")
    rows = _with_brokers(runs, observations)
    by_leader = F.col("said").isNotNull()
    return findings(
        rows,
        signature="too-few-in-sync",
        **judged(
            If(by_leader, CERTAIN, "its leader says how many were in sync, and how many have to be"),
            Else(LIKELY, "clients were told so; the log of the leader is not among the files"),
        ),
        summary=F.concat(
            F.when(F.col("topic").isNull(), sentence("producers of client {client} were refused")).otherwise(
                sentence("{at} refused producers", at=place())
            ),
            sentence(
                " {times} time{s} in {seconds} s",
                s=F.when(F.col("times") == 1, "").otherwise("s"),
                seconds=F.floor((F.col("ended_ms") - F.col("begun_ms")) / 1000).cast("bigint"),
            ),
            only_if(
                by_leader,
                ": {isr} of its replicas {was} in sync, and min.insync.replicas is {least}",
                isr=F.regexp_extract("detail", _SAID, 1),
                was=F.when(F.regexp_extract("detail", _SAID, 1) == "1", "was").otherwise("were"),
                least=F.regexp_extract("detail", _SAID, 2),
            ),
            only_if(F.col("act").isNotNull(), "; somebody had set it to that {earlier} s before"),
            only_if(F.col("broker").isNotNull(), "; broker {broker} was not there"),
        ),
        evidence=[F.col("act"), F.col("left"), F.col("said"), F.col("first"), F.col("last")],
    )


def _with_brokers(runs: Table, observations: Table) -> Table:
    """With the broker that had left last before, and was not back."""
    states = of_kinds(observations, "broker").where("broker is not null and time_ms is not null")
    gone = states.where(F.col("detail").isin(*_LEFT))
    gone = prefixed(gone, "_", "broker", "time_ms", left=seen())
    back = states.where(F.col("detail").isin(*_BACK))
    back = back.select(F.col("broker").alias("_back"), F.col("time_ms").alias("_back_ms"))
    ago = F.col("begun_ms") - F.col("_time_ms")
    rows = runs.join(gone, [ago.between(-_SKEW_MS, _BEFORE_MS)], "left")
    returned = [
        F.col("_back") == F.col("_broker"),
        F.col("_back_ms") > F.col("_time_ms"),
        F.col("_back_ms") <= F.col("begun_ms"),
    ]
    here = rows.join(back, returned, "left_semi").select("_broker", F.col("_time_ms").alias("_left_ms"))
    known = [F.col("_broker") == F.col("_here"), F.col("_time_ms") == F.col("_left_ms")]
    here = here.select(F.col("_broker").alias("_here"), "_left_ms")
    rows = rows.join(here.withColumn("was_back", F.lit(True)), known, "left")
    away = F.col("was_back").isNull() & F.col("_broker").isNotNull()
    rows = rows.withColumns(
        {
            "broker": F.when(away, F.col("_broker")),
            "left": F.when(away, F.col("left")),
            "ago": F.when(away, F.col("begun_ms") - F.col("_time_ms")).otherwise(F.lit(2 * _BEFORE_MS)),
        }
    )
    return first_of(rows, Window.partitionBy(*_RUN).orderBy("ago", "broker"))


_NAMES: Final = ("too-few-in-sync",)
_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("brokers", [pytest.param(2, id="incident"), pytest.param(3, id="prevented")])
def test_producers_write_on_while_a_broker_is_away(brokers: int) -> None:
    config = {{"min.insync.replicas": "2", "default.replication.factor": str(brokers)}}
    with MockCluster(kafka="{kafka}", brokers=brokers, topics={{"{topic}": 1}}, config=config) as cluster:
        cluster.stop_broker(2)
        producer = Producer({{"bootstrap.servers": cluster.bootstrap_servers, "message.timeout.ms": 3_000}})
        errors = []
        producer.produce("{topic}", "1", on_delivery=lambda error, _: errors.append(str(error)))
        producer.flush(30)
        assert errors == ["None"]
"""
)
SEARCH: Final = Search(
    "partitions with too few replicas in sync",
    find,
    ("refused",),
    Signature(
        _NAMES,
        "a partition refused producers for half a minute, because fewer replicas were in sync than "
        "min.insync.replicas demands",
        stories={"too-few-in-sync": "too few replicas were in sync"},
        reproductions=(
            Reproduction(
                _NAMES,
                "as many replicas as min.insync.replicas, and a broker that is away",
                "one replica more",
                template=_TEMPLATE,
            ),
        ),
    ),
)

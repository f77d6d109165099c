"""`record-too-large`: a producer's records are refused, because they are larger than the topic takes.

Clients do not send such records again: they are lost unless the application keeps them. Brokers do not log
it.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..readers.refusal_messages import TOO_LARGE
from ..refusals import refused_records
from ..reproduction import Reproduction, Template
from ..rows import first_of, of_kinds, only_if, place, prefixed, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LIMIT: Final = r"max\.message\.bytes = (\d+)"


def find(observations: Table) -> Table:
    rows = refused_records(observations, *TOO_LARGE)
    who = F.coalesce(F.concat_ws("-", "topic", F.col("partition").cast("string")), F.lit(""))
    rows = rows.withColumn("who", F.when(F.col("topic").isNull(), F.col("client")).otherwise(who))
    # A library and its application may both tell of each.
    by_file = rows.groupBy("who", "file").agg(
        F.max("topic").alias("topic"),
        F.max("partition").alias("partition"),
        F.max("client").alias("client"),
        F.count("time_ms").alias("times"),
        F.min("time_ms").alias("time_ms"),
        F.min_by("seen", "position").alias("first"),
        F.max_by("seen", "position").alias("last"),
    )
    told = by_file.groupBy("who").agg(
        F.max("topic").alias("topic"),
        F.max("partition").alias("partition"),
        F.max("client").alias("client"),
        F.max("times").alias("times"),
        F.min("time_ms").alias("time_ms"),
        F.collect_list("first").alias("firsts"),
        F.collect_list("last").alias("lasts"),
    )
    limits = _limits(observations).persist()
    named = told.where("topic is not null").withColumn("told", F.lit(True))
    named = named.join(limits, "topic", "left")
    only = (
        limits.withColumn("_one", F.lit(1))
        .groupBy("_one")
        .agg(
            F.min("topic").alias("topic"),
            F.max("topic").alias("_other"),
            F.max("limit").alias("limit"),
            F.max_by("set", "limit").alias("set"),
        )
    )
    only = only.where(F.col("topic") == F.col("_other"))
    unnamed = told.where("topic is null").drop("topic")
    unnamed = unnamed.withColumns({"told": F.lit(False), "_one": F.lit(1)})
    unnamed = unnamed.join(only.drop("_other"), "_one", "left")
    rows = named.unionByName(unnamed.drop("_one"))
    limited = F.col("limit").isNotNull()
    return findings(
        rows,
        signature="record-too-large",
        **judged(
            If(
                F.col("told") & limited,
                CERTAIN,
                "the broker said so, and the topic's max.message.bytes was set to that",
            ),
            If(limited, LIKELY, "the broker said so, and only this topic has a limit of its own"),
            Else(LIKELY, "the broker said so; which limit the topic has is not told"),
        ),
        summary=F.concat(
            only_if(F.col("client").isNotNull(), "client {client} was refused"),
            only_if(F.col("client").isNull(), "a producer was refused"),
            sentence(" {times} time{s}", s=F.when(F.col("times") == 1, "").otherwise("s")),
            only_if(F.col("told"), " in {at}", at=place()),
            F.lit(": its records are larger than "),
            F.when(limited, sentence("the {limit} bytes that topic {topic} takes")).otherwise(
                "the topic or the broker takes"
            ),
        ),
        evidence=F.concat(F.array(F.col("set")), "firsts", "lasts"),
    )


def _limits(observations: Table) -> Table:
    """The last limit that was set for each topic."""
    rows = of_kinds(observations, "config").where("topic is not null")
    rows = rows.where(F.col("detail").rlike(_LIMIT)).withColumn("ago", F.lit(0) - F.col("time_ms"))
    rows = rows.withColumn("limit", F.regexp_extract("detail", _LIMIT, 1).cast("bigint"))
    last = first_of(rows.withColumn("set", seen()), Window.partitionBy("topic").orderBy("ago", "position"))
    return prefixed(last, "", "topic", "limit", "set")


_NAMES: Final = ("record-too-large",)
_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "limit", [pytest.param("2000", id="incident"), pytest.param("10000", id="prevented")]
)
def test_a_record_is_written(limit: str) -> None:
    config = {{"message.max.bytes": limit}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        producer = Producer({{"bootstrap.servers": cluster.bootstrap_servers}})
        errors = []
        producer.produce("{topic}", "1" * 5_000, on_delivery=lambda error, _: errors.append(str(error)))
        producer.flush(30)
        assert errors == ["None"]
"""
)
SEARCH: Final = Search(
    "records that are too large",
    find,
    ("refused",),
    Signature(
        _NAMES,
        "a producer's records were refused, because they are larger than the topic takes",
        stories={"record-too-large": "records were too large"},
        reproductions=(
            Reproduction(
                _NAMES,
                "max.message.bytes below the size of a record",
                "max.message.bytes above it",
                template=_TEMPLATE,
            ),
        ),
    ),
)

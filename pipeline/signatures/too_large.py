"""`record-too-large`: a producer's records are refused, because they are larger than the topic takes.

Clients do not send such records again: they are lost unless the application keeps them. Brokers do not log
it.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..readers.refusal_messages import TOO_LARGE
from ..refusals import refused_records
from ..reproduction import Reproduction, Template
from ..rows import of_kinds, only_if, place, sentence
from ..settings import with_setting
from ..signature import Search, Signature
from ..tables import Table
from ..tables import functions as F

_LIMIT: Final = "max.message.bytes"
_BEFORE_S: Final = 600


def find(observations: Table) -> Table:
    rows = refused_records(observations, *TOO_LARGE)
    who = F.coalesce(F.concat_ws("-", "topic", F.col("partition").cast("string")), F.lit(""))
    rows = rows.withColumn("who", F.when(F.col("topic").isNull(), F.col("client")).otherwise(who))
    # A library and its application may both tell of each.
    by_file = rows.groupBy("who", "client", "file").agg(
        F.max("topic").alias("topic"),
        F.max("partition").alias("partition"),
        F.count("time_ms").alias("times"),
        F.min("time_ms").alias("time_ms"),
        F.min_by("seen", "position").alias("first"),
        F.max_by("seen", "position").alias("last"),
    )
    by_client = by_file.groupBy("who", "client").agg(
        F.max("topic").alias("topic"),
        F.max("partition").alias("partition"),
        F.max("times").alias("times"),
        F.min("time_ms").alias("time_ms"),
        F.min_by("first", "time_ms").alias("first"),
        F.max_by("last", "time_ms").alias("last"),
    )
    of_client = F.when(F.col("client").isNotNull(), F.col("times"))
    told = by_client.groupBy("who").agg(
        F.max("topic").alias("topic"),
        F.max("partition").alias("partition"),
        F.count("client").alias("clients"),
        F.max("client").alias("client"),
        F.array_join(F.array_sort(F.collect_set("client")), ", ").alias("names"),
        F.coalesce(F.sum(of_client), F.max("times")).cast("bigint").alias("times"),
        F.min("time_ms").alias("time_ms"),
        F.collect_list("first").alias("firsts"),
        F.collect_list("last").alias("lasts"),
    )
    # What a library logs may not name its client.
    told = told.withColumn("client", F.when(F.col("clients") == 1, F.col("client")))
    named = told.where("topic is not null").withColumn("told", F.lit(True))
    unnamed = told.where("topic is null").drop("topic").withColumns({"told": F.lit(False), "_one": F.lit(1)})
    unnamed = unnamed.join(_only_limited(observations), "_one", "left").drop("_one")
    rows = named.unionByName(unnamed)
    rows = with_setting(rows, observations, _LIMIT, "time_ms", ("who",), soon=False)
    limited = F.col("value").isNotNull()
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
            F.when(F.col("clients") > 1, sentence("clients {names} were refused"))
            .when(F.col("clients") == 1, sentence("client {client} was refused"))
            .otherwise("a producer was refused"),
            sentence(" {times} time{s}", s=F.when(F.col("times") == 1, "").otherwise("s")),
            only_if(F.col("told"), " in {at}", at=place()),
            F.when(F.col("clients") > 1, ": their").otherwise(": its"),
            F.lit(" records are larger than "),
            F.when(limited, sentence("the {value} bytes that topic {topic} takes")).otherwise(
                "the topic or the broker takes"
            ),
            only_if(
                F.col("earlier") <= _BEFORE_S,
                "; somebody had set max.message.bytes to that {earlier} s before",
            ),
        ),
        evidence=F.concat(F.array(F.col("act")), "firsts", "lasts"),
    )


def _only_limited(observations: Table) -> Table:
    """The topic with a limit of its own, if there is only one."""
    rows = of_kinds(observations, "config").where("topic is not null")
    rows = rows.where(F.col("detail").startswith(f"{_LIMIT} = ")).withColumn("_one", F.lit(1))
    only = rows.groupBy("_one").agg(F.min("topic").alias("topic"), F.max("topic").alias("_other"))
    return only.where(F.col("topic") == F.col("_other")).drop("_other")


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

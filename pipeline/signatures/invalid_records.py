"""`records-invalid`: a broker refuses a producer's records, because they are not what the topic takes:
without a key in a compacted topic, or with times too far from its own.

Clients do not send such records again: they are lost unless the application keeps them.
"""

from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..readers.refusal_messages import INVALID
from ..refusals import refused_records
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, first_of, of_kinds, only_if, place, prefixed, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_KEYLESS: Final = "Compacted topic cannot accept message without key"
_TIME: Final = r"Timestamp (\d+) of message"
_COMPACTED: Final = r"^cleanup\.policy = .*compact"
_BY_POLICY: Final = "the broker said why, and the files have the policy"
_BY_TIME: Final = "the broker said so, and named the time of a record"
_HOUR_MS: Final = 3_600_000


def find(observations: Table) -> Table:
    rows = refused_records(observations, *INVALID, brokers_log=True)
    where = F.concat_ws("-", "topic", F.col("partition").cast("string"))
    rows = rows.withColumn("who", F.when(F.col("topic").isNull(), F.col("client")).otherwise(where))
    rows = rows.where("who is not null")
    ahead = F.regexp_extract("detail", _TIME, 1)
    ahead = F.when(F.col("detail").rlike(_TIME), ahead.cast("bigint") - F.col("time_ms"))
    keyless = F.when(F.col("detail").startswith(_KEYLESS), F.lit(1))
    rows = rows.withColumns({"ahead": ahead, "keyless": keyless})
    names = (*PARTITION, "client", "keyless", "ahead")
    # A library, its application and a broker may all tell of each.
    by_file = rows.groupBy("who", "error", "file").agg(
        *(F.max(name).alias(name) for name in names),
        F.count("position").alias("times"),
        F.min("time_ms").alias("since_ms"),
        F.max("time_ms").alias("until_ms"),
        F.min_by("seen", "position").alias("first"),
        F.max_by("seen", "position").alias("last"),
    )
    told = by_file.groupBy("who", "error").agg(
        *(F.max(name).alias(name) for name in (*names, "times", "until_ms")),
        F.min("since_ms").alias("since_ms"),
        F.collect_list("first").alias("firsts"),
        F.collect_list("last").alias("lasts"),
    )
    rows = _with_act(told, observations)
    by_policy = F.col("keyless").isNotNull()
    timely = F.col("ahead").isNotNull()
    off = F.round(F.abs(F.col("ahead")) / _HOUR_MS).cast("bigint")
    return findings(
        rows,
        signature="records-invalid",
        **judged(
            If(
                by_policy & F.col("act").isNotNull(),
                CERTAIN,
                _BY_POLICY,
            ),
            If(timely, CERTAIN, _BY_TIME),
            Else(LIKELY, "the broker said that they are invalid; why it is so is not told"),
        ),
        summary=F.concat(
            F.when(F.col("topic").isNotNull(), sentence("{at} refused", at=place())).otherwise(
                sentence("client {client} was refused")
            ),
            sentence(
                " records {times} time{s} in {took} s with {error}",
                s=F.when(F.col("times") == 1, "").otherwise("s"),
                took=F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint"),
            ),
            only_if(by_policy, ": they have no key, and the topic is compacted"),
            only_if(F.col("act").isNotNull() & by_policy, " since {setting}"),
            only_if(
                timely,
                ": their time is {off} h {side} the broker's, more than "
                "message.timestamp.{side}.max.ms allows",
                off=off,
                side=F.when(F.col("ahead") > 0, "after").otherwise("before"),
            ),
        ),
        evidence=F.concat(F.array(F.col("act")), "firsts", "lasts"),
        ids=F.when(timely, F.array(F.lit("KIP-937"))).otherwise(F.array().cast("array<string>")),
    )


def _with_act(told: Table, observations: Table) -> Table:
    """With the setting by which the topic became compacted."""
    rows = of_kinds(observations, "config").where("topic is not null")
    rows = rows.where(F.col("detail").rlike(_COMPACTED))
    rows = prefixed(rows, "_", "topic", "time_ms", act=seen(), setting=F.col("detail"))
    of = [F.col("topic") == F.col("_topic"), F.col("_time_ms") <= F.col("since_ms")]
    found = told.join(rows, of, "left").withColumn("ago", F.col("since_ms") - F.col("_time_ms"))
    return first_of(found, Window.partitionBy("who", "error").orderBy("ago", "setting"))


_NAMES: Final = ("records-invalid",)
_KEYS: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "policy", [pytest.param("compact", id="incident"), pytest.param("delete", id="prevented")]
)
def test_a_record_without_a_key_is_written(policy: str) -> None:
    config = {{"log.cleanup.policy": policy}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        producer = Producer({{"bootstrap.servers": cluster.bootstrap_servers}})
        errors = []
        producer.produce("{topic}", "1", on_delivery=lambda error, _: errors.append(str(error)))
        producer.flush(30)
        assert errors == ["None"]
"""
)
_TIMES: Final = Template(
    """\
import time

import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("hours", [pytest.param(24, id="incident"), pytest.param(0, id="prevented")])
def test_a_record_is_written_with_the_time_that_its_producer_has(hours: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}) as cluster:
        producer = Producer({{"bootstrap.servers": cluster.bootstrap_servers}})
        errors = []
        at = int(time.time() + hours * 3_600) * 1_000
        producer.produce(
            "{topic}", "1", timestamp=at, on_delivery=lambda error, _: errors.append(str(error))
        )
        producer.flush(30)
        assert errors == ["None"]
"""
)
SEARCH: Final = Search(
    "records that are invalid",
    find,
    ("refused",),
    Signature(
        _NAMES,
        "a producer's records were refused: they have no key in a compacted topic, or a time too far from "
        "the broker's",
        stories={"records-invalid": "records were invalid"},
        reproductions=(
            Reproduction(
                _NAMES,
                "records without keys in a topic with cleanup.policy=compact",
                "cleanup.policy=delete",
                template=_KEYS,
                when="if they have no keys",
                fits=lambda why, evidence: why == _BY_POLICY,
            ),
            Reproduction(
                _NAMES,
                "a producer whose time is a day after the brokers'",
                "a producer whose time is theirs",
                template=_TIMES,
                kafka="4.4",
                when="if their times are off",
                fits=lambda why, evidence: why == _BY_TIME,
            ),
        ),
    ),
)

"""`topic-deleted`: somebody deleted a topic that clients use: they are told so again and again.

A client that leaves the topic alone soon is no finding, nor is a topic that is created again.
"""

from typing import Final

from ..findings import CERTAIN, findings
from ..readers.denial_messages import NO_TOPIC
from ..readers.refusal_messages import GIVEN
from ..reproduction import Reproduction, Template
from ..rows import SEEN, first_of, in_order, of_kinds, prefixed, row, seen, sentence, up_to
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
_APART_MS: Final = 60_000
"""Complaints that lie further apart don't belong together."""
_SKEW_MS: Final = 10_000
_RUN: Final = ("topic", "run")
_NAMES: Final = ("topic-deleted",)


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "complaint").where("time_ms is not null and topic is not null")
    rows = rows.where(F.coalesce(F.col("error") == NO_TOPIC, F.lit(False))).select(*SEEN)
    rows = _with_runs(rows)
    at = F.struct("time_ms", "file", "position")
    told = rows.withColumn("told", F.count("position").over(Window.partitionBy(*_RUN, "file")))
    runs = told.groupBy(*_RUN).agg(
        F.min("time_ms").alias("since_ms"),
        F.max("time_ms").alias("until_ms"),
        F.max("told").alias("times"),
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
    )
    runs = runs.where(F.col("until_ms") - F.col("since_ms") >= _LASTS_MS).persist()
    return findings(
        _with_client(_deleted(runs, observations), observations),
        signature="topic-deleted",
        confidence=CERTAIN,
        why="the log of the controller, or of a broker, says that it was deleted just before",
        summary=sentence(
            "somebody deleted topic {topic}, and for {took} s clients were told that it is not there "
            "({times} times in one log): what they write is refused, and groups get nothing of it",
            took=F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint"),
        ),
        evidence=[F.col("act"), seen("first"), seen("last"), F.col("given")],
    )


def _with_runs(rows: Table) -> Table:
    """With the number of the `run`: a topic may also be missing before it is created."""
    window = in_order("topic")
    apart = F.col("time_ms") - F.lag("time_ms").over(window)
    rows = rows.withColumn("begins", F.when(apart <= _APART_MS, 0).otherwise(1))
    return rows.withColumn("run", F.sum("begins").over(up_to(window)))


def _deleted(runs: Table, observations: Table) -> Table:
    """Those of topics that were deleted before the first of it, with the first line that says so (`act`)."""
    rows = of_kinds(observations, "log").where("detail = 'deleted' and source = 'broker-log'")
    rows = rows.where("topic is not null and time_ms is not null")
    rows = prefixed(rows, "_", "topic", "time_ms", act=seen())
    before = F.col("_time_ms").between(F.col("since_ms") - _LASTS_MS, F.col("since_ms") + _SKEW_MS)
    found = runs.join(rows, [F.col("topic") == F.col("_topic"), before])
    return first_of(found, Window.partitionBy(*_RUN).orderBy("_time_ms", "act.file", "act.position"))


def _with_client(runs: Table, observations: Table) -> Table:
    """With the first time that an application was told so meanwhile (`given`), and its producer (`client`),
    if all are of one."""
    rows = of_kinds(observations, "refused").where("client is not null and time_ms is not null")
    rows = rows.where((F.col("error") == NO_TOPIC) & (F.col("detail") == GIVEN))
    rows = prefixed(rows, "_", "client", "time_ms", given=seen())
    meanwhile = F.col("_time_ms").between(F.col("since_ms"), F.col("until_ms") + _SKEW_MS)
    pairs = runs.select(*_RUN, "since_ms", "until_ms").join(rows, [meanwhile])
    told = pairs.groupBy(*_RUN).agg(
        F.min_by("given", "_time_ms").alias("given"),
        F.min("_client").alias("client"),
        F.max("_client").alias("_other"),
    )
    one = F.when(F.col("client") == F.col("_other"), F.col("client"))
    return runs.join(told.withColumn("client", one).drop("_other"), list(_RUN), "left")


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("deleted", [pytest.param(True, id="incident"), pytest.param(False, id="prevented")])
def test_a_producer_writes_on(deleted: bool) -> None:
    config = {{"auto.create.topics.enable": "false"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        servers = {{"bootstrap.servers": cluster.bootstrap_servers}}
        producer = Producer({{**servers, "message.timeout.ms": 3_000}})
        errors = []
        producer.produce("{topic}", "1")
        producer.flush(30)
        if deleted:
            admin = AdminClient(servers)
            for done in admin.delete_topics(["{topic}"]).values():
                done.result(30)
        producer.produce("{topic}", "2", on_delivery=lambda error, _: errors.append(str(error)))
        producer.flush(30)
        assert errors == ["None"]
"""
)
SEARCH: Final = Search(
    "topics that were deleted",
    find,
    ("complaint",),
    Signature(
        _NAMES,
        "somebody deleted a topic that clients went on to use for half a minute",
        stories={"topic-deleted": "a topic was deleted that was in use"},
        reproductions=(
            Reproduction(_NAMES, "a topic that is deleted", "a topic that is left", template=_TEMPLATE),
        ),
    ),
)

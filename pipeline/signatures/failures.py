"""`broker-unresolved`, `connections-rejected`, `login-refused`, `codec-unknown`,
`response-too-large`: clients try in vain.

Each of them is told by lines that look harmless: clients try again, and brokers reject connections at INFO.
"""

from functools import reduce
from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..left_behind import told as left_behind
from ..left_behind import with_left_behind
from ..readers.denial_messages import (
    ADVERTISES,
    FAILED_LOGIN,
    LOGIN,
    NO_CODEC,
    PASSWORD,
    TOO_LARGE,
    TOO_MANY,
    UNRESOLVED,
)
from ..reproduction import Reproduction, Template
from ..rows import SEEN, first_of, of_kinds, only_if, prefixed, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_MEMBER: Final = r"^(\S+)-[0-9a-f]{8}-[0-9a-f-]{27}(?: |$)"
_LASTS_MS: Final = 30_000
"""What ends before is no finding."""
_BEFORE_MS: Final = 86_400_000
"""How long a client may go on with what it has logged in with."""
_LISTENERS: Final = [rf"^{ADVERTISES}(?:[^,]+, ?){{{nth}}}\w+://([^:,]+):" for nth in range(4)]
"""The hosts of as many listeners are looked at."""


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "complaint", "refused").where("time_ms is not null")
    complaints = F.col("error").isin(UNRESOLVED, TOO_MANY, NO_CODEC, TOO_LARGE, FAILED_LOGIN)
    is_one = F.when(F.col("kind") == "complaint", complaints).otherwise(F.col("error") == LOGIN)
    rows = rows.where(F.coalesce(is_one, F.lit(False))).select(*SEEN).persist()
    long = F.col("until_ms") - F.col("since_ms") >= _LASTS_MS
    unresolved = _runs(rows.where(F.col("error") == UNRESOLVED), "detail").where(long)
    rejected = _runs(rows.where(F.col("error") == TOO_MANY), "detail", "broker").where(long)
    grouped = F.col("group").isNotNull()
    logins = _runs(rows.where((F.col("error") == FAILED_LOGIN) & ~grouped), "detail", "broker").where(long)
    members = _runs(rows.where((F.col("error") == LOGIN) & grouped), "group")
    members = members.withColumn("broker", F.lit(None).cast("int"))
    logins = logins.withColumn("group", F.lit(None).cast("string")).unionByName(members)
    unknown = rows.where((F.col("error") == NO_CODEC) & grouped)
    unknown = _runs(unknown, "detail", "group").withColumn("broker", F.lit(None).cast("int"))
    large = rows.where((F.col("error") == TOO_LARGE) & F.col("client").isNotNull())
    large = _with_group(_runs(large, "detail", "client").where(long), observations)
    return (
        _unresolved(_advertised(unresolved, observations))
        .unionByName(_rejected(rejected))
        .unionByName(_refused(_altered(logins, observations)))
        .unionByName(_unknown(with_left_behind(unknown, observations)))
        .unionByName(_too_large(with_left_behind(large, observations)))
    )


def _runs(rows: Table, *by: str) -> Table:
    """From the first to the last, of which `detail` is; `times` is the most that one file tells, for several
    tell of the same."""
    at = F.struct("time_ms", "file", "position")
    counted = Window.partitionBy(*by, "file")
    told = rows.withColumn("told", F.count("position").over(counted))
    names = [F.max("broker").alias("broker")] if "broker" not in by else []
    names += [F.max_by("detail", at).alias("detail")] if "detail" not in by else []
    return told.groupBy(*by).agg(
        *names,
        F.min("time_ms").alias("since_ms"),
        F.max("time_ms").alias("until_ms"),
        F.max("told").alias("times"),
        F.count_distinct("file").alias("files"),
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
    )


def _advertised(runs: Table, observations: Table) -> Table:
    """`act`: the broker's log, which says that it advertises that name."""
    rows = of_kinds(observations, "broker").where(F.col("detail").startswith(ADVERTISES))
    rows = rows.where("time_ms is not null").withColumn("shown", seen())
    hosts = [rows.withColumn("host", F.regexp_extract("detail", each, 1)) for each in _LISTENERS]
    each = reduce(Table.unionByName, hosts)
    each = prefixed(each, "_", "host", "time_ms", act=F.col("shown"), named=F.col("broker"))
    told = [F.col("_host") == F.col("detail"), F.col("_time_ms") <= F.col("until_ms")]
    found = runs.join(each, told, "left").withColumn("ago", F.col("until_ms") - F.col("_time_ms"))
    return first_of(found, Window.partitionBy("detail").orderBy("ago", "named"))


def _unresolved(rows: Table) -> Table:
    took = F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint")
    return findings(
        rows.withColumn("broker", F.coalesce("named", "broker")),
        signature="broker-unresolved",
        **judged(
            If(F.col("act").isNotNull(), CERTAIN, "the broker's log says that it advertises this name"),
            Else(LIKELY, "clients were told this name; the broker's log does not say so"),
        ),
        summary=F.concat(
            only_if(F.col("broker").isNotNull(), "broker {broker} advertises"),
            only_if(F.col("broker").isNull(), "a broker advertises"),
            sentence(
                " {detail}, a name that clients could not resolve for {took} s ({times} times in one log): "
                "what it leads can't be written or read (advertised.listeners, or the clients' DNS)",
                took=took,
            ),
        ),
        evidence=[F.col("act"), seen("first"), seen("last")],
    )


def _rejected(rows: Table) -> Table:
    took = F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint")
    return findings(
        rows,
        signature="connections-rejected",
        confidence=CERTAIN,
        why="the broker's log says so",
        summary=F.concat(
            only_if(F.col("broker").isNotNull(), "broker {broker} rejected"),
            only_if(F.col("broker").isNull(), "a broker rejected"),
            sentence(
                " {times} connections in {took} s: {detail}, as many as max.connections.per.ip allows",
                took=took,
            ),
        ),
        evidence=[seen("first"), seen("last")],
    )


def _altered(runs: Table, observations: Table) -> Table:
    """`act`: the last password for the same mechanism that was altered before."""
    rows = of_kinds(observations, "config").where(F.col("detail").startswith(PASSWORD))
    rows = prefixed(rows.where("time_ms is not null"), "_", "time_ms", "detail", act=seen())
    mechanism = F.regexp_extract("_detail", r"\(([\w-]+)\)$", 1)
    asked = F.regexp_extract("detail", r"SASL mechanism ([\w-]+)$", 1)
    of = [asked == mechanism, F.col("_time_ms") <= F.col("since_ms")]
    found = runs.join(rows, of, "left").withColumn("ago", F.col("since_ms") - F.col("_time_ms"))
    found = found.withColumn("altered", F.when(F.col("ago") <= _BEFORE_MS, F.col("_detail")))
    found = found.withColumn("act", F.when(F.col("altered").isNotNull(), F.col("act")))
    return first_of(found, Window.partitionBy("detail", "broker", "group").orderBy("ago", "_detail"))


def _refused(rows: Table) -> Table:
    took = F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint")
    altered = F.col("altered").isNotNull()
    return findings(
        rows,
        signature="login-refused",
        **judged(
            If(altered, LIKELY, "a password for that was altered before; brokers don't say who logs in"),
            Else(LIKELY, "brokers or clients say so; what was altered is not told"),
        ),
        summary=F.concat(
            only_if(F.col("group").isNotNull(), "members of group {group} could not log in"),
            only_if(F.col("group").isNull() & F.col("broker").isNotNull(), "broker {broker} refused logins"),
            only_if(F.col("group").isNull() & F.col("broker").isNull(), "brokers refused logins"),
            only_if(F.col("times") > 1, " for {took} s ({times} times in one log)", took=took),
            sentence(": {detail}"),
            only_if(
                altered,
                "; the {altered} {earlier} s before",
                earlier=F.floor(F.col("ago") / 1000).cast("bigint"),
            ),
        ),
        evidence=[F.col("act"), seen("first"), seen("last")],
    )


def _unknown(rows: Table) -> Table:
    return findings(
        rows,
        signature="codec-unknown",
        confidence=CERTAIN,
        why="a client of the group says so",
        summary=F.concat(
            sentence(
                "a client of group {group} can't read records that are compressed with {detail}: its library "
                "lacks that codec"
            ),
            left_behind(),
        ),
        evidence=[seen("first"), seen("last")],
    )


def _with_group(runs: Table, observations: Table) -> Table:
    """Members that coordinators named are called after their client."""
    members = of_kinds(observations, "member").where("group is not null")
    members = members.withColumn("named", F.regexp_extract("detail", _MEMBER, 1)).where(F.col("named") != "")
    known = members.groupBy("named").agg(F.min("group").alias("group"))
    return runs.join(known, [F.col("client") == F.col("named")], "left")


def _too_large(rows: Table) -> Table:
    took = F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint")
    return findings(
        rows,
        signature=_LARGE[0],
        confidence=CERTAIN,
        why="the client says so",
        summary=F.concat(
            sentence("client {client}"),
            only_if(F.col("group").isNotNull(), " of group {group}"),
            sentence(
                " ended its connections for {took} s ({times} times in its log), since responses were larger "
                "than its receive.message.max.bytes, {detail}: it gets no further while a record or a batch "
                "does not fit",
                took=took,
            ),
            left_behind(),
        ),
        evidence=[seen("first"), seen("last")],
    )


_LARGE: Final = ("response-too-large",)
_UNRESOLVED: Final = ("broker-unresolved",)
_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "host", [pytest.param("broker2.invalid", id="incident"), pytest.param("127.0.0.1", id="prevented")]
)
def test_what_each_broker_leads_is_written(host: str) -> None:
    told = ["127.0.0.1", host]
    with MockCluster(kafka="{kafka}", brokers=2, topics={{"{topic}": 2}}, advertise=told) as cluster:
        servers = {{"bootstrap.servers": cluster.bootstrap_servers}}
        producer = Producer({{**servers, "message.timeout.ms": 5_000}})
        errors = []
        for partition in (0, 1):
            producer.produce(
                "{topic}", "1", partition=partition, on_delivery=lambda error, _: errors.append(str(error))
            )
        producer.flush(30)
        assert errors == ["None", "None"]
"""
)
SEARCH: Final = Search(
    "what clients can't do",
    find,
    ("complaint", "refused"),
    Signature(
        _UNRESOLVED,
        "clients could not resolve the name that a broker advertises, for half a minute",
        stories={"broker-unresolved": "{who} advertised a name that clients can't resolve"},
        reproductions=(
            Reproduction(
                _UNRESOLVED,
                "an advertised name that can't be resolved",
                "an advertised address that clients reach",
                template=_TEMPLATE,
            ),
        ),
    ),
    Signature(
        ("connections-rejected",),
        "a broker rejected connections from an address that has max.connections.per.ip, for half a minute",
        stories={"connections-rejected": "{who} rejected connections"},
        unshown="a mock cluster does not count the connections of an address",
    ),
    Signature(
        ("login-refused",),
        "brokers refused the logins of clients for half a minute: a wrong password, user or certificate",
        stories={"login-refused": "logins to {who} were refused"},
        unshown="a test would need to know who logged in with what",
    ),
    Signature(
        ("codec-unknown",),
        "a group's client lacks the codec with which records are compressed",
        stories={"codec-unknown": "{who} could not read a codec"},
        unshown="a test would need a client that lacks the codec, and confluent-kafka has all of them",
    ),
    Signature(
        _LARGE,
        "a client of librdkafka got responses larger than its `receive.message.max.bytes`, for half a minute",
        stories={_LARGE[0]: "a response was too large for a client of {who}"},
        unshown="a test would need the sizes of records, which the files don't tell",
    ),
)

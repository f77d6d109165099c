"""`not-authorized`: nobody allows a group's members, or the clients of a topic, what they ask for.

A broker with `allow.everyone.if.no.acl.found` refuses everybody else once a resource has its first ACL. A
client that is refused and gives up is no finding: only what goes on for half a minute.
"""

import re
from typing import Final

from ..findings import CERTAIN, LIKELY, Else, If, findings, judged
from ..left_behind import told as left_behind
from ..left_behind import with_left_behind
from ..readers.denial_messages import NOT_AUTHORIZED
from ..reproduction import Reproduction, Template
from ..rows import SEEN, first_of, of_kinds, only_if, prefixed, row, seen, sentence
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

_LASTS_MS: Final = 30_000
_BEFORE_MS: Final = 3_600_000
_SKEW_MS: Final = 1_000
_KEY: Final = ("error", "name")


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "refused").where("time_ms is not null")
    rows = rows.where(F.coalesce(F.col("error").isin(*NOT_AUTHORIZED.values()), F.lit(False)))
    rows = rows.select(*SEEN, "transactional_id").withColumn("name", _named())
    rows = rows.where("name is not null")
    rows = rows.withColumn("told", F.count("position").over(Window.partitionBy(*_KEY, "file")))
    at = F.struct("time_ms", "file", "position")
    by_broker = F.when(F.col("source") == "broker-log", F.col("detail"))
    runs = rows.groupBy(*_KEY).agg(
        F.max("group").alias("group"),
        F.max("topic").alias("topic"),
        F.min("time_ms").alias("since_ms"),
        F.max("time_ms").alias("until_ms"),
        F.max("told").alias("times"),
        F.min(by_broker).alias("denied"),
        F.min_by(row(), at).alias("first"),
        F.max_by(row(), at).alias("last"),
    )
    rows = _with_act(runs.where(F.col("until_ms") - F.col("since_ms") >= _LASTS_MS), observations)
    rows = with_left_behind(rows, observations)
    acted = F.col("act").isNotNull()
    return findings(
        rows,
        signature="not-authorized",
        **judged(
            If(acted, CERTAIN, "the controller's log has the ACL after which it began"),
            Else(LIKELY, "its broker answers so if no ACL allows it; which one was altered is not told"),
        ),
        summary=F.concat(
            only_if(F.col("group").isNotNull(), "members of group {name} were refused"),
            only_if(
                F.col("group").isNull() & F.col("topic").isNotNull(), "clients of topic {name} were refused"
            ),
            only_if(
                F.col("group").isNull() & F.col("topic").isNull(),
                "the producers of transactional id {name} were refused",
            ),
            sentence(
                " {times} times in {took} s with {error}",
                took=F.floor((F.col("until_ms") - F.col("since_ms")) / 1000).cast("bigint"),
            ),
            only_if(F.col("denied").isNotNull(), ": {denied}"),
            only_if(acted, "; an ACL was {acl}"),
            left_behind(),
        ),
        evidence=[F.col("act"), seen("first"), seen("last")],
    )


def _named() -> Column:
    return F.coalesce("group", "transactional_id", "topic")


def _with_act(runs: Table, observations: Table) -> Table:
    """With the last ACL of the same that was altered before."""
    acls = of_kinds(observations, "acl").where("time_ms is not null").withColumn("_name", _named())
    acls = prefixed(
        acls.where("_name is not null"), "", "_name", act=seen(), acl=F.col("detail"), acl_ms=F.col("time_ms")
    )
    ago = F.col("since_ms") - F.col("acl_ms")
    of = [F.col("name") == F.col("_name"), ago.between(-_SKEW_MS, _BEFORE_MS)]
    return first_of(
        runs.join(acls, of, "left").withColumn("ago", F.col("since_ms") - F.col("acl_ms")),
        Window.partitionBy(*_KEY).orderBy("ago", "acl"),
    )


_NAMES: Final = ("not-authorized",)
_OF_GROUP: Final = re.compile(r"group.?auth|resource = Group|to access group", re.IGNORECASE)
_OF_TOPIC: Final = re.compile(r"topic.?auth|resource = Topic|to access topic", re.IGNORECASE)
_TEST: Final = """\
import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster, Security

# {story}


@pytest.mark.parametrize(
    "user", [pytest.param("somebody-else", id="incident"), pytest.param("reader", id="prevented")]
)
def test_a_member_reads(user: str) -> None:
    acls = [ACLS]
    security = Security(sasl="plain", users={{"reader": "secret"}}, acls=acls)
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, security=security) as cluster:
        cluster.produce("{topic}", "1")
        own = {{"group.id": {group}, "auto.offset.reset": "earliest"}}
        consumer = Consumer({{**cluster.client_settings("confluent-kafka", user="reader"), **own}})
        consumer.subscribe(["{topic}"])
        told = [str(each.error()) for each in consumer.consume(1, timeout=30)]
        consumer.close()
        assert told == ["None"]
"""


def _refused(of: str, *acls: str) -> Reproduction:
    """`acls` are expressions."""
    words = _OF_GROUP if of == "group" else _OF_TOPIC
    return Reproduction(
        _NAMES,
        f"an ACL of the {of} that is for somebody else",
        f"an ACL of the {of} that is for the application",
        template=Template(_TEST.replace("ACLS", ", ".join(acls))),
        when=f"if it is about a {of}",
        fits=lambda why, evidence: words.search(evidence) is not None,
    )


SEARCH: Final = Search(
    "clients that are not authorized",
    find,
    ("refused",),
    Signature(
        _NAMES,
        "no ACL allows members of a group, clients of a topic or a transactional producer what they ask for",
        stories={"not-authorized": "{who} was not authorized"},
        reproductions=(
            _refused("group", '"reader allow read on topic:*"', 'f"{{user}} allow read on group:*"'),
            _refused("topic", 'f"{{user}} allow read on topic:*"', '"reader allow read on group:*"'),
        ),
    ),
)

"""`poll-overrun`: a member did not poll within `max.poll.interval.ms`, and others read again what it had
read.

The member leaves its group by itself, from a thread of its own. What it had read since its last commit is
given to another member, and its own commit is refused. Not here: members that their coordinator removed since
they did not join again in time, which may have many reasons.
"""

from typing import Final

from ..consequences import GROUP, SOON_MS, leads
from ..findings import CERTAIN, findings
from ..readers.member_messages import OVERRAN
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window, WindowSpec
from ..tables import functions as F

LEFT: Final = "left: consumer poll timeout has expired"
_CLIENT: Final = r"^(.*)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} left: "
"""Members that coordinators named are called after their client."""
_SOON_MS: Final = 60_000
_BEFORE_MS: Final = 1_000
"""The greatest difference between the clocks of brokers and clients."""


def find(observations: Table) -> Table:
    late = _late(observations).persist()
    rows = late.join(_again(observations, late), [F.col("group") == F.col("_group")], "left")
    twice = F.col("end") - F.col("again")
    read_again = F.coalesce(twice > 0, F.lit(False))
    rows = rows.withColumns({"twice": twice, "read_again": read_again})
    rows = rows.withColumns({"any": F.max("read_again").over(_of_group())})
    # What each partition tells, or once that none of them tells of records that were read twice.
    first = F.row_number().over(_of_group().orderBy("topic", "partition"))
    rows = rows.withColumn("nth", first).where("read_again or (not any and nth = 1)")
    known = F.col("read_again")
    told = {name: F.when(known, F.col(name)) for name in PARTITION}
    return findings(
        rows.withColumns(told),
        signature="poll-overrun",
        confidence=CERTAIN,
        why="the member says so, or gave it as its reason to leave",
        summary=F.concat(
            sentence(
                "{member}{group} did not poll for longer than its max.poll.interval.ms, and lost its "
                "partitions",
                member=F.coalesce(F.concat(F.lit("member "), "client"), F.lit("a member")),
                group=only_if(F.col("group").isNotNull(), " of group {group}"),
            ),
            only_if(
                known,
                ": up to {twice} records of {at}, from its committed offset {again} on, were read twice",
                at=place(),
            ),
        ),
        evidence=[F.col("seen"), F.col("commit_seen"), F.col("refused")],
        ids=["KIP-62"],
    )


def _of_group() -> WindowSpec:
    return Window.partitionBy("who")


def _late(observations: Table) -> Table:
    """For each group the first time."""
    members = of_kinds(observations, "member").withColumns(
        {"named": F.nullif(F.regexp_extract("detail", _CLIENT, 1), F.lit("")), "shown": seen()}
    )
    named = members.where("named is not null and group is not null").groupBy("named")
    known = prefixed(named.agg(F.min("group").alias("group")), "_", "named", "group")
    is_late = F.col("detail").like(f"%{OVERRAN}%") | F.col("detail").endswith(LEFT)
    rows = members.where(is_late).withColumn("client", F.coalesce("client", "named"))
    rows = rows.join(known, [F.col("client") == F.col("_named")], "left")
    rows = rows.withColumn("group", F.coalesce("group", "_group"))
    refused = (
        of_kinds(observations, "refused")
        .where("api = 'OffsetCommit' and error = 'UNKNOWN_MEMBER_ID' and group is not null")
        .withColumn("shown", seen())
        .groupBy(F.col("group").alias("_of"))
        .agg(F.min_by("shown", "time_ms").alias("refused"))
    )
    return (
        rows.withColumn("who", F.coalesce("group", "client", "file"))
        .groupBy("who", "group")
        .agg(
            F.min("time_ms").alias("time_ms"),
            F.min_by("shown", "time_ms").alias("seen"),
            F.max("client").alias("client"),
        )
        .join(refused, [F.col("group") == F.col("_of")], "left")
    )


def _again(observations: Table, late: Table) -> Table:
    """For each partition of these groups the offset from which another member read again, and where the
    log ended then."""
    offsets = of_kinds(observations, "commit", "restore").where(
        "group is not null and topic is not null and offset >= 0"
    )
    offsets = offsets.select(
        "kind", "group", *PARTITION, "offset", F.col("time_ms").alias("at_ms"), seen().alias("shown")
    )
    after = F.col("at_ms") - F.col("time_ms")
    commit = F.when((F.col("kind") == "commit") & (after <= 0), F.col("at_ms"))
    restore = F.when((F.col("kind") == "restore") & after.between(-_BEFORE_MS, _SOON_MS), F.col("at_ms"))
    marks = (
        offsets.join(late.select("group", "time_ms"), "group")
        .groupBy("group", *PARTITION, "time_ms")
        .agg(
            F.max_by("offset", commit).alias("committed"),
            F.min_by("offset", restore).alias("restored"),
            F.max_by("shown", commit).alias("committed_seen"),
            F.min_by("shown", restore).alias("restored_seen"),
        )
        .persist()
    )
    batches = of_kinds(observations, "append").where("topic is not null and time_ms is not null")
    batches = prefixed(batches, "_", *PARTITION, "time_ms", "end_offset")
    before = [*same("_", PARTITION), F.col("_time_ms") <= F.col("time_ms")]
    ends = (
        marks.select("group", *PARTITION, "time_ms")
        .join(batches, before)
        .groupBy("group", *PARTITION)
        .agg(F.max("_end_offset").alias("end"))
    )
    return marks.join(ends, ["group", *PARTITION], "left").select(
        F.col("group").alias("_group"),
        *PARTITION,
        F.coalesce("restored", "committed").alias("again"),
        F.coalesce("restored_seen", "committed_seen").alias("commit_seen"),
        "end",
    )


_TEMPLATE: Final = Template(
    """\
import time

import pytest
from confluent_kafka import Consumer, KafkaException

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "max_poll_interval_ms", [pytest.param(1_000, id="incident"), pytest.param(300_000, id="prevented")]
)
def test_a_slow_member_commits_what_it_has_read(max_poll_interval_ms: int) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0", "group.min.session.timeout.ms": "1000"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        for number in range(5):
            cluster.produce("{topic}", str(number))
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "group.id": {group},
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "heartbeat.interval.ms": 100,
                "session.timeout.ms": min(max_poll_interval_ms, 30_000),
                "max.poll.interval.ms": max_poll_interval_ms,
            }}
        )
        consumer.subscribe(["{topic}"])
        assert len(consumer.consume(5, timeout=30)) == 5
        time.sleep(2)  # it works on them
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            pytest.fail(f"others get its partitions, and read the records again: {{error}}")
        finally:
            consumer.close()
"""
)
_LATE: Final = ("poll-overrun",)
SEARCH: Final = Search(
    "members that were too slow",
    find,
    ("member",),
    Signature(
        _LATE,
        "a member worked for longer than `max.poll.interval.ms`: its partitions were given to others, which "
        "read again what it had not committed; how many records at most",
        known_as="KIP-62",
        stories={"poll-overrun": "{who} had a member that was too slow"},
        rules=leads(_LATE, ("offset-rewind",), GROUP, SOON_MS, "it committed what another had read again"),
        reproductions=(
            Reproduction(
                _LATE,
                "max.poll.interval.ms below the time that a member works",
                "max.poll.interval.ms above it",
                template=_TEMPLATE,
            ),
        ),
    ),
)

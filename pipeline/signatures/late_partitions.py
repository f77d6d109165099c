"""`partitions-found-late`, `never-committed`: a group was given a partition after the first records had been
written to it, and began behind them, as `auto.offset.reset = latest` says.

Clients learn of new partitions when they ask for metadata again, by default within five minutes
(`metadata.max.age.ms`). In a partition that was empty for as long as a group had it, the group has no offset
once it is restarted. Not here: a group that begins with the first record, or commits soon after it was
given the partition, because what it read before that is not known.
"""

from typing import Final

from ..findings import LIKELY, POSSIBLE, Else, If, findings, judged
from ..offsets_log import KEY, NO_MEMBERS, OF_GROUP, logs, with_members
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, first_of, of_kinds, place, prefixed, row, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_LATE: Final = ("partitions-found-late",)
_NEVER: Final = ("never-committed",)
_LEAST_MS: Final = 60_000
"""A member that has something to read commits sooner."""
_ABOUT_MS: Final = 1_000


def find(observations: Table) -> Table:
    late = _late(logs(observations)).persist()
    rows = _with_log(late, observations).join(_created(observations), list(PARTITION), "left")
    is_known = F.col("created_ms").isNotNull()
    was_there = F.coalesce(F.col("created_ms") < F.col("topic_ms"), F.lit(False))
    return findings(
        first_of(rows, Window.partitionBy("group", *PARTITION).orderBy("log")),
        signature=F.when(was_there, _NEVER[0]).otherwise(_LATE[0]),
        **judged(
            If(
                was_there,
                LIKELY,
                "the group read the topic while the partition was empty, was given it again after these "
                "records were written, and committed nothing until others came",
            ),
            If(
                is_known,
                LIKELY,
                "the group read the topic before the partition was there, was given it after these records "
                "were written, and committed nothing until others came",
            ),
            Else(
                POSSIBLE,
                "the group read the topic before, was given the partition after these records were written, "
                "and committed nothing until others came; that the partition was new then a broker's log "
                "would tell",
            ),
        ),
        summary=sentence(
            "group {group} was given {which} {at} after {end} records had been written to it, and began "
            "behind them, at {end}: it never got them",
            which=F.when(is_known & ~was_there, "the new partition").otherwise("the partition"),
            at=place(),
        ),
        evidence=[F.col("created"), F.col("written"), seen("assigned"), seen("first")],
    )


def _created(observations: Table) -> Table:
    """When brokers created the logs of a partition first."""
    logs = of_kinds(observations, "log").where("detail = 'created' and partition >= 0")
    logs = logs.where("time_ms is not null").withColumn("shown", seen())
    first = F.min("time_ms").alias("created_ms"), F.min_by("shown", "time_ms").alias("created")
    return logs.groupBy(*PARTITION).agg(*first)


def _late(rows: Table) -> Table:
    """For each partition that a group found later than others of its topic its first commit, and the record
    by which the group had been given it."""
    rows = rows.where("group is not null")
    at = F.struct("file", "position", "time_ms")
    commits = rows.where("kind = 'commit' and topic is not null and time_ms is not null")
    each = commits.groupBy(*KEY).agg(F.min("time_ms").alias("first_ms"), F.min(at).alias("at"))
    each = each.persist()
    topics = each.groupBy(*OF_GROUP, "topic").agg(F.min("first_ms").alias("topic_ms"))
    each = each.join(topics, [*OF_GROUP, "topic"]).where(F.col("first_ms") > F.col("topic_ms"))
    states = with_members(rows.where("topic is null")).where(F.col("state") != NO_MEMBERS)
    states = states.where("kind = 'group' and time_ms is not null")
    states = prefixed(states, "_", *OF_GROUP, "time_ms", state=row(), then=at)
    before = [*same("_", OF_GROUP), F.col("then") < F.col("at")]
    given = (
        each.select(*KEY, "at")
        .join(states, before)
        .groupBy(*KEY)
        .agg(F.max_by("state", "then").alias("assigned"), F.max("_time_ms").alias("assigned_ms"))
    )
    waited = F.col("first_ms") - F.col("assigned_ms") >= _LEAST_MS
    each = each.join(given, list(KEY)).where(waited).persist()
    of_late = commits.join(each.select(*KEY), KEY, "left_semi")
    firsts = of_late.groupBy(*KEY).agg(F.min_by(row(), at).alias("first"))
    return each.join(firsts, list(KEY)).withColumn("offset", F.col("first.offset"))


def _with_log(late: Table, observations: Table) -> Table:
    """`end`: how far the log went when the group was given the partition, if it was new, and nothing was
    written then for a while."""
    batches = of_kinds(observations, "append").where("topic is not null and time_ms is not null")
    in_transaction = F.when(F.col("detail").startswith("transactional"), 1)
    batches = prefixed(
        batches, "_", *PARTITION, "time_ms", "offset", "end_offset", shown=seen(), later=in_transaction
    )
    key = (*KEY, "topic_ms", "assigned_ms", "first_ms")
    pairs = late.select(*key).join(batches, same("_", PARTITION))
    until = F.col("assigned_ms") + _ABOUT_MS
    was_there = F.when(F.col("_time_ms") <= until, F.col("_end_offset"))
    came = (F.col("_time_ms") > until) & (F.col("_time_ms") < F.col("first_ms") - _LEAST_MS)
    log = pairs.groupBy(*KEY).agg(
        F.max(was_there).alias("end"),
        F.max_by("shown", was_there).alias("written"),
        F.min("_offset").alias("start"),
        F.min("_time_ms").alias("start_ms"),
        # What is in a transaction is read when that ends, which may be late.
        F.max(F.when(came, 1).otherwise(F.col("later"))).alias("came"),
    )
    rows = late.join(log, list(KEY)).where("start = 0 and end > 0 and end < offset and came is null")
    return rows.where(F.col("start_ms") > F.col("topic_ms"))


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewPartitions

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "reset", [pytest.param("latest", id="incident"), pytest.param("earliest", id="prevented")]
)
def test_the_group_gets_the_first_record_of_a_new_partition(reset: str) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config) as cluster:
        consumer = Consumer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "client.id": "reader",
                "group.id": {group},
                "auto.offset.reset": reset,
                "topic.metadata.refresh.interval.ms": 200,
            }}
        )
        consumer.subscribe(["{topic}"])
        while not consumer.assignment():
            consumer.poll(0.1)
        asks = cluster.faults.add("hold", api="Metadata", client_id="reader")
        asks.wait_held()
        admin = AdminClient({{"bootstrap.servers": cluster.bootstrap_servers}})
        (added,) = admin.create_partitions([NewPartitions("{topic}", 2)]).values()
        added.result(30)
        cluster.produce("{topic}", "first", partition=1)
        asks.release()  # it learns of the partition
        while len(consumer.assignment()) < 2:
            consumer.poll(0.1)
        while (read := consumer.poll(0.1)) is None:
            cluster.produce("{topic}", "another", partition=1)
        consumer.close()
        assert read.value() == b"first"
"""
)
_RESTARTED: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "reset", [pytest.param("latest", id="incident"), pytest.param("earliest", id="prevented")]
)
def test_the_group_gets_the_first_record_of_a_partition_that_was_empty(reset: str) -> None:
    config = {{"group.initial.rebalance.delay.ms": "0"}}
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 2}}, config=config) as cluster:

        def begin() -> Consumer:
            consumer = Consumer(
                {{
                    "bootstrap.servers": cluster.bootstrap_servers,
                    "group.id": {group},
                    "auto.offset.reset": reset,
                }}
            )
            consumer.subscribe(["{topic}"])
            while not consumer.assignment():
                consumer.poll(0.1)
            return consumer

        begin().close()
        cluster.produce("{topic}", "first", partition=1)
        consumer = begin()
        while (read := consumer.poll(0.1)) is None:
            cluster.produce("{topic}", "another", partition=1)
        consumer.close()
        assert read.value() == b"first"
"""
)
SEARCH: Final = Search(
    "partitions that were found late",
    find,
    ("commit",),
    Signature(
        _LATE,
        "a group was given a new partition after records had been written to it, and began behind them "
        "(`auto.offset.reset = latest`, `metadata.max.age.ms`): how many it never got",
        stories={"partitions-found-late": "{who} found a partition late"},
        reproductions=(
            Reproduction(_LATE, "auto.offset.reset=latest", "auto.offset.reset=earliest", template=_TEMPLATE),
        ),
    ),
    Signature(
        _NEVER,
        "a partition was empty as long as a group had it, so that the group has no offset in it; what was "
        "first written to it while the group was restarted it never got (`auto.offset.reset = latest`)",
        known_as="confluentinc/librdkafka#1059",
        stories={"never-committed": "{who} had no offset in a partition that had been empty"},
        reproductions=(
            Reproduction(
                _NEVER, "auto.offset.reset=latest", "auto.offset.reset=earliest", template=_RESTARTED
            ),
        ),
    ),
)

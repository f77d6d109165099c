"""`load-ended-early`, `slow-load`, `coordinator-moved-while-loading`, `cleaner-stopped`: how coordinators
came by their offsets.

Both of LinkedIn's rewinds began here: one with a load that stopped at a record that could not be parsed, the
other with a dead log cleaner, so that the offsets topic grew until a load took 17 minutes. Not here, because
leaders move and brokers are stopped every day: a load that ended soon because its broker no longer led the
partition, or was stopping.
"""

from typing import Final

from ..consequences import ANYWHERE, BROKER, EVER_MS, LOSSY, PARTITION, REWOUND, SOON_MS, leads
from ..findings import CERTAIN, findings
from ..reproduction import Reproduction, Template
from ..rows import SEEN, before, first_of, in_order, of_kinds, only_if, place, prefixed, row, seen, sentence
from ..signature import COORDINATORS, Alike, Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

SLOW_MS: Final = 60_000
"""A load takes seconds."""
_INTERRUPTED: Final = (
    "no longer the leader|log does not exist|loader is closed|NotLeader|ClosedChannel|ClosedByInterrupt"
    "|InterruptedException|RejectedExecution|KafkaStorageException"
)
_UNKNOWN: Final = -1
_BEGAN: Final = "began"
_LEFT: Final = "left"
"""Up to 3.9 a load goes on then, and ends as if nothing had happened."""
_LONG_MS: Final = 3_000
"""Leaders that move again so soon are no incident: in a rolling restart each loads for some milliseconds."""
_FAILED: Final = "failed: "
_STALE: Final = "Removed |Generated "


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "load", "cleaner", "tombstone").where("source = 'broker-log'").select(*SEEN)
    loads = _once(rows.where("kind = 'load' and topic = '__consumer_offsets'"))
    cleaners = _once(rows.where("kind = 'cleaner'"))
    return (
        _moved(loads)
        .unionByName(_ended(loads))
        .unionByName(_slow(loads, cleaners, rows))
        .unionByName(_stopped(cleaners))
    )


def _once(rows: Table) -> Table:
    """Without the copies of lines that a broker writes to two files."""
    same = Window.partitionBy("kind", *PARTITION, "time_ms", "detail")
    return first_of(rows, same.orderBy("file", "position"))


def _broker() -> Column:
    return F.coalesce(F.concat(F.lit("broker "), F.col("broker").cast("string")), F.lit("a broker"))


def _moved(loads: Table) -> Table:
    """A coordinator loaded, or stood still, until another one took over: meanwhile its groups had none."""
    window = in_order("broker", "topic", "partition")
    began = F.last(F.when(F.col("detail") == _BEGAN, row()), True).over(before(window))
    last = F.last(F.when(F.col("detail") != _LEFT, F.col("detail")), True).over(before(window))
    failed = F.col("detail").startswith(_FAILED) & F.col("detail").rlike(_INTERRUPTED)
    left = (F.col("detail") == _LEFT) & (F.col("last") == _BEGAN)
    ended = loads.withColumn("began", began).withColumn("last", last).where(failed | left)
    ended = ended.withColumn("took", F.col("time_ms") - F.col("began.time_ms"))
    ended = ended.where(F.col("took") >= _LONG_MS)
    others = prefixed(
        loads.where(F.col("detail") == _BEGAN), "next_", "broker", "partition", "leader_epoch", other=row()
    )
    after = [
        F.col("partition") == F.col("next_partition"),
        F.col("broker") != F.col("next_broker"),
        F.col("next_leader_epoch") > F.col("began.leader_epoch"),
        F.col("other.time_ms").between(F.col("began.time_ms"), F.col("time_ms")),
    ]
    key = ("file", "position", "broker", "topic", "partition")
    firsts = [F.first(name).alias(name) for name in ("took", "began", *SEEN) if name not in key]
    one = (
        ended.join(others, after)
        .groupBy(*key)
        .agg(*firsts, F.min_by("other", "next_leader_epoch").alias("other"))
    )
    return findings(
        one,
        signature="coordinator-moved-while-loading",
        confidence=CERTAIN,
        why="its log says that it was still loading when it learned that it no longer led the partition",
        summary=sentence(
            "{broker} was loading the committed offsets of {at} for {took} ms, and had not finished when "
            "broker {next} took over in epoch {next_epoch}: meanwhile its groups had no coordinator",
            broker=_broker(),
            at=place(),
            next="other.broker",
            next_epoch="other.leader_epoch",
        ),
        evidence=[seen("began"), seen("other"), seen()],
        behaviours=["offsets-load-pace"],
    )


def _ended(loads: Table) -> Table:
    failed = loads.where(F.col("detail").startswith(_FAILED) & ~F.col("detail").rlike(_INTERRUPTED))
    return findings(
        failed,
        signature="load-ended-early",
        confidence=CERTAIN,
        why="its log says so; the coordinator then served what it had read, in 2015, or has no offsets and "
        "groups, up to 3.9; since 4.0 it answers NOT_COORDINATOR",
        summary=sentence(
            "{broker} stopped loading the committed offsets of {at}: {why}",
            broker=_broker(),
            at=place(),
            why=F.regexp_extract("detail", f"(?s)^.*{_FAILED}(.*)$", 1),
        ),
        evidence=[seen()],
        behaviours=["offsets-load"],
    )


def _slow(loads: Table, cleaners: Table, rows: Table) -> Table:
    took = F.regexp_extract("detail", r"^finished in (\d+) ms", 1)
    slow = loads.withColumn("took", F.when(took != "", took.cast("bigint"))).where(F.col("took") >= SLOW_MS)
    slow = slow.withColumns(
        {"broker": F.coalesce("broker", F.lit(_UNKNOWN)), "began_ms": F.col("time_ms") - F.col("took")}
    )
    # Of the partitions that moved at once, which one thread loads, each waits for those before it.
    together = F.floor(F.col("began_ms") / SLOW_MS)
    longest = slow.groupBy("broker", together.alias("together")).agg(
        F.max_by(F.struct("began_ms", "took", row().alias("load")), "took").alias("one"),
        F.count("*").alias("count"),
    )
    longest = longest.select("broker", "together", "count", *F.fields("one", "began_ms", "took", "load"))
    longest = _joined(longest, cleaners, "stopped", "their_ms <= load.time_ms")
    cleanups = rows.where(F.col("kind") == "tombstone").where(F.col("detail").rlike(_STALE))
    longest = _joined(longest, cleanups, "cleanup", "their_ms between began_ms and load.time_ms")
    more = only_if(F.col("count") > 1, " and {others} more", others=F.col("count") - 1)
    known = F.nullif(F.col("broker"), F.lit(_UNKNOWN))
    return findings(
        longest.withColumn("broker", known),
        signature="slow-load",
        confidence=CERTAIN,
        why="its log says so; a load takes seconds, unless the log was not compacted for long",
        summary=F.concat(
            sentence(
                "{broker} took {took} ms to load the committed offsets of {at}{more}",
                broker=_broker(),
                at=F.concat_ws("-", "load.topic", "load.partition"),
                more=more,
            ),
            only_if(F.col("stopped").isNotNull(), "; its log cleaner had stopped before"),
            only_if(
                F.col("cleanup").isNotNull(),
                "; meanwhile it deleted offsets that it took for stale, which newer ones may follow",
            ),
        ),
        evidence=[seen("stopped"), seen("cleanup"), seen("load")],
        behaviours=["offsets-load-pace", "offsets-cleanup", "compaction"],
        columns={"topic": F.col("load.topic"), "partition": F.col("load.partition")},
    )


def _joined(loads: Table, others: Table, name: str, when: str) -> Table:
    """`loads` with the last of `others` on the same broker for which `when` is true."""
    theirs = others.select(
        F.coalesce("broker", F.lit(_UNKNOWN)).alias("broker"),
        F.col("time_ms").alias("their_ms"),
        row().alias("other"),
    )
    pairs = loads.join(theirs, "broker").where(when)
    last = pairs.groupBy("broker", "together").agg(F.max_by("other", "their_ms").alias(name))
    return loads.join(last, ["broker", "together"], "left")


def _stopped(cleaners: Table) -> Table:
    where = only_if(F.col("topic").isNotNull(), " for {at}", at=place())
    return findings(
        cleaners,
        signature="cleaner-stopped",
        confidence=CERTAIN,
        why="its log says so; compacted topics grow until the broker is restarted, and loads of the offsets "
        "topic take longer",
        summary=sentence(
            "the log cleaner of {broker} stopped{where}: {detail}", broker=_broker(), where=where
        ),
        evidence=[seen()],
        behaviours=["compaction"],
    )


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize("pace", [pytest.param("slow", id="incident"), pytest.param("fast", id="prevented")])
def test_the_group_has_a_coordinator_after_it_has_moved(pace: str) -> None:
    policies = {{"offsets-load-pace": pace}}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, policies=policies, clock="manual"
    ) as cluster:
        member = {{"bootstrap.servers": cluster.bootstrap_servers, "group.id": {group}}}
        before = Consumer(member)
        for offset in range(50):
            before.commit(offsets=[TopicPartition("{topic}", 0, offset)], asynchronous=False)
        before.close()
        for _ in range(2):  # the second takes over before the first has loaded
            cluster.move_coordinator(group={group})
            cluster.clock.advance(1_000)
        after = Consumer(member)
        try:
            (found,) = after.committed([TopicPartition("{topic}", 0)], timeout=10)
        except KafkaException as error:
            pytest.fail(f"it is told no offset: {{error}}")
        finally:
            after.close()
        assert found.offset == 49
"""
)
_MOVED: Final = ("coordinator-moved-while-loading",)
_STOPPED: Final = ("cleaner-stopped",)
_SLOW: Final = ("slow-load", "load-ended-early")
_TOMBSTONE: Final = "tombstone-of-live-group"
_GREW: Final = "the offsets topic grew, because nothing was compacted"
_PART: Final = "the coordinator had read only a part of the offsets topic"
SEARCH: Final = Search(
    "loads of offsets",
    find,
    ("load", "cleaner"),
    Signature(
        _MOVED,
        "a coordinator was still loading committed offsets when another one took over",
        rules=leads(_MOVED, LOSSY, PARTITION, SOON_MS, "it went on as leader when it came back"),
        reproductions=(
            Reproduction(_MOVED, "offsets-load-pace=slow", "offsets-load-pace=fast", template=_TEMPLATE),
        ),
    ),
    Signature(
        ("load-ended-early", "slow-load", "cleaner-stopped"),
        "a coordinator stopped loading committed offsets at a record, or took more than a minute; the log "
        "cleaner died, or gave up on a partition",
        known_as="LinkedIn's rewinds",
        rules=(
            *leads(_STOPPED, (*_SLOW, _TOMBSTONE), BROKER, EVER_MS, _GREW),
            *leads(_SLOW, (_TOMBSTONE, *REWOUND), ANYWHERE, EVER_MS, _PART),
        ),
        looked_for=Alike("a load that ended early", _SLOW, COORDINATORS, "load", ()),
    ),
)

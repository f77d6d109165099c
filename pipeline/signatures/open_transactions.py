"""`open-transaction`: a producer died, or stopped, within a transaction, and nobody could read on behind it.

The last stable offset stands still until a marker follows: that of a new producer with the same transactional
id, or of the coordinator once the transaction has timed out. A transaction of which the coordinator knows
nothing (`hanging-transaction`) has no end at all. Not here: one that times out while its producer is only
slow, and has others afterwards. Offsets that a transaction commits are not looked at.
"""

from typing import Final

from ..consequences import EVER_MS, LATE_MS, PARTITION, leads
from ..findings import CERTAIN, LIKELY, POSSIBLE, Else, If, findings, judged
from ..readers.producer_messages import TIMED_OUT
from ..reproduction import Reproduction, Template
from ..rows import PARTITION as PLACE
from ..rows import first_of, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Column, Table, Window
from ..tables import functions as F

IDLE_MS: Final = 10_000
"""How long a producer wrote nothing in its transaction: those who pause for less may only be slow."""
_USUAL_MS: Final = 60_000
"""The default of `transaction.timeout.ms`."""
_UNLIKE: Final = 10
_SKEW_MS: Final = 5_000
"""The greatest difference between the time of a marker and of the line about it."""
_KEY: Final = (*PLACE, "producer_id")


def find(observations: Table) -> Table:
    rows = _transactions(observations).persist().join(_ids(observations), "producer_id", "left")
    rows = rows.join(_states(observations), "producer_id", "left")
    said = of_kinds(observations, "transaction").where(F.col("detail") == TIMED_OUT)
    said = prefixed(said, "_", "transactional_id", "time_ms", said=seen())
    near = F.abs(F.col("_time_ms") - F.col("to_ms")) <= _SKEW_MS
    rows = rows.join(said, [*same("_", ["transactional_id"]), near], "left")
    rows = first_of(rows, Window.partitionBy(*_KEY, "begun").orderBy("_time_ms"))
    ends = (
        of_kinds(observations, "append")
        .groupBy(*PLACE)
        .agg(F.max("time_ms").alias("last_ms"), F.max("end_offset").alias("log_end"))
    )
    rows = rows.join(ends, list(PLACE), "left").withColumn("_one", F.lit(1))
    rows = rows.join(_read_until(observations), "_one", "left")
    ended, timed_out = F.col("to_ms").isNotNull(), F.col("said").isNotNull()
    rows = rows.withColumn("last_ms", F.greatest("last_ms", "read_ms"))
    until = F.coalesce("to_ms", "last_ms")
    behind = F.coalesce("to_offset", "log_end") - F.col("begun")
    rows = rows.withColumns({"idle": until - F.col("wrote_ms"), "open": until - F.col("time_ms")})
    unlike = F.coalesce(F.col("idle") >= _UNLIKE * F.col("usual_ms"), F.lit(False))
    rows = rows.withColumns({"behind": behind, "unlike": unlike})
    open_too_long = (timed_out & ~_went_on()) | (~ended & ~_completed())
    rows = rows.where((F.col("idle") >= IDLE_MS) & open_too_long)
    rows = _with_groups(rows.persist(), observations)
    names = F.array_join("groups", ", ")
    return findings(
        rows,
        signature="open-transaction",
        **judged(
            If(timed_out, CERTAIN, "its coordinator aborted the transaction when it had timed out"),
            If(
                (F.col("idle") >= _USUAL_MS) & F.col("state").isNotNull(),
                LIKELY,
                "no marker follows, its coordinator knows that it is open, and its producer wrote nothing "
                "more",
            ),
            If(
                F.col("unlike") & F.col("state").isNotNull(),
                LIKELY,
                "no marker follows, its coordinator knows that it is open, and the producer's transactions "
                "before it took far less",
            ),
            Else(
                POSSIBLE,
                "no marker follows, and its producer wrote nothing more; the files don't tell whether its "
                "coordinator knows of it, or whether it is only slow",
            ),
        ),
        summary=F.concat(
            sentence(
                "the transaction of {who} at offset {begun} of {at} was open for {open} ms; its producer "
                "wrote nothing in the last {idle} ms, as if it had died",
                who=F.coalesce(
                    F.concat(F.lit("transactional id "), "transactional_id"),
                    F.concat(F.lit("producer "), F.col("producer_id").cast("string")),
                ),
                at=place(),
            ),
            F.when(ended, "; it was aborted then").otherwise("; it still is"),
            sentence(
                ": read_committed consumers could not read its {behind} records", behind=F.col("behind")
            ),
            only_if(F.size("groups") > 0, "; groups that stood there: {names}", names=names),
        ),
        evidence=[F.col("began"), F.col("state_seen"), F.col("said"), F.col("marker")],
        ids=["KIP-98"],
    )


def _read_until(observations: Table) -> Table:
    """`read_ms`: the last that brokers wrote by their own clocks, in any of these files. What a producer's
    records are stamped with may lie anywhere."""
    own = of_kinds(observations, "append", "transaction").where(
        "source != 'client-log' and (kind = 'transaction' or detail like '%control%')"
    )
    return own.groupBy(F.lit(1).alias("_one")).agg(F.max("time_ms").alias("read_ms"))


def _went_on() -> Column:
    """Whether the producer had other transactions afterwards: it has not died."""
    return F.coalesce(F.col("state").rlike("^(Ongoing|PrepareCommit|CompleteCommit)"), F.lit(False))


def _completed() -> Column:
    """Whether the coordinator knows of no open transaction: a later batch belongs to none."""
    return F.coalesce(F.col("state").rlike("^(Complete|Empty|Dead)"), F.lit(False))


def _transactions(observations: Table) -> Table:
    """Each with its first and last batch and its marker, if one follows; `usual_ms`: how long the longest
    before it took."""
    appends = of_kinds(observations, "append").where(
        "producer_id is not null and detail like '%transactional%' and time_ms is not null"
    )
    # Three replicas tell of the same batch.
    once = first_of(
        appends.withColumns({"shown": seen(), "control": F.col("detail").like("%control%")}),
        Window.partitionBy(*_KEY, "offset").orderBy("file"),
    )
    marker = F.when(F.col("control"), F.struct("offset", "time_ms", "shown"))
    following = (
        Window.partitionBy(*_KEY).orderBy("offset").reversed.rows("UNBOUNDED PRECEDING AND 1 PRECEDING")
    )
    rows = once.withColumn("end", F.last(marker, True).over(following)).where(~F.col("control"))
    each = (
        rows.withColumns({"to_offset": F.col("end.offset"), "to_ms": F.col("end.time_ms")})
        .groupBy(*_KEY, "to_offset", "to_ms")
        .agg(
            F.min("offset").alias("begun"),
            F.min("time_ms").alias("time_ms"),
            F.max("time_ms").alias("wrote_ms"),
            F.min_by("shown", "offset").alias("began"),
            F.min_by(F.col("end.shown"), "offset").alias("marker"),
        )
    )
    earlier = Window.partitionBy(*_KEY).orderBy("begun").rows("UNBOUNDED PRECEDING AND 1 PRECEDING")
    took = F.col("to_ms") - F.col("time_ms")
    return each.withColumn("usual_ms", F.max(took).over(earlier))


def _ids(observations: Table) -> Table:
    known = of_kinds(observations, "transaction").where(
        "producer_id is not null and transactional_id is not null"
    )
    return known.groupBy("producer_id").agg(F.max("transactional_id").alias("transactional_id"))


def _states(observations: Table) -> Table:
    """The last state that the coordinator wrote."""
    known = of_kinds(observations, "transaction").where(
        "producer_id is not null and "
        "detail not in ('initialized', 'timed out', 'asks for the next epoch', 'aborting')"
    )
    return (
        known.withColumn("shown", seen())
        .groupBy("producer_id")
        .agg(
            F.max_by("detail", "time_ms").alias("state"),
            F.max_by("shown", "time_ms").alias("state_seen"),
        )
    )


def _with_groups(rows: Table, observations: Table) -> Table:
    """`groups`: whose last commit until the end is where the transaction begins, or one before its marker."""
    commits = of_kinds(observations, "commit").where("group is not null")
    commits = prefixed(
        commits, "_", *PLACE, who=F.col("group"), at_ms=F.col("time_ms"), committed=F.col("offset")
    )
    before = F.col("at_ms") <= F.coalesce("to_ms", "last_ms")
    carried = ("time_ms", "wrote_ms", "to_ms", "to_offset", "usual_ms", "transactional_id", "state")
    shown = ("began", "marker", "state_seen", "said", "idle", "open", "behind", "unlike")
    key = (*_KEY, "begun")
    last = (
        rows.select(*key, "to_ms", "last_ms")
        .join(commits, [*same("_", PLACE), before])
        .groupBy(*key, "who")
        .agg(F.max_by("committed", "at_ms").alias("stood"))
        .where(F.col("begun") - F.col("stood") <= 1)
        .where(F.col("stood") <= F.col("begun"))
        .groupBy(*key)
        .agg(F.array_sort(F.collect_set("who")).alias("groups"))
    )
    return rows.select(*key, *carried, *shown).join(last, list(key), "left")


_TEMPLATE: Final = Template(
    """\
import pytest
from confluent_kafka import Producer

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "timeout_ms", [pytest.param(600_000, id="incident"), pytest.param(10_000, id="prevented")]
)
def test_readers_go_on_after_a_producer_died(timeout_ms: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, clock="manual") as cluster:
        producer = Producer(
            {{
                "bootstrap.servers": cluster.bootstrap_servers,
                "transactional.id": "payments",
                "transaction.timeout.ms": timeout_ms,
            }}
        )
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("{topic}", "1")
        assert producer.flush(30) == 0
        del producer  # it neither commits nor aborts
        written = cluster.produce("{topic}", "2")
        cluster.clock.advance(60_000)
        assert cluster.records("{topic}", isolation_level="read_committed") == [written]
"""
)
_OPEN: Final = ("open-transaction",)
SEARCH: Final = Search(
    "open transactions",
    find,
    ("append",),
    Signature(
        _OPEN,
        "a producer stopped within a transaction: until it was aborted, nothing behind its first record "
        "could be read with read_committed; *certain* if the coordinator says that it timed out",
        known_as="KIP-98",
        stories={"open-transaction": "a transaction stayed open"},
        rules=(
            *leads(_OPEN, ("lag-spike",), PARTITION, EVER_MS, "nothing more was stable"),
            *leads(_OPEN, ("producer-fenced",), ("producer_id",), LATE_MS, "its coordinator aborted it"),
        ),
        reproductions=(
            Reproduction(
                _OPEN,
                "a transaction timeout of ten minutes",
                "a transaction timeout of ten seconds",
                template=_TEMPLATE,
            ),
        ),
    ),
)

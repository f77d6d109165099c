"""`compacted-before-read`: while a group was away, the log cleaner removed records that it had not read.

A topic with `cleanup.policy = compact` keeps the last record of each key for sure, and no others: who reads
it to see every change has to read before the cleaner comes (`min.compaction.lag.ms`). Not here: groups that
had members all the time, since what they had read and not committed is not known.
"""

from typing import Final

from ..findings import LIKELY, findings
from ..offsets_log import KEY, NO_MEMBERS, OF_GROUP, logs, with_members
from ..readers.broker_messages import COMPACTED
from ..reproduction import Reproduction, Template
from ..rows import PARTITION, first_of, of_kinds, place, prefixed, row, same, seen, sentence, up_to
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F


def find(observations: Table) -> Table:
    cleaned = of_kinds(observations, "log").where(F.col("detail") == COMPACTED)
    cleaned = cleaned.where("time_ms is not null").withColumn("shown", seen())
    where = F.broadcast(cleaned.select(*PARTITION).distinct().withColumn("cleaned", F.lit(True)))
    returns = _returns(logs(observations), where).persist()
    rows = _with_gap(_with_cleaning(returns, cleaned), observations)
    once = Window.partitionBy("group", *PARTITION, "_last", "_time_ms").orderBy("log")
    return findings(
        first_of(rows, once),
        signature="compacted-before-read",
        confidence=LIKELY,
        why="the cleaner compacted the log while the group had no members, and nothing is left there",
        summary=sentence(
            "group {group} did not get up to {missed} records of {at}, from {_last} up to {next}: they were "
            "compacted while it was away",
            at=place(),
            missed=F.col("next") - F.col("_last"),
        ),
        evidence=[seen("last"), F.col("cleaned"), F.col("left"), seen("back")],
    )


def _returns(rows: Table, where: Table) -> Table:
    """The first commits of groups that were away: `last` is the one before, `_away_ms` when they went."""
    # What else a group committed says nothing of its members.
    rows = rows.where("group is not null").join(where, PARTITION, "left")
    rows = with_members(rows.where("topic is null or cleaned"))
    order = ("file", "position", "time_ms")
    went = F.when((F.col("kind") == "group") & (F.col("state") == NO_MEMBERS), F.col("time_ms"))
    of_group = Window.partitionBy(*OF_GROUP).orderBy(*order)
    rows = rows.withColumn("_away_ms", F.last(went, True).over(up_to(of_group)))
    commits = rows.where("topic is not null").withColumn(
        "last", F.lag(row()).over(Window.partitionBy(*KEY).orderBy(*order))
    )
    commits = commits.where("kind = 'commit' and last.kind = 'commit' and offset > last.offset")
    commits = commits.where(F.col("_away_ms").between(F.col("last.time_ms"), F.col("time_ms")))
    return commits.select(
        *KEY,
        "last",
        row().alias("back"),
        "_away_ms",
        F.col("last.offset").alias("_last"),
        F.col("offset").alias("_offset"),
        F.col("time_ms").alias("_time_ms"),
    )


def _with_cleaning(returns: Table, cleaned: Table) -> Table:
    """Those of partitions whose logs were compacted meanwhile, beyond what the group had read."""
    cleaned = prefixed(cleaned, "c_", *PARTITION, "time_ms", "end_offset", "broker", cleaned=F.col("shown"))
    while_away = [
        *same("c_", PARTITION),
        F.col("c_time_ms").between(F.col("_away_ms"), F.col("_time_ms")),
        F.col("c_end_offset") > F.col("_last"),
    ]
    last = Window.partitionBy(*KEY, "_time_ms").orderBy("c_time_ms", "c_end_offset").reversed
    return first_of(returns.join(cleaned, while_away), last)


def _with_gap(rows: Table, observations: Table) -> Table:
    """Those that find a gap where they go on: `next` is the first offset that is left."""
    batches = of_kinds(observations, "append").where("source = 'segment' and topic is not null")
    # Deleted segments, and those that the cleaner has just written, have other names.
    batches = batches.where(F.col("file").endswith(".log"))
    batches = prefixed(batches, "b_", *PARTITION, "offset", "end_offset", shown=seen())
    key = (*KEY, "_last", "_time_ms")
    pairs = rows.select(*key).join(batches, same("b_", PARTITION))
    more = F.when(F.col("b_end_offset") > F.col("_last"), F.col("b_offset"))
    log = pairs.groupBy(*key).agg(
        F.min(more).alias("next"),
        F.min_by("shown", more).alias("left"),
        F.min("b_offset").alias("start"),
    )
    rows = rows.join(log, list(key))
    rows = rows.where("start <= _last and next > _last and next <= _offset")
    return rows.withColumn("broker", F.col("c_broker"))


_TEMPLATE: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "lag_ms", [pytest.param("60000", id="incident"), pytest.param("604800000", id="prevented")]
)
def test_the_group_gets_all_that_was_written_while_it_was_away(lag_ms: str) -> None:
    config = {{
        "log.cleanup.policy": "compact",
        "log.cleaner.min.cleanable.ratio": "0",
        "log.cleaner.min.compaction.lag.ms": lag_ms,
        "log.roll.ms": "60000",
    }}
    with MockCluster(
        kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, config=config, clock="manual"
    ) as cluster:
        written = [cluster.produce("{topic}", str(number), key="a") for number in range(10)]
        committed = 3
        cluster.clock.advance(3_600_000)
        written.append(cluster.produce("{topic}", "10", key="a"))  # into the next segment
        cluster.clock.advance(3_600_000)
        assert cluster.records("{topic}", offset=committed) == written[committed:]
"""
)
_COMPACTED: Final = ("compacted-before-read",)
SEARCH: Final = Search(
    "logs that were compacted before they were read",
    find,
    ("log",),
    Signature(
        _COMPACTED,
        "records of a compacted topic were removed while a group was away that had not read them: how many "
        "at most",
        stories={"compacted-before-read": "{who} came back after records had been compacted"},
        reproductions=(
            Reproduction(
                _COMPACTED,
                "min.compaction.lag.ms below the time that the group is away",
                "min.compaction.lag.ms above it",
                template=_TEMPLATE,
            ),
        ),
    ),
)

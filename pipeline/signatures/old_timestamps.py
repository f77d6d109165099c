"""`timestamps-too-old`: records were deleted as soon as retention was checked, before groups had read them,
because their timestamps were already older than the retention when they were written.

Producers may give any timestamp. Brokers keep records by it, not by when they were written. A retention that
ends in its own time is no finding; nor is a broker whose clock was wrong, whose files were then written as
late as their records.
"""

from typing import Final

from ..consequences import BEHIND, LATE_MS, PARTITION, SET_BACK, leads
from ..deletions import BY_RETENTION
from ..findings import CERTAIN, findings
from ..reproduction import Reproduction, Template
from ..rows import PARTITION as PLACE
from ..rows import of_kinds, place, prefixed, same, seen, sentence
from ..signature import BROKERS, Alike, Search, Signature
from ..tables import Table
from ..tables import functions as F
from .administrators import with_groups

_SOON_MS: Final = 60_000
_SAID: Final = r"^after (\d+) ms: written until (\d+), timestamps until (\d+)$"


def find(observations: Table) -> Table:
    kept, written, stamp = (F.regexp_extract("detail", _SAID, group).cast("bigint") for group in (1, 2, 3))
    gone = of_kinds(observations, "expiry").where("topic is not null and offset is not null")
    gone = gone.where(F.col("detail").rlike(_SAID))
    gone = gone.withColumns({"kept": kept, "age": written - stamp, "said": seen()})
    gone = gone.where(F.col("age") > F.col("kept"))
    gone = prefixed(
        gone, "_", *PLACE, "offset", "time_ms", kept=F.col("kept"), age=F.col("age"), said=F.col("said")
    )
    starts = of_kinds(observations, "log-start").where(F.col("detail").startswith(BY_RETENTION))
    starts = starts.where("topic is not null and offset is not null").withColumn("shown", seen())
    own = [
        *same("_", PLACE),
        F.col("_offset") < F.col("offset"),
        F.abs(F.col("_time_ms") - F.col("time_ms")) <= _SOON_MS,
    ]
    rows = starts.join(gone, own)
    rows = rows.groupBy(*PLACE, "offset").agg(
        F.min("time_ms").alias("time_ms"),
        F.min_by("broker", "time_ms").alias("broker"),
        F.min_by("shown", "time_ms").alias("shown"),
        F.max_by("said", "_offset").alias("said"),
        F.max_by("age", "_offset").alias("age"),
        F.max_by("kept", "_offset").alias("kept"),
    )
    rows = with_groups(rows.persist(), observations)
    return findings(
        rows,
        signature="timestamps-too-old",
        confidence=CERTAIN,
        why="the broker that deleted the segment says when it was written, and up to which timestamp",
        summary=sentence(
            "the records of {at} below {offset} were deleted, which were not read yet: {missed}; their "
            "timestamps were {age} ms old already when they were written, and retention.ms is {kept}",
            at=place(),
        ),
        evidence=[F.col("said"), F.col("shown"), F.col("committed")],
    )


_TEMPLATE: Final = Template(
    """\
import pytest

from mockbroker import MockCluster

# {story}


@pytest.mark.parametrize(
    "age_ms", [pytest.param(2_592_000_000, id="incident"), pytest.param(0, id="prevented")]
)
def test_what_was_just_written_is_kept(age_ms: int) -> None:
    with MockCluster(kafka="{kafka}", brokers=3, topics={{"{topic}": 1}}, clock="manual") as cluster:
        then = cluster.clock.now_ms - age_ms
        written = [cluster.produce("{topic}", str(number), timestamp_ms=then) for number in range(10)]
        cluster.clock.advance(3_600_000)
        assert cluster.records("{topic}") == written
"""
)
_NAMES: Final = ("timestamps-too-old",)
SEARCH: Final = Search(
    "timestamps that are too old",
    find,
    ("expiry",),
    Signature(
        _NAMES,
        "records were deleted that groups had not read, since their timestamps were older than retention.ms "
        "when they were written",
        stories={"timestamps-too-old": "timestamps were older than the retention"},
        rules=leads(_NAMES, (*SET_BACK, *BEHIND), PARTITION, LATE_MS, "what it had not read was deleted"),
        looked_for=Alike("timestamps that were too old", _NAMES, BROKERS),
        reproductions=(
            Reproduction(
                _NAMES,
                "timestamps that are older than retention.ms",
                "timestamps of when the records are written",
                template=_TEMPLATE,
            ),
        ),
    ),
)

"""`disk-failed`: one of several disks of a broker failed, which had the only replica in sync of a partition.

The broker goes on without the disk (KIP-112), so that nothing is told of a broker that is away.
"""

from typing import Final

from ..findings import CERTAIN, findings
from ..readers.broker_messages import DISK_FAILED, NO_DISK
from ..rows import PARTITION, first_of, of_kinds, only_if, place, prefixed, same, seen, sentence
from ..signature import Search, Signature
from ..tables import Table, Window
from ..tables import functions as F

_NAMES: Final = ("disk-failed",)
_SOON_MS: Final = 60_000


def find(observations: Table) -> Table:
    rows = of_kinds(observations, "leader").where(F.coalesce(F.col("detail") == NO_DISK, F.lit(False)))
    rows = rows.where("topic is not null and time_ms is not null").withColumn("shown", seen())
    rows = first_of(
        rows.select(*PARTITION, "broker", "time_ms", "position", "shown"),
        Window.partitionBy(*PARTITION, "broker").orderBy("time_ms", "position"),
    )
    nobody = of_kinds(observations, "leader").where("leader < 0 and time_ms is not null")
    nobody = prefixed(nobody, "n_", *PARTITION, "time_ms", nobody=seen())
    later = [*same("n_", PARTITION), F.col("n_time_ms") >= F.col("time_ms")]
    rows = first_of(rows.join(nobody, later), Window.partitionBy(*PARTITION, "broker").orderBy("n_time_ms"))
    failed = of_kinds(observations, "complaint").where(F.col("error") == DISK_FAILED)
    failed = prefixed(failed.where("time_ms is not null"), "_", "broker", "time_ms", "detail", told=seen())
    own = [
        F.col("broker") == F.col("_broker"),
        F.abs(F.col("time_ms") - F.col("_time_ms")) <= _SOON_MS,
    ]
    found = rows.join(failed, own, "left").withColumn("apart", F.abs(F.col("time_ms") - F.col("_time_ms")))
    found = first_of(found, Window.partitionBy(*PARTITION, "broker").orderBy("apart", "_detail"))
    return findings(
        found,
        signature="disk-failed",
        confidence=CERTAIN,
        why="the broker says that the disk of the partition has failed, and that it can't lead it",
        summary=F.concat(
            sentence("a disk of broker {broker}"),
            only_if(F.col("_detail").isNotNull(), ", {_detail},"),
            sentence(" failed, and nobody else could lead {at}", at=place()),
        ),
        evidence=[F.col("told"), F.col("shown"), F.col("nobody")],
        ids=["KIP-112"],
    )


SEARCH: Final = Search(
    "disks that failed",
    find,
    ("leader",),
    Signature(
        _NAMES,
        "one of several disks of a broker failed, and a partition had its only replica in sync there",
        known_as="KIP-112",
        stories={_NAMES[0]: "a disk of {who} failed"},
        unshown="a mock broker has one disk",
    ),
)

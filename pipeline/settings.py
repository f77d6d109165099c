"""What somebody had set of a topic before something came of it."""

from collections.abc import Sequence
from typing import Final

from .rows import first_of, of_kinds, prefixed, seen
from .tables import Table, Window
from .tables import functions as F

_BEFORE_MS: Final = 600_000
_SKEW_MS: Final = 1_000


def with_setting(
    rows: Table, observations: Table, name: str, since: str, key: Sequence[str], soon: bool = True
) -> Table:
    """`rows`, which differ by `key`, with the last value of a setting of their `topic` (`value`) that was set
    before the time of their column `since`: where it says so (`act`), and how many seconds earlier
    (`earlier`). With `soon` only what was set in the ten minutes before."""
    begins = f"{name} = "
    sets = of_kinds(observations, "config").where("topic is not null and time_ms is not null")
    sets = sets.where(F.col("detail").startswith(begins))
    value = F.regexp_extract("detail", r" = (.*)$", 1)
    sets = prefixed(sets, "_", "topic", "time_ms", act=seen(), value=value)
    ago = F.col(since) - F.col("_time_ms")
    told = ago.between(-_SKEW_MS, _BEFORE_MS) if soon else ago >= -_SKEW_MS
    found = rows.join(sets, [F.col("topic") == F.col("_topic"), told], "left")
    found = found.withColumn("_ago", F.col(since) - F.col("_time_ms"))
    found = found.withColumn("earlier", F.floor(F.col("_ago") / 1000).cast("bigint"))
    return first_of(found, Window.partitionBy(*key).orderBy("_ago", "value")).drop(
        "_topic", "_time_ms", "_ago"
    )

"""What is known about a partition at the time of an event."""

from collections.abc import Sequence
from typing import Final

from .rows import after, in_order, of_kinds, seen, up_to
from .tables import Column, Table
from .tables import functions as F

NEAR_MS: Final = 60_000
"""The greatest distance between clocks, and between events that belong together."""
_KEPT: Final = (
    "source",
    "time_ms",
    "broker",
    "offset",
    "from_offset",
    "end_offset",
    "leader",
    "leader_epoch",
    "replicas",
    "detail",
)


def beside(events: Table, observations: Table, kinds: Sequence[str]) -> Table:
    """`events` with two structs for each kind: the last row of that kind in the partition, and the next one.

    For `log-start` they are called `log_start` and `next_log_start`. `events` are few, and have `topic`,
    `partition`, `time_ms`, `file` and `position`.
    """
    about = ("topic", "partition")
    where = events.select(*about).distinct()
    facts = of_kinds(observations, *kinds).join(F.broadcast(where), list(about), "left_semi")
    keys = (*about, "time_ms", "file", "position")
    fact = F.struct("kind", *_KEPT, seen().alias("seen"))
    both = events.select(*keys, F.struct(*events.columns).alias("event")).unionByName(
        facts.select(*keys, fact.alias("fact")), allowMissingColumns=True
    )
    window = in_order(*about)
    found = {}
    for kind in kinds:
        name, one = kind.replace("-", "_"), F.when(F.col("fact.kind") == kind, F.col("fact"))
        found[name] = F.last(one, True).over(up_to(window))
        found[f"next_{name}"] = F.last(one, True).over(after(window))
    return (
        both.withColumns(found).where("event is not null").select(*F.fields("event", *events.columns), *found)
    )


def near(kind: str) -> Column:
    """The next row of a kind, or else the last one, if it is near."""
    name = kind.replace("-", "_")
    following, last = F.col(f"next_{name}"), F.col(name)
    return F.coalesce(
        F.when(following["time_ms"] - F.col("time_ms") <= NEAR_MS, following),
        F.when(F.col("time_ms") - last["time_ms"] <= NEAR_MS, last),
        # A timeline may name a leader without a time: the page is about one incident.
        F.when(last["time_ms"].isNull() & (last["source"] == "timeline"), last),
    )

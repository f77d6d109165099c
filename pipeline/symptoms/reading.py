"""The symptoms in a table, each with the rows that show it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ..ledgers import notes
from ..rows import seen
from ..tables import Table
from ..tables import functions as F
from .model import Place, Symptom
from .noticing import symptoms

KEPT: Final = 1_000
"""The symptoms of which rows are shown."""


def noticed(
    observations: Table, kinds: Mapping[str, int], until_ms: int | None, tell: Callable[[str], None]
) -> list[Symptom]:
    """`kinds` counts the rows of each kind, `until_ms` is the time of the last one."""
    found = symptoms(notes(observations, kinds, tell), until_ms)
    shown = _shown(observations, {place for each in found[:KEPT] for place in each.rows})
    for each in found:
        rows = (shown[place] for place in each.rows if place in shown)
        each.evidence = sorted(rows, key=lambda row: (row["time_ms"] or 0, row["file"], row["position"]))
    return found


def _shown(observations: Table, places: set[Place]) -> dict[Place, Mapping[str, Any]]:
    """The rows at some places, as evidence; of several rows of a batch the first."""
    if not places:
        return {}
    files, positions, kinds = (sorted(set(each)) for each in zip(*places, strict=True))
    rows = observations.where(
        F.col("kind").isin(*kinds) & F.col("file").isin(*files) & F.col("position").isin(*positions)
    )
    found: dict[Place, Mapping[str, Any]] = {}
    rest: Sequence[Mapping[str, Any]] = rows.select("kind", seen().alias("seen")).collect()
    for each in sorted(rest, key=lambda row: str(row["seen"])):
        row = each["seen"]
        place = row["file"], row["position"], each["kind"]
        if place in places:
            found.setdefault(place, row)
    return found

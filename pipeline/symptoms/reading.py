"""The symptoms in a table, each with the rows that show it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from ..ledgers import Note
from ..rows import seen
from ..tables import Table
from ..tables import functions as F
from .model import Place, Symptom
from .noticing import symptoms

_ROWS: Final = 6
"""The most rows that are shown of a symptom."""
KEPT: Final = 1_000
"""The symptoms of which rows are shown."""


def noticed(observations: Table, notes: Iterable[Note], until_ms: int | None) -> list[Symptom]:
    """What ledgers noted of the rows, which end at `until_ms`."""
    found = symptoms(notes, until_ms)
    shown = _shown(observations, {place for each in found[:KEPT] for place in each.rows})
    for each in found:
        each.evidence = _once(shown[place] for place in each.rows if place in shown)
    return found


def _once(rows: Iterable[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """In order of time, each once: what replicas tell alike is told by one of them, with `also_in` for the
    others."""
    told: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["time_ms"] or 0, row["file"], row["position"])):
        known = told.setdefault((row["time_ms"], row["text"]), {**row})
        if known["file"] != row["file"]:
            known["also_in"] = known.get("also_in", 0) + 1
    return list(told.values())[:_ROWS]


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

"""Symptoms for people: those of an incident as a list of who noticed what, the others one by one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from .kinds import KINDS
from .model import Symptom

_OF_BROKERS: Final = {each.name for each in KINDS if each.of_broker}
HEADING = "Not explained"


def victims(symptoms: Sequence[Symptom], incident: int, most: int) -> Iterator[str]:
    """A line for each kind of symptom that the incident explains, or that it came with: who noticed it."""
    by_name: dict[str, dict[str, None]] = {}
    for each in symptoms:
        if incident in each.explained_by:
            by_name.setdefault(each.name, {})[_short(each)] = None
    for name, who in by_name.items():
        listed = list(who)
        more = f"; and {len(listed) - most} more" if len(listed) > most else ""
        verb = "came with" if name in _OF_BROKERS else "explains"
        yield f"{verb} {name}: {'; '.join(listed[:most])}{more}"


def unexplained(symptoms: Sequence[Symptom]) -> list[Symptom]:
    return [each for each in symptoms if not each.explained_by]


def looked_for(symptom: Symptom) -> Iterator[str]:
    """Where its cause was looked for, and where it might be."""
    if symptom.looked:
        files = dict.fromkeys(each.rstrip(",") for each in symptom.looked)
        yield f"no known cause in {'; nor in '.join(files)}"
    for each in symptom.before:
        yield f"perhaps because of what an administrator did: {each}"
    if symptom.missing:
        yield f"its cause may be told elsewhere: {'; '.join(each.rstrip(',') for each in symptom.missing)}"


def place(row: Mapping[str, Any]) -> str:
    """Where a row is that shows a symptom."""
    others = row.get("also_in", 0)
    more = f" (also in {others} other file{'s' * (others != 1)})" if others else ""
    return f"{row['file']}:{row['position']}{more}"


def _short(symptom: Symptom) -> str:
    told = symptom.who
    if symptom.at and symptom.at != told:
        told += f" in {symptom.at}"
    if symptom.offset is not None:
        told += f", {symptom.offset}"
        if symptom.end_offset is not None:
            told += f" to {symptom.end_offset - 1}"
    return told

"""What was found, for programs: `incidents.json`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from .collecting import Collected
from .coverage import not_read
from .incidents import SCHEMA, Incident
from .symptoms import Symptom

FILE: Final = "incidents.json"
_VICTIMS: Final = {
    "groups": "group",
    "producers": "producer_id",
    "transactional_ids": "transactional_id",
    "clients": "client",
}


def as_json(
    collected: Collected,
    kinds: Mapping[str, int],
    span_ms: tuple[int, int] | None,
    incidents: Sequence[Incident],
    symptoms: Sequence[Symptom],
    narrowed: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Incidents and symptoms name each other by their places in the lists. `kinds` counts the rows that were
    read, of each kind."""
    begun, ended = span_ms or (None, None)
    unreadable = kinds.get("unreadable", 0)
    explains: dict[int, list[int]] = {}
    for number, symptom in enumerate(symptoms):
        for incident in symptom.explained_by:
            explains.setdefault(incident, []).append(number)
    return {
        "schema": SCHEMA,
        "read": {
            "from_ms": begun,
            "to_ms": ended,
            "observations": sum(kinds.values()) - unreadable,
            "files": [{"file": file, "as": what} for file, what in collected.files.items()],
            "unreadable": unreadable,
            "unknown_files": list(collected.unknown),
            "not_understood": list(collected.silent),
            "missing": not_read(collected),
        },
        "narrowed": narrowed,
        "incidents": [
            _incident(each, explains.get(number, []), symptoms) for number, each in enumerate(incidents)
        ],
        "symptoms": [each.as_json() for each in symptoms],
        "unknown_lines": [each.as_json(shape) for shape, each in collected.unknown_lines],
    }


def _incident(incident: Incident, numbers: Sequence[int], symptoms: Sequence[Symptom]) -> dict[str, Any]:
    begun, ended = incident.span_ms or (None, None)
    told = incident.as_json()
    findings = [event["finding"] for event in told["events"]]
    about = [*findings, *(symptoms[each].as_json() for each in numbers)]
    return {
        **told,
        "why": incident.cause["why"],
        "from_ms": begun,
        "to_ms": ended,
        "victims": _victims(about),
        "symptoms": list(numbers),
    }


def _victims(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """To whom it happened, each once."""
    told = list(rows)
    found = {name: _each(row.get(column) for row in told) for name, column in _VICTIMS.items()}
    places = dict.fromkeys((row["topic"], row.get("partition")) for row in told if row.get("topic"))
    found["partitions"] = [{"topic": topic, "partition": partition} for topic, partition in places]
    return found


def _each(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(each for each in values if each is not None))

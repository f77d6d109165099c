"""The incidents in a report that `analyze --out` wrote."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ...json_texts import read_json
from ..errors import PipelineError
from ..incidents.model import SCHEMA
from ..rows import INTERNAL

FILE: Final = "incidents.json"
_TOPIC, _GROUP = "orders", "readers"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An incident of a report. `signatures` are those of its events, in their order; of equal ones in a row
    the first is kept, because a history has only one group. `why`, `evidence`, `group` and `confidence` are
    those of its cause."""

    name: str
    story: str
    topic: str
    signatures: tuple[str, ...]
    why: str = ""
    evidence: str = ""
    group: str = _GROUP
    confidence: str = ""


def read(report: Path) -> list[Recorded]:
    """The incidents in the folder of a report, or in its `incidents.json`. PipelineError says what to do."""
    path = report / FILE if report.is_dir() else report
    try:
        told = read_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise PipelineError(
            f"{path}: {reason}: give a folder that `mockbroker analyze --out` wrote"
        ) from None
    except ValueError:
        raise PipelineError(f"{path} is not the {FILE} of `mockbroker analyze --out`") from None
    try:
        if told["schema"] != SCHEMA:
            raise PipelineError(f"{path} has schema {told['schema']}, this mockbroker knows {SCHEMA}")
        return [_recorded(each) for each in told["incidents"]]
    except (KeyError, TypeError, IndexError) as error:
        raise PipelineError(f"{path} is not the {FILE} of `mockbroker analyze --out`: {error!r}") from None


def choose(incidents: list[Recorded], number: int | None) -> Recorded:
    """The incident with a number, from 1 on; without a number, the only one. PipelineError."""
    if not incidents:
        raise PipelineError("the report has no incident: there is nothing to reproduce")
    if number is None and len(incidents) == 1:
        return incidents[0]
    if number is None or not 1 <= number <= len(incidents):
        listed = "\n".join(f"  {i}  {each.name}: {each.story}" for i, each in enumerate(incidents, 1))
        raise PipelineError(f"choose an incident with --number:\n{listed}")
    return incidents[number - 1]


def _recorded(row: Mapping[str, Any]) -> Recorded:
    findings = [event["finding"] for event in row["events"]]
    names = [str(each["signature"]) for each in findings]
    kept = tuple(name for i, name in enumerate(names) if i == 0 or names[i - 1] != name)
    cause = findings[0]
    evidence = "\n".join(str(each["text"]) for each in cause.get("evidence", ()))
    topic, why = str(cause.get("topic") or _TOPIC), str(cause.get("why", ""))
    if topic in INTERNAL:
        topic = _TOPIC
    group, confidence = str(cause.get("group") or _GROUP), str(cause.get("confidence", ""))
    return Recorded(str(row["name"]), str(row["story"]), topic, kept, why, evidence, group, confidence)

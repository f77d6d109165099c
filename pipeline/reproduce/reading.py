"""The incidents in a report that `analyze --out` wrote."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ...json_texts import read_json
from ..errors import PipelineError
from ..incidents.model import SCHEMA
from ..incidents_file import FILE
from ..narrowing import EVERYTHING, Wanted, kept
from ..rows import INTERNAL

_SCHEMAS: Final = (1, SCHEMA)
_TOPIC, _GROUP = "orders", "readers"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An incident of a report. `signatures` are those of its events, in their order; of equal ones in a row
    the first is kept, because a history has only one group. `why`, `evidence`, `group` and `confidence` are
    those of its cause. `number` is its place in the report, from 1 on."""

    name: str
    story: str
    topic: str
    signatures: tuple[str, ...]
    why: str = ""
    evidence: str = ""
    group: str = _GROUP
    confidence: str = ""
    number: int = 1


def is_report(path: Path) -> bool:
    """Whether it is the folder of a report, or its `incidents.json`."""
    return path.name == FILE or (path / FILE).is_file()


def read(report: Path, wanted: Wanted = EVERYTHING) -> list[Recorded]:
    """The incidents that are wanted in the folder of a report, or in its `incidents.json`. PipelineError says
    what to do."""
    told = load(report)
    try:
        findings = [[event["finding"] for event in each["events"]] for each in told["incidents"]]
        symptoms = [(each, each["explained_by"]) for each in told.get("symptoms", ())]
        if wanted:
            rows = [*chain.from_iterable(findings), *(each for each, _ in symptoms)]
            wanted.check(_named(rows, "group"), _named(rows, "topic"), _span(rows))
        numbers = kept(wanted, findings, symptoms)
        return [_recorded(told["incidents"][each], each + 1) for each in numbers]
    except (KeyError, TypeError, IndexError) as error:
        raise _no_report(report, f": {error!r}") from None


def load(report: Path) -> dict[str, Any]:
    """All that the folder of a report, or its `incidents.json`, has. PipelineError says what to do."""
    path = report / FILE if report.is_dir() else report
    try:
        told: dict[str, Any] = read_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise PipelineError(
            f"{path}: {reason}: give a folder that `mockbroker analyze --out` wrote"
        ) from None
    except ValueError:
        raise _no_report(report) from None
    try:
        if told["schema"] not in _SCHEMAS:
            raise PipelineError(f"{path} has schema {told['schema']}, this mockbroker knows {SCHEMA}")
    except (KeyError, TypeError) as error:
        raise _no_report(report, f": {error!r}") from None
    return told


def _no_report(report: Path, why: str = "") -> PipelineError:
    path = report / FILE if report.is_dir() else report
    return PipelineError(f"{path} is not the {FILE} of `mockbroker analyze --out`{why}")


def choose(incidents: list[Recorded], number: int | None) -> Recorded:
    """The incident with a number; without a number, the only one. PipelineError."""
    found = [each for each in incidents if number in (None, each.number)]
    if len(found) == 1:
        return found[0]
    listed = "\n".join(f"  {each.number}  {each.name}: {each.story}" for each in incidents)
    raise PipelineError(f"choose an incident with --number, or --all:\n{listed}")


def _named(rows: Iterable[Mapping[str, Any]], key: str) -> set[str]:
    return {each[key] for each in rows if each.get(key) is not None}


def _span(rows: Iterable[Mapping[str, Any]]) -> tuple[int, int] | None:
    times = [each["from_ms"] for each in rows if each.get("from_ms") is not None]
    return (min(times), max(times)) if times else None


def _recorded(row: Mapping[str, Any], number: int) -> Recorded:
    findings = [event["finding"] for event in row["events"]]
    names = [str(each["signature"]) for each in findings]
    once = tuple(name for i, name in enumerate(names) if i == 0 or names[i - 1] != name)
    cause = findings[0]
    evidence = "\n".join(str(each["text"]) for each in cause.get("evidence", ()))
    topic, why = str(cause.get("topic") or _TOPIC), str(cause.get("why", ""))
    if topic in INTERNAL:
        topic = _TOPIC
    group, confidence = str(cause.get("group") or _GROUP), str(cause.get("confidence", ""))
    return Recorded(
        str(row["name"]), str(row["story"]), topic, once, why, evidence, group, confidence, number
    )

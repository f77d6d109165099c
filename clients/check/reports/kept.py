"""What the cards of clients are made of, kept beside them: so a card can be made again for one client, or for
one scenario, without playing everything again."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from mockbroker.errors import MockBrokerError
from mockbroker.protocol.releases import Release, parse

from ...drivers import SHIPPED
from ..cells import Cell
from ..hearing import Heard
from ..report import Report
from ..scenarios import SCENARIOS
from ..verdicts import Judged, Verdict

FOLDER: Final = "data"
_EVIDENCE: Final = 2
"""As many lines of it as a card shows."""


class KeptError(MockBrokerError, ValueError):
    """A file of kept runs that can't be read."""


def add(folder: Path, report: Report) -> Report:
    """The report, with the runs of that client that were kept before, unless they were played anew, or with
    another version of it. All of them are kept. KeptError, OSError."""
    path = folder / FOLDER / f"{report.name}.json"
    before = _read(path) if path.exists() else None
    runs = before.judged if before is not None and before.client == report.client else ()
    by_place = {_place(each.cell): each for each in (*runs, *report.judged)}
    whole = replace(report, judged=tuple(by_place[each] for each in sorted(by_place)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_written(whole), encoding="utf-8")
    return whole


def every(folder: Path) -> list[Report]:
    """Of all clients that are kept there. KeptError, OSError."""
    order = {name: at for at, name in enumerate(SHIPPED)}
    paths = (folder / FOLDER).glob("*.json")
    return [
        _read(each) for each in sorted(paths, key=lambda path: (order.get(path.stem, len(order)), path.stem))
    ]


def _place(cell: Cell) -> tuple[bool, int, bool, Release, bool, str]:
    """Of no other cell. By it they are as planned; those with another answer of one behaviour come last."""
    at = list(SCENARIOS).index(cell.scenario.name)
    return cell.one_of_many, at, bool(cell.policies), parse(cell.kafka), cell.fixed, cell.answers


def _written(report: Report) -> str:
    decided = sorted(frozenset[str]().union(*(each.decided for each in report.judged)))
    about = {"client": report.client, "options": report.options, "decided": decided}
    runs = ",\n".join(f"  {json.dumps(_run(each), ensure_ascii=False)}" for each in report.judged)
    return f'{json.dumps(about, ensure_ascii=False)[:-1]},\n "runs": [\n{runs}\n ]}}\n'


def _run(judged: Judged) -> dict[str, Any]:
    cell, verdict = judged.cell, judged.verdict
    said = {
        "scenario": cell.scenario.name,
        "kafka": cell.kafka,
        "fixed": cell.fixed,
        "policies": dict(cell.policies),
        "one_of_many": cell.one_of_many,
        "verdict": verdict.word,
        "violated": verdict.violated,
        "evidence": verdict.evidence[:_EVIDENCE],
        "heard": [each.as_json() for each in verdict.heard],
        "times": [judged.times, judged.runs],
    }
    return {
        name: value
        for name, value in said.items()
        if value not in ([], (), {}) and (name, value) not in _USUAL
    }


_USUAL: Final = (("one_of_many", False), ("times", [1, 1]))


def _read(path: Path) -> Report:
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        decided = frozenset(kept["decided"])
        judged = tuple(_judged(kept["runs"], decided))
        return Report(path.stem, kept["client"], tuple(kept["options"]), judged)
    except (ValueError, KeyError, TypeError) as error:
        raise KeptError(
            f"{path} has no runs of `check` ({error!r}): remove it, and play the client again"
        ) from None


def _judged(runs: list[dict[str, Any]], decided: frozenset[str]) -> Iterator[Judged]:
    """Those of scenarios that there still are."""
    for each in runs:
        if each["scenario"] not in SCENARIOS:
            continue
        scenario, one_of_many = SCENARIOS[each["scenario"]], each.get("one_of_many", False)
        cell = Cell(scenario, each["kafka"], each["fixed"], each.get("policies", {}), one_of_many)
        heard = tuple(Heard(**one) for one in each.get("heard", ()))
        evidence = tuple(each.get("evidence", ()))
        verdict = Verdict(each["verdict"], tuple(each.get("violated", ())), evidence, heard=heard)
        times, played = each.get("times", (1, 1))
        yield Judged(cell, verdict, times, played, decided)

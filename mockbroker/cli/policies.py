"""`mockbroker policies`: the catalogue of behaviours."""

import json
import sys
from typing import Any

from ..policies import CATALOGUE, Behaviour
from ..protocol.releases import names, parse


def show(kafka: str, *, as_json: bool) -> None:
    """Prints the catalogue with the defaults of `kafka`. UnknownReleaseError."""
    release = parse(kafka)
    rows: list[dict[str, Any]] = [
        {
            "name": behaviour.name,
            "summary": behaviour.summary,
            "default": behaviour.default(release),
            "answers": {answer: spans(behaviour, answer) for answer in behaviour.answers},
            "fixed": behaviour.fixed,
            "ids": list(behaviour.ids),
        }
        for behaviour in CATALOGUE.values()
    ]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Behaviours, and their answers under Kafka {release}", show_lines=True)
    table.add_column("behaviour", no_wrap=True)
    for column in ("question", "answers (the default first)", "ids"):
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(row["name"], row["summary"], _answers(row), ", ".join(row["ids"]))
    Console().print(table)


def _answers(row: dict[str, Any]) -> str:
    lines = []
    for answer, releases in sorted(row["answers"].items(), key=lambda item: item[0] != row["default"]):
        notes = [releases or "only by choice"] + (["the proposed fix"] if answer == row["fixed"] else [])
        lines.append(f"{answer}: {', '.join(notes)}")
    return "\n".join(lines)


def spans(behaviour: Behaviour[Any], answer: str) -> str:
    """The releases that gave `answer`, as `0.11 to 1.1`; empty when none did."""
    releases, found = names(), []
    for index, (since, given) in enumerate(behaviour.history):
        if given != answer:
            continue
        if index + 1 < len(behaviour.history):
            last = releases[releases.index(behaviour.history[index + 1][0]) - 1]
            found.append(since if since == last else f"{since} to {last}")
        else:
            found.append(f"{since} and later" if index else "all")
    return ", ".join(found)

"""`mockbroker policies`: the catalogue of behaviours."""

import json
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

from ..nearest import nearest
from ..policies import CATALOGUE, Behaviour
from ..protocol.releases import names, parse
from .tables import text_width, write


def show(kafka: str, wanted: list[str], *, as_json: bool) -> None:
    """Prints the wanted behaviours, or all if none is named, with the defaults of `kafka`.

    ValueError for an unknown release or behaviour.
    """
    release = parse(kafka)
    for name in wanted:
        if name not in CATALOGUE:
            raise ValueError(f"no behaviour {name!r}{nearest(name, CATALOGUE)}")
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
        if not wanted or behaviour.name in wanted
    ]
    if as_json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return
    write(_lines(rows, str(release), text_width()))


def _lines(rows: list[dict[str, Any]], release: str, within: int) -> Iterator[str]:
    yield f"Behaviours, and their answers (* under Kafka {release})"
    for row in rows:
        yield ""
        yield "  ".join(filter(None, (row["name"], ", ".join(row["ids"]))))
        yield from textwrap.wrap(row["summary"], within, initial_indent="  ", subsequent_indent="  ")
        for answer, releases in sorted(row["answers"].items(), key=lambda item: item[0] != row["default"]):
            notes = [releases or "only by choice"] + (["the proposed fix"] if answer == row["fixed"] else [])
            mark = "*" if answer == row["default"] else " "
            yield f"  {mark} {answer}: {', '.join(notes)}"


def spans(behaviour: Behaviour[Any], answer: str) -> str:
    """The releases that gave `answer`, such as `0.11 to 1.1`; empty if none did."""
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

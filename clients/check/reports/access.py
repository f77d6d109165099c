"""What users are told of logins, certificates and ACLs: a section of each card, a table of all clients."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ..hearing import Heard
from ..report import Report
from ..verdicts import RIGHT, Judged
from .markdown import plain, word

_PORT: Final = re.compile(r"(127\.0\.0\.1:)\d{1,5}")
_TITLE: Final = "## Logins, certificates and ACLs"
_CARD: Final = """
The first error that users of a producer and of a consumer were told, and how long after a broker had refused
something for the first time; for certificates, after the client was opened."""
_COMPARISON: Final = """
How long it took until the users of a producer / of a consumer were told of an error; – is not in ten seconds.
The cards have the errors."""


def card(report: Report) -> Iterator[str]:
    """The section of a client."""
    yield from ("", _TITLE, _CARD, "")
    yield "| scenario | verdict | the user of a producer | the user of a consumer |"
    yield "|---|---|---|---|"
    for judged in report.accessing:
        told = [plain(_PORT.sub(r"\1PORT", each.told)) for each in judged.verdict.heard] or ["", ""]
        name = f"[{judged.cell.scenario.name}](README.md#the-scenarios)"
        yield f"| {name} | {word(judged)} | {' | '.join(told)} |"
    wrong = [each for each in report.accessing if each.unexpected or each.verdict.word.startswith("not")]
    if wrong:
        yield ""
    for each in wrong:
        yield f"- {each.cell.scenario.name}: {word(each)}"
        yield from (f"  - {plain(line)}" for line in each.verdict.evidence[:2])
        yield f"  - `{each.cell.command(report.options)}`"


def comparison(reports: Sequence[Report], page: Callable[[Report], str]) -> Iterator[str]:
    """The table of all clients; `page` is the name of a client's card."""
    names = dict.fromkeys(each.cell.scenario.name for report in reports for each in report.accessing)
    yield from ("", _TITLE, _COMPARISON, "")
    yield f"| client | {' | '.join(names)} |"
    yield "|---|" + "---|" * len(names)
    for report in reports:
        found = {each.cell.scenario.name: each for each in report.accessing}
        told = (_short(found[name]) if name in found else "" for name in names)
        yield f"| [{report.client}]({page(report)}) | {' | '.join(told)} |"


def _short(judged: Judged) -> str:
    times = " / ".join(_time(each) for each in judged.verdict.heard)
    if judged.verdict.word == RIGHT or (times and not judged.verdict.violated):
        return times or RIGHT
    return " ".join(filter(None, (word(judged), times)))


def _time(heard: Heard) -> str:
    return f"{heard.after_ms / 1000:.1f} s" if heard.name else "–"

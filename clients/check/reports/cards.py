"""Reports as pages of Markdown: a card for each client, and a page that compares them."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from ..report import Report
from ..scenarios import SCENARIOS, STORIES
from ..verdicts import NOT_SUPPORTED, RIGHT, Judged
from . import access, kept
from .markdown import plain, word

INDEX: Final = "README.md"
_FOUND: Final = "found.md"
"""Beside the folder of the cards, in mockbroker's documentation: what is wrong with clients, by client."""
_INTRODUCTION: Final = """\
# Report cards

How released clients did in known stories, as [`mockbroker check`](../check.md) played them. A cell has the
invariants that they violated, and in how many runs they violated one or reported an error. Under brokers
with a bug this is what users of these clients saw, and no defect of the client.
`mockbroker check --client all --cards docs/report-cards` makes all cards again, `--client java` only one.
"""
_COLUMNS: Final = """
*Fixed*: brokers have every fix that was made or proposed. What counts against the client is **bold**."""


def write(folder: Path, reports: Iterable[Report]) -> None:
    """A page for each client, and `README.md` with all that have one there. Runs that were kept there before
    stay, unless they were played anew. KeptError, OSError."""
    for report in reports:
        whole = kept.add(folder, report)
        _write(folder / _file(whole), _card(whole, _defects(folder.parent / _FOUND, whole)))
    _write(folder / INDEX, _index(kept.every(folder)))


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _file(report: Report) -> str:
    return f"{report.name}.md"


def _index(reports: Sequence[Report]) -> Iterator[str]:
    yield _INTRODUCTION
    yield f"| client | {' | '.join(STORIES)} | violated while brokers answered rightly |"
    yield "|---|" + "---|" * (len(STORIES) + 1)
    for report in reports:
        told = [_shown(report, story) for story in STORIES]
        wrong = ", ".join(dict.fromkeys(each.cell.scenario.name for each in report.unexpected)) or "nothing"
        yield f"| [{report.client}]({_file(report)}) | {' | '.join(told)} | {wrong} |"
    if any(report.accessing for report in reports):
        yield from access.comparison(reports, _file)
    yield ""
    yield "## The scenarios"
    for scenario in SCENARIOS.values():
        source = f" ({scenario.source})" if scenario.source else ""
        yield ""
        yield f"**{scenario.name}**: {scenario.title}{source}. {scenario.what_happens}"
    unmet = sorted(set.intersection(*(set(each.unmet()) for each in reports))) if reports else []
    if unmet:
        yield ""
        yield "## Not met"
        yield ""
        yield f"No run made a broker decide on: {', '.join(f'`{each}`' for each in unmet)}."


def _shown(report: Report, story: str) -> str:
    shown = report.shown(story)
    words = dict.fromkeys(word for each in shown for word in each.verdict.violated or ("error",))
    return f"{', '.join(words)}: {len(shown)}" if shown else "–"


def _defects(page: Path, report: Report) -> Iterator[str]:
    """A link to what was found in this client, if there is such a page and it has something."""
    heading = f"### {report.name}"
    if page.exists() and heading in page.read_text(encoding="utf-8").splitlines():
        yield f"[What is wrong with it](../{_FOUND}#{report.name})"
        yield ""


def _card(report: Report, defects: Iterable[str]) -> Iterator[str]:
    columns = list(dict.fromkeys(each.cell.brokers for each in report.others))
    yield f"# {report.client}"
    yield ""
    yield from defects
    if columns:
        yield f"| scenario | {' | '.join(columns)} |"
        yield "|---|" + "---|" * len(columns)
    for (scenario, answers), cells in report.rows():
        if scenario.is_about_access:
            continue
        name = f"{scenario.name}<br>`{answers}`" if answers else f"[{scenario.name}]({INDEX}#the-scenarios)"
        told = (word(cells[column]) if column in cells else "" for column in columns)
        yield f"| {name} | {' | '.join(told)} |"
    if columns:
        yield _COLUMNS
    if report.accessing:
        yield from access.card(report)
    noted = [each for each in report.others if each.verdict.word not in (RIGHT, NOT_SUPPORTED)]
    if noted:
        yield from ("", "## What was seen", "")
        for each in noted:
            yield from _evidence(each, report)
    changed = [each for each in report.behaviours if each.verdict.word != RIGHT]
    if report.behaviours:
        yield from ("", "## With another answer of one behaviour", "")
        right = len(report.behaviours) - len(changed)
        runs = f"{len(report.behaviours)} runs with every fix, and another answer of one behaviour"
        yield f"Of {runs}, {right} were right."
    if changed:
        yield from ("", "| behaviour | scenario | verdict | evidence |", "|---|---|---|---|")
        for each in changed:
            first = plain(each.verdict.evidence[0]) if each.verdict.evidence else ""
            yield f"| `{each.cell.answers}` | {each.cell.scenario.name} | {word(each)} | {first} |"


def _evidence(judged: Judged, report: Report) -> Iterator[str]:
    cell = judged.cell
    chosen = f", `{cell.answers}`" if cell.answers else ""
    yield f"- {cell.scenario.name}, Kafka {cell.brokers}{chosen}: {word(judged)}"
    for each in judged.verdict.evidence[:2]:
        yield f"  - {plain(each)}"
    yield f"  - `{cell.command(report.options)}`"

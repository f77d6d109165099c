"""Reports as one HTML page, which needs nothing else."""

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Final

from ..report import Report
from ..verdicts import NOT_REACHED, NOT_SUPPORTED, RIGHT, Judged

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --right: #2a7d3f; --told: #9a6700; --wrong: #c0362c }
@media (prefers-color-scheme: dark) { :root { --right: #57c776; --told: #d9a441; --wrong: #ff7b6e } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 0 auto; padding: 1rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; vertical-align: top }
td details { max-width: 28rem }
.right { color: var(--right) } .told { color: var(--told) } .wrong { color: var(--wrong); font-weight: 600 }
.nothing { opacity: .6 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .8rem; max-height: 24rem; overflow-y: auto }
code { overflow-wrap: anywhere }
""".strip()
_CLASSES: Final = {RIGHT: "right", NOT_SUPPORTED: "nothing", NOT_REACHED: "nothing"}


def write(path: Path, reports: Iterable[Report]) -> None:
    """OSError."""
    path.write_text("\n".join(_page(list(reports))) + "\n", encoding="utf-8")


def _page(reports: list[Report]) -> Iterator[str]:
    title = escape("What " + ", ".join(each.client for each in reports) + " made of it")
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{_STYLE}</style></head><body>"
    for report in reports:
        yield f"<h1>{escape(report.client)}</h1>"
        yield f"<p>{_summary(report)}</p>"
        yield from _scenarios(report)
        yield from _behaviours(report)
    yield "</body></html>"


def _summary(report: Report) -> str:
    wrong = len(report.unexpected)
    if not wrong:
        return f"{len(report.judged)} runs. While brokers answered rightly, nothing was violated."
    runs = "one run" if wrong == 1 else f"{wrong} runs"
    return f"{len(report.judged)} runs. In {runs} something was violated though brokers answered rightly."


def _scenarios(report: Report) -> Iterator[str]:
    columns = report.columns
    yield '<div class="wide"><table><thead><tr><th scope="col">scenario</th>'
    yield "".join(f'<th scope="col">{escape(each)}</th>' for each in columns) + "</tr></thead><tbody>"
    for (scenario, answers), cells in report.rows():
        told = f"<br><code>{escape(answers)}</code>" if answers else f"<br>{escape(scenario.title)}"
        name = f"<details><summary>{escape(scenario.name)}</summary>{escape(scenario.what_happens)}</details>"
        yield f'<tr><th scope="row">{name if not answers else escape(scenario.name)}{told}</th>'
        for column in columns:
            yield f"<td>{_cell(cells[column], report) if column in cells else ''}</td>"
        yield "</tr>"
    yield "</tbody></table></div>"


def _behaviours(report: Report) -> Iterator[str]:
    if not report.behaviours:
        return
    changed = [each for each in report.behaviours if each.verdict.word != RIGHT]
    yield "<h2>With another answer of one behaviour</h2>"
    yield f"<p>{len(report.behaviours)} runs; {len(report.behaviours) - len(changed)} came out right.</p>"
    yield '<div class="wide"><table><tbody>'
    for each in changed:
        name, scenario = escape(each.cell.answers), escape(each.cell.scenario.name)
        yield f'<tr><th scope="row"><code>{name}</code></th><td>{scenario}</td>'
        yield f"<td>{_cell(each, report)}</td></tr>"
    yield "</tbody></table></div>"


def _cell(judged: Judged, report: Report) -> str:
    verdict = judged.verdict
    kind = "wrong" if judged.unexpected else _CLASSES.get(verdict.word, "told")
    told = f'<span class="{kind}">{escape(judged.told)}</span>'
    if verdict.word == RIGHT:
        return told
    evidence = "".join(f"<p>{escape(each)}</p>" for each in verdict.evidence)
    command = f"<p><code>{escape(judged.cell.command(report.options))}</code></p>"
    story = escape("\n".join(verdict.story))
    story = f"<pre>{story}</pre>" if story else ""
    return f"<details><summary>{told}</summary>{evidence}{command}{story}</details>"

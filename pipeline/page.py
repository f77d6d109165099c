"""The report as one HTML page without scripts or anything from elsewhere; all text from files is escaped."""

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from .acts import HEADING as HEADING_OF_ACTS
from .acts import Act
from .analysis import Analysis
from .incidents import Event, Incident
from .plots import Plot, Points
from .readers.trace import TAKEN_FOR
from .report import counted, matches, nothing_known, trouble, where
from .symptoms import HEADING, Symptom, looked_for, place, unexplained, victims
from .times import when

_MOST: Final = 100
"""The most incidents on the page, and the most events of each; incidents.json has all of them."""
_EVENTS: Final = 2_000
"""The most events of all incidents, if each has more than a few: browsers take time for each."""
_FEW: Final = 10
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 860, 220, 80, 24
_COLOURS: Final = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b9770e", "#117a65", "#616a6b", "#d35400")
_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
article { border-left: 4px solid #8888; padding: .1rem 0 .1rem 1rem; margin: 1.6rem 0; }
article.certain { border-color: #c0392b; } article.likely { border-color: #b9770e; }
h2, p, li, td { overflow-wrap: anywhere; }
article h2 { margin: 0; } article p { margin: .3rem 0; } .dim { opacity: .75; } code, pre { font-size: 13px; }
.timeline { padding-left: 1.6rem; margin: .8rem 0; } .timeline li { margin: .5rem 0; }
time { font-variant-numeric: tabular-nums; font-weight: 600; }
.scroll { overflow-x: auto; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; }
svg { width: 100%; height: auto; background: #8881; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
.trouble { color: #b9770e; }
"""


def write_page(analysis: Analysis, path: Path) -> None:
    """Writes one HTML file that needs nothing else."""
    path.write_text("\n".join(_page(analysis, path.parent)) + "\n", encoding="utf-8")


def _page(analysis: Analysis, folder: Path) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>mockbroker analyze</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield from _overview(analysis)
    told = analysis.incidents[:_MOST]
    traces = {file for file, what in analysis.collected.files.items() if what == TAKEN_FOR}
    if traces:
        command = shlex.join(["mockbroker", "view", str(folder)])
        yield f"<p>To go through it beside the cluster: <code>{escape(command)}</code></p>"
    most = min(_MOST, max(_FEW, _EVENTS // max(len(told), 1)))
    for number, incident in enumerate(told):
        noticed = list(victims(analysis.symptoms, number, most))
        yield from _incident(incident, noticed, analysis.plots.get(number), most, traces)
    if (left := len(analysis.incidents) - _MOST) > 0:
        yield f"<p>{left:,} more incidents are in incidents.json.</p>"
    yield from _unexplained(unexplained(analysis.symptoms))
    yield from _done(analysis.acts)
    if analysis.busiest:
        yield "<h2>Offsets and lag over time</h2>"
        for plot in analysis.busiest:
            yield from _plot(plot)
    yield from _read(analysis)
    yield "</body>\n</html>"


def _overview(analysis: Analysis) -> Iterator[str]:
    first, *rest = [counted(analysis)] if analysis.incidents else nothing_known(analysis)
    yield f"<h1>{escape(first.rstrip('.'))}</h1>"
    for line in rest:
        yield f"<p>{escape(line[0].upper() + line[1:])}.</p>"
    rows = sum(analysis.kinds.values()) - analysis.kinds["unreadable"]
    told = f"{rows:,} observations in {analysis.files} files"
    if analysis.span_ms:
        told += f", from {when(analysis.span_ms[0])} to {when(analysis.span_ms[1])} (UTC)"
    yield f'<p class="dim">{escape(told)}.</p>'
    for clock in analysis.clocks:
        yield f"<p>{escape(clock.told[0].upper() + clock.told[1:])}.</p>"
    if lines := trouble(analysis):
        summary = "<summary>some of it could not be read or was not understood</summary>"
        yield f'<details class="trouble">{summary}<pre>{escape(chr(10).join(lines))}</pre></details>'


def _unexplained(symptoms: Sequence[Symptom]) -> Iterator[str]:
    if symptoms:
        yield f"<h2>{HEADING}</h2>"
    for each in symptoms[:_MOST]:
        about = " · ".join(filter(None, (each.who, when(each.to_ms))))
        yield f'<article>\n<h2>{escape(each.name)}</h2>\n<p class="dim">{escape(about)}</p>'
        yield f"<p><strong>{escape(each.told)}.</strong></p>"
        for line in looked_for(each):
            yield f'<p class="dim">{escape(line[0].upper() + line[1:])}.</p>'
        yield from _evidence(each.evidence)
        yield "</article>"
    if (left := len(symptoms) - _MOST) > 0:
        yield f"<p>{left:,} more symptoms are in incidents.json.</p>"


def _done(acts: Sequence[Act]) -> Iterator[str]:
    if acts:
        yield f"<h2>{HEADING_OF_ACTS}</h2>\n<ul>"
        for each in acts[:_MOST]:
            yield f"<li><time>{escape(when(each.from_ms))}</time> {escape(each.told)}</li>"
        yield "</ul>"


def _evidence(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = "\n".join(f"{place(each)}  {when(each['time_ms'])}\n    {each['text']}" for each in rows)
    yield f"<details><summary>evidence</summary><pre>{escape(shown)}</pre></details>"


def _incident(
    incident: Incident, noticed: Sequence[str], plot: Plot | None, most: int, traces: Collection[str]
) -> Iterator[str]:
    cause = incident.cause
    yield f'<article class="{escape(incident.confidence)}">'
    yield f"<h2>{escape(incident.name)}</h2>"
    about = " · ".join(filter(None, (incident.confidence, where(cause), when(cause["from_ms"]))))
    yield f'<p class="dim">{escape(about)}</p>'
    yield f"<p><strong>{escape(incident.story)}.</strong></p>"
    why = f"{incident.confidence.capitalize()}, because {cause['why']}."
    yield f"<p>{escape(why)}</p>"
    for line in incident.ruled_out:
        yield f'<p class="dim">{escape(line[0].upper() + line[1:])}.</p>'
    if matched := matches(incident):
        yield f"<p>Matches {escape(', '.join(matched))}.</p>"
    for line in noticed:
        yield f"<p>{escape(line[0].upper() + line[1:])}.</p>"
    if command := _to_see(incident, traces):
        yield f"<p>To see the cluster at that time: <code>{escape(command)}</code></p>"
    yield '<ol class="timeline">'
    for event in incident.events[:most]:
        yield from _event(event)
    yield "</ol>"
    if (left := len(incident.events) - most) > 0:
        yield f"<p>{left:,} more events are in incidents.json.</p>"
    if plot is not None:
        yield from _plot(plot)
    yield "</article>"


def _to_see(incident: Incident, traces: Collection[str]) -> str:
    """The command that shows in the console what led to it; empty if no trace was read."""
    for event in incident.events:
        for row in event.finding["evidence"]:
            if row["file"] in traces and row["time_ms"] is not None:
                return shlex.join(["mockbroker", "view", row["file"], "--at", when(row["time_ms"])])
    return ""


def _event(event: Event) -> Iterator[str]:
    finding = event.finding
    yield f"<li><time>{escape(when(event.time_ms))}</time> {escape(finding['summary'])}"
    if event.because is not None:
        what = f"{finding['signature']}, {finding['confidence']}: {finding['why']}"
        after = f"It followed from {event.because + 1}: {event.link}."
        yield f'<p class="dim">{escape(what)}. {escape(after)}</p>'
    yield from _evidence(finding["evidence"])
    yield "</li>"


def _plot(plot: Plot) -> Iterator[str]:
    yield f"<h3>{escape(f'{plot.topic}-{plot.partition}')}</h3>"
    yield _svg("offset", plot.offsets, plot)
    if any(plot.lag.values()):
        yield _svg("lag", plot.lag, plot)


def _svg(what: str, series: dict[str, Points], plot: Plot) -> str:
    points = [point for each in series.values() for point in each]
    times = [time for time, _ in points] + [time for time, _ in plot.marks]
    first, last = min(times), max(times)
    low, high = min(value for _, value in points), max(value for _, value in points)

    def x(time: int) -> float:
        return _LEFT + (time - first) / max(last - first, 1) * (_WIDTH - _LEFT - 10)

    def y(value: int) -> float:
        return _HEIGHT - _BOTTOM - (value - low) / max(high - low, 1) * (_HEIGHT - _BOTTOM - 10)

    height = _HEIGHT + 16 * len(series)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">']
    for time, event in plot.marks:
        line = f'x1="{x(time):.1f}" x2="{x(time):.1f}" y1="10" y2="{_HEIGHT - _BOTTOM}"'
        parts.append(f'<line {line} stroke="#c0392b" stroke-dasharray="3 3"/>')
        parts.append(f'<text x="{x(time):.1f}" y="9" text-anchor="middle">{event}</text>')
    for at, value in ((y(low), low), (y(high), high)):
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - 10}" y1="{at:.1f}" y2="{at:.1f}" stroke="#8886"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:,}</text>')
    for anchor, at, time in (("start", x(first), first), ("end", x(last), last)):
        parts.append(f'<text x="{at:.1f}" y="{_HEIGHT - 8}" text-anchor="{anchor}">{when(time)}</text>')
    for number, (name, each) in enumerate(series.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        path = " ".join(f"{x(time):.1f},{y(value):.1f}" for time, value in each)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        at = _HEIGHT + 16 * number + 8
        parts.append(f'<rect x="{_LEFT}" y="{at - 8}" width="10" height="10" fill="{colour}"/>')
        label = f"{what}: {name}" if what == "offset" else f"lag of group {name}"
        parts.append(f'<text x="{_LEFT + 16}" y="{at + 1}">{escape(label)}</text>')
    return "".join([*parts, "</svg>"])


def _read(analysis: Analysis) -> Iterator[str]:
    yield '<details><summary>What was read</summary>\n<div class="scroll">'
    yield "<table><tr><th>file</th><th>taken for</th></tr>"
    for file, what in analysis.collected.files.items():
        yield f"<tr><td><code>{escape(file)}</code></td><td>{escape(what)}</td></tr>"
    for file, lacks in analysis.collected.unknown.items():
        why = "not known, not read" if lacks is None else f"not read: {lacks}"
        yield f"<tr><td><code>{escape(file)}</code></td><td>{escape(why)}</td></tr>"
    yield "</table>\n<table><tr><th>observation</th><th>times</th></tr>"
    for kind, count in sorted(analysis.kinds.items()):
        yield f"<tr><td>{escape(kind)}</td><td>{count:,}</td></tr>"
    yield "</table></div></details>"
    if analysis.unreadable:
        yield "<details><summary>What could not be read</summary>\n<pre>"
        for each in analysis.unreadable:
            text = f"\n    {each['text']}" if each["text"] else ""
            yield escape(f"{each['file']}:{each['position']}: {each['detail']}{text}")
        yield "</pre></details>"

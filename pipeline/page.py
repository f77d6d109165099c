"""The report as one HTML page without scripts or anything from elsewhere; all text from files is escaped."""

from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Final

from .analysis import Analysis, Finding
from .plots import Plot, Points
from .report import trouble, when, where

_MOST: Final = 500
"""The most findings on the page; Parquet has all of them."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 860, 220, 80, 24
_COLOURS: Final = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e44ad", "#b9770e", "#117a65", "#616a6b", "#d35400")
_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.2rem; }
table { border-collapse: collapse; }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top; }
article { border-left: 4px solid #8888; padding: .1rem 0 .1rem 1rem; margin: 1.2rem 0; }
article.certain { border-color: #c0392b; } article.likely { border-color: #b9770e; }
article p { margin: .2rem 0; } .dim { opacity: .7; } code, pre { font-size: 13px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0; }
svg { width: 100%; height: auto; background: #8881; }
svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
.trouble { color: #b9770e; }
"""


def write_page(analysis: Analysis, path: Path) -> None:
    """Writes one HTML file that needs nothing else."""
    path.write_text("\n".join(_page(analysis)) + "\n", encoding="utf-8")


def _page(analysis: Analysis) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>mockbroker analyze</title>\n<style>{_STYLE}</style>\n</head>\n<body>"
    yield "<h1>What was found</h1>"
    yield from _overview(analysis)
    yield from _findings(analysis)
    yield from _plots(analysis)
    yield from _files(analysis)
    yield "</body>\n</html>"


def _overview(analysis: Analysis) -> Iterator[str]:
    rows = sum(analysis.kinds.values()) - analysis.kinds["unreadable"]
    told = f"{rows:,} observations in {analysis.files} files"
    if analysis.span_ms:
        told += f", from {when(analysis.span_ms[0])} to {when(analysis.span_ms[1])} (UTC)"
    yield f"<p>{escape(told)}.</p>"
    if lines := trouble(analysis):
        yield f'<pre class="trouble">{escape(chr(10).join(lines))}</pre>'
    counted = Counter((each["signature"], each["confidence"]) for each in analysis.findings)
    if not counted:
        yield "<p><strong>No finding.</strong></p>"
        return
    yield "<table><tr><th>finding</th><th>confidence</th><th>times</th></tr>"
    for (signature, confidence), count in counted.items():
        yield f"<tr><td>{escape(signature)}</td><td>{escape(confidence)}</td><td>{count:,}</td></tr>"
    yield "</table>"


def _findings(analysis: Analysis) -> Iterator[str]:
    for finding in analysis.findings[:_MOST]:
        yield f'<article class="{escape(finding["confidence"])}">'
        told = (finding["signature"], finding["confidence"], where(finding), when(finding["from_ms"]))
        about = " · ".join(map(str, told))
        yield f'<p class="dim">{escape(about)}</p>'
        yield f"<p><strong>{escape(finding['summary'])}</strong></p>"
        yield f'<p>{escape(finding["why"])}. <span class="dim">{escape(_matches(finding))}</span></p>'
        shown = "\n".join(
            f"{each['file']}:{each['position']}  {when(each['time_ms'])}\n    {each['text']}"
            for each in finding["evidence"]
        )
        yield f"<details><summary>evidence</summary><pre>{escape(shown)}</pre></details>"
        yield "</article>"
    if len(analysis.findings) > _MOST:
        yield f"<p>{len(analysis.findings) - _MOST:,} more are in findings.parquet.</p>"


def _matches(finding: Finding) -> str:
    matched = [*finding["ids"], *finding["behaviours"]]
    return f"Matches {', '.join(matched)}." if matched else ""


def _plots(analysis: Analysis) -> Iterator[str]:
    if analysis.plots:
        yield "<h2>Offsets and lag over time</h2>"
    for plot in analysis.plots:
        yield f"<h3>{escape(f'{plot.topic}-{plot.partition}')}</h3>"
        yield _svg("offset", plot.offsets, plot)
        if any(plot.lag.values()):
            yield _svg("lag", plot.lag, plot)


def _svg(what: str, series: dict[str, Points], plot: Plot) -> str:
    points = [point for each in series.values() for point in each]
    times = [time for time, _ in points] + [at for mark in plot.marks for at in mark[:2]]
    first, last = min(times), max(times)
    low, high = min(value for _, value in points), max(value for _, value in points)

    def x(time: int) -> float:
        return _LEFT + (time - first) / max(last - first, 1) * (_WIDTH - _LEFT - 10)

    def y(value: int) -> float:
        return _HEIGHT - _BOTTOM - (value - low) / max(high - low, 1) * (_HEIGHT - _BOTTOM - 10)

    height = _HEIGHT + 16 * len(series)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">']
    for begin, end, signature in plot.marks:
        width = max(x(end) - x(begin), 2)
        parts.append(
            f'<rect x="{x(begin):.1f}" y="10" width="{width:.1f}" height="{_HEIGHT - _BOTTOM - 10}" '
            f'fill="#c0392b" fill-opacity=".25"><title>{escape(signature)} {when(begin)}</title></rect>'
        )
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


def _files(analysis: Analysis) -> Iterator[str]:
    yield "<h2>What was read</h2>\n<table><tr><th>file</th><th>taken for</th></tr>"
    for file, what in analysis.collected.files.items():
        yield f"<tr><td><code>{escape(file)}</code></td><td>{escape(what)}</td></tr>"
    for file in analysis.collected.unknown:
        yield f"<tr><td><code>{escape(file)}</code></td><td>not known, not read</td></tr>"
    yield "</table>\n<table><tr><th>observation</th><th>times</th></tr>"
    for kind, count in sorted(analysis.kinds.items()):
        yield f"<tr><td>{escape(kind)}</td><td>{count:,}</td></tr>"
    yield "</table>"
    if analysis.unreadable:
        yield "<h2>What could not be read</h2>\n<pre>"
        for each in analysis.unreadable:
            text = f"\n    {each['text']}" if each["text"] else ""
            yield escape(f"{each['file']}:{each['position']}: {each['detail']}{text}")
        yield "</pre>"

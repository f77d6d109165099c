"""The report for people, as lines for the terminal."""

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, islice
from typing import TYPE_CHECKING, Final

from ..shown import shown
from .acts import HEADING as HEADING_OF_ACTS
from .analysis import Analysis
from .coverage import not_read, read
from .findings import SUBJECTS
from .incidents import Incident
from .incidents.model import Finding
from .symptoms import HEADING, looked_for, place, unexplained, victims
from .times import when

if TYPE_CHECKING:
    from rich.console import Console

    from .readers.shapes import Shape

_DATE: Final = len("2026-01-01 ")
_SILENT: Final = 20


def where(finding: Finding) -> str:
    """The partition, group, producer, client and broker that a finding is about."""
    told = []
    if finding["topic"] is not None:
        partition = finding["partition"]
        told.append(finding["topic"] if partition is None else f"{finding['topic']}-{partition}")
    told += [f"{name} {finding[key]}" for key, name in SUBJECTS.items() if finding[key] is not None]
    return ", ".join(told)


def show(analysis: Analysis, console: "Console", most: int = 20) -> None:
    """What was read, what could not be read, and the incidents: at most `most` of each name, with as many
    events."""
    # Texts from files are neither markup nor orders to the terminal.
    plain = partial(console.print, highlight=False, markup=False, emoji=False)
    plain(shown(_read(analysis)))
    for clock in analysis.clocks:
        plain(shown(clock.told))
    for line in trouble(analysis):
        plain(shown(line), style="yellow")
    if analysis.incidents:
        console.print(counted(analysis), style="bold", highlight=False)
    else:
        for line in nothing_known(analysis):
            plain(shown(line), soft_wrap=True)
    told: Counter[str] = Counter()
    for number, incident in enumerate(analysis.incidents):
        told[incident.name] += 1
        if told[incident.name] <= most:
            console.print()
            noticed = list(victims(analysis.symptoms, number, most))
            for line in _told(incident, noticed, console.width, most):
                plain(shown(line), soft_wrap=True)
    for line in (*_unexplained(analysis, console.width, most), *_done(analysis, console.width, most)):
        plain(shown(line), soft_wrap=True)
    if told:
        console.print()
    for name, count in told.items():
        if count > most:
            plain(f"{count - most} more of {name} are in the report")


def nothing_known(analysis: Analysis) -> list[str]:
    """That no search found anything, and in what."""
    some = unexplained(analysis.symptoms)
    if analysis.left:
        return [f"Nothing {analysis.wanted}.", f"elsewhere: {analysis.left}"]
    lines = ["No known pattern." if some else "No known pattern, and no symptom."]
    lines.append(f"read: {read(analysis.collected)}")
    if missing := not_read(analysis.collected):
        lines.append(f"not among the files: {', '.join(missing)}")
    return lines


def _unexplained(analysis: Analysis, width: int, most: int) -> Iterator[str]:
    some = unexplained(analysis.symptoms)
    if some:
        yield ""
        yield f"{HEADING}: {len(some)} symptom{'s' * (len(some) != 1)}"
    for each in some[:most]:
        yield f"{each.name}  {when(each.to_ms)}".rstrip()
        yield from _wrapped(each.told, width, 2)
        for line in looked_for(each):
            yield from _wrapped(line, width, 2)
        for row in each.evidence:
            yield from _wrapped(f"{when(row['time_ms'])[_DATE:] or '?'}  {row['text']}", width, 4)
            yield f"        {place(row)}"
    if len(some) > most:
        yield f"{len(some) - most} more are in the report"


def _done(analysis: Analysis, width: int, most: int) -> Iterator[str]:
    if analysis.acts:
        yield ""
        yield f"{HEADING_OF_ACTS}:"
    for each in analysis.acts[:most]:
        yield from _wrapped(f"{when(each.from_ms)[_DATE:]}  {each.told}", width, 2)
    if len(analysis.acts) > most:
        yield f"  {len(analysis.acts) - most} more are in the report"


def counted(analysis: Analysis) -> str:
    """How many incidents and findings there are."""
    incidents, total = len(analysis.incidents), len(analysis.findings) + analysis.left_out
    told = f"{incidents} incident{'s' * (incidents != 1)}"
    told += "" if total == incidents else f", {total} findings"
    if analysis.wanted:
        told += f" {analysis.wanted}"
    return f"{told}; elsewhere: {analysis.left}" if analysis.left else told


def _told(incident: Incident, noticed: Sequence[str], width: int, most: int) -> Iterator[str]:
    """Lines within the width, except that positions in files are not broken."""
    cause = incident.cause
    yield f"{incident.name}, {incident.confidence}  {when(cause['from_ms'])}".rstrip()
    yield from _wrapped(incident.story, width, 2)
    yield from _wrapped(f"why {incident.confidence}: {cause['why']}", width, 2)
    for line in incident.ruled_out:
        yield from _wrapped(line, width, 2)
    if matched := matches(incident):
        yield from _wrapped(f"matches {', '.join(matched)}", width, 2)
    for line in noticed:
        yield from _wrapped(line, width, 2)
    yield from _places(cause, 4)
    for event in incident.events[1 : most + 1]:
        finding = event.finding
        time = when(event.time_ms)[_DATE:] or "?"
        told = f"{time}  {finding['summary']} ({finding['signature']}, {finding['confidence']})"
        yield from _wrapped(told, width, 4)
        yield from _places(finding, 8)
    if (left := len(incident.events) - 1 - most) > 0:
        yield f"    {left} more event{'s' * (left != 1)} of this incident are in the report"


def matches(incident: Incident) -> list[str]:
    """Issues, KIPs and behaviours of mockbroker that are like the cause."""
    return [*incident.cause["ids"], *incident.cause["behaviours"]]


def _places(finding: Finding, indent: int) -> Iterator[str]:
    for each in finding["evidence"]:
        yield f"{' ' * indent}{each['file']}:{each['position']}"


def _wrapped(line: str, width: int, indent: int) -> list[str]:
    margin = " " * indent
    return textwrap.wrap(
        line,
        width,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _read(analysis: Analysis) -> str:
    rows = sum(analysis.kinds.values()) - analysis.kinds["unreadable"]
    told = f"{rows:,} observations in {analysis.files} file{'s' * (analysis.files != 1)}"
    if analysis.span_ms:
        told += f", from {when(analysis.span_ms[0])} to {when(analysis.span_ms[1])} UTC"
    return told


def silent(files: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Files of which nothing was understood, each with two of its lines."""
    for file, first in islice(files.items(), _SILENT):
        yield f"nothing was understood of {file}:"
        yield from (f"    {line}" for line in first)
    if len(files) > _SILENT:
        yield f"nothing was understood of {len(files) - _SILENT} more files"


def unknown_lines(shapes: Sequence[tuple[str, "Shape"]]) -> Iterator[str]:
    """What logs say at WARN or ERROR and nobody knows, by shape, the most frequent first."""
    if shapes:
        yield "lines at WARN or ERROR that are not known, most frequent first, each with its first place:"
    for shape, found in shapes:
        yield f"  {found.count:,} time{'s' * (found.count != 1)}: {shape}"
        yield f"    {found.file}:{found.position}"


def trouble(analysis: Analysis) -> list[str]:
    """What could not be read or understood: one line for each file."""
    lines = []
    bad = analysis.kinds["unreadable"]
    if bad:
        lines.append(f"{bad:,} time{'s' * (bad != 1)} something could not be read:")
        by_file = groupby(analysis.unreadable, key=lambda each: each["file"])
        for file, rows in by_file:
            first, *rest = rows
            more = f" (and {len(rest)} more)" if rest else ""
            lines.append(f"  {file}:{first['position']}: {first['detail']}{more}")
    if unknown := analysis.collected.unknown:
        listed = ", ".join(analysis.collected.told_unknown(5)) + (", …" if len(unknown) > 5 else "")
        lines.append(f"{len(unknown)} file{'s' * (len(unknown) != 1)} of no known kind: {listed}")
    lines += silent(analysis.collected.silent)
    lines += unknown_lines(analysis.collected.unknown_lines)
    if analysis.collected.without_zone:
        lines.append(
            f"{analysis.collected.without_zone:,} times tell no time zone: --timezone says which "
            f"(taken for UTC else)"
        )
    if analysis.left_out:
        lines.append(f"{analysis.left_out:,} findings are left out of the report")
    return lines

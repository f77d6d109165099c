"""The report for people, as lines for the terminal."""

import textwrap
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import TYPE_CHECKING

from .analysis import Analysis, Finding

if TYPE_CHECKING:
    from rich.console import Console


def when(time_ms: int | None) -> str:
    """The time for people, in UTC."""
    if time_ms is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3]
    except (ValueError, OverflowError, OSError):
        return str(time_ms)


def where(finding: Finding) -> str:
    """The partition, group, producer and broker that a finding is about."""
    told = []
    if finding["topic"] is not None:
        partition = finding["partition"]
        told.append(finding["topic"] if partition is None else f"{finding['topic']}-{partition}")
    told += [
        f"{name} {finding[key]}"
        for key, name in (("group", "group"), ("producer_id", "producer"), ("broker", "broker"))
        if finding[key] is not None
    ]
    return ", ".join(told)


def show(analysis: Analysis, console: "Console", most: int = 20) -> None:
    """What was read, what could not be read, and the findings: at most `most` of each signature."""
    console.print(_read(analysis), highlight=False, markup=False)
    for line in trouble(analysis):
        console.print(line, style="yellow", highlight=False, markup=False)
    if not analysis.findings:
        console.print("No finding.", style="green")
        return
    total = len(analysis.findings) + analysis.left_out
    console.print(f"{total} finding{'s' * (total != 1)}", style="bold", highlight=False)
    shown: Counter[str] = Counter()
    for finding in analysis.findings:
        shown[finding["signature"]] += 1
        if shown[finding["signature"]] <= most:
            console.print()
            # Text from files must not be taken for markup.
            for line in _told(finding, console.width):
                console.print(line, highlight=False, markup=False, soft_wrap=True)
    console.print()
    for signature, count in shown.items():
        if count > most:
            console.print(
                f"{count - most} more of {signature} are in the report", highlight=False, markup=False
            )


def _told(finding: Finding, width: int) -> Iterator[str]:
    """Lines within the width, except that positions in files are not broken."""
    yield f"{finding['signature']}, {finding['confidence']}  {when(finding['from_ms'])}".rstrip()
    lines = [finding["summary"], f"why {finding['confidence']}: {finding['why']}"]
    matched = [*finding["ids"], *finding["behaviours"]]
    if matched:
        lines.append("matches " + ", ".join(matched))
    for line in lines:
        yield from textwrap.wrap(
            line,
            width,
            initial_indent="  ",
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )
    for each in finding["evidence"]:
        yield f"    {each['file']}:{each['position']}"


def _read(analysis: Analysis) -> str:
    rows = sum(analysis.kinds.values()) - analysis.kinds["unreadable"]
    told = f"{rows:,} observations in {analysis.files} file{'s' * (analysis.files != 1)}"
    if analysis.span_ms:
        told += f", from {when(analysis.span_ms[0])} to {when(analysis.span_ms[1])} UTC"
    return told


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
        listed = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        lines.append(f"{len(unknown)} file{'s' * (len(unknown) != 1)} of no known kind: {listed}")
    if analysis.collected.without_zone:
        lines.append(
            f"{analysis.collected.without_zone:,} times tell no time zone: --timezone says which "
            f"(taken for UTC else)"
        )
    if analysis.left_out:
        lines.append(f"{analysis.left_out:,} findings are left out of the report")
    return lines

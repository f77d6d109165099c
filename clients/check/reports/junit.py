"""Reports as JUnit XML, as CI servers read it: a suite for each client, a case for each run."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final
from xml.etree import ElementTree

from ..report import Report
from ..verdicts import NOT_REACHED, NOT_SUPPORTED, Judged

_UNPRINTABLE: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no place for."""


def write(path: Path, reports: Iterable[Report]) -> None:
    """OSError."""
    root = ElementTree.Element("testsuites", name="mockbroker check")
    for report in reports:
        _suite(root, report)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _suite(root: ElementTree.Element, report: Report) -> None:
    judged = report.judged
    skipped = [each for each in judged if _skipped(each)]
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=report.client,
        tests=str(len(judged)),
        failures=str(len(report.unexpected)),
        errors="0",
        skipped=str(len(skipped)),
        time=f"{sum(each.seconds for each in judged):.1f}",
    )
    for each in judged:
        cell = each.cell
        name = f"{cell.brokers} [{cell.answers}]" if cell.answers else cell.brokers
        classname = f"{report.client}.{cell.scenario.name}"
        case = ElementTree.SubElement(
            suite, "testcase", classname=classname, name=name, time=f"{each.seconds:.1f}"
        )
        if each.unexpected:
            told = ElementTree.SubElement(case, "failure", message=_clean(each.told))
            told.text = _clean("\n".join((*each.verdict.evidence, "", *each.verdict.story)))
        elif _skipped(each):
            ElementTree.SubElement(case, "skipped", message=_clean("; ".join(each.verdict.evidence)))
        output = (each.told, *each.verdict.evidence, cell.command(report.options))
        ElementTree.SubElement(case, "system-out").text = _clean("\n".join(output))


def _skipped(judged: Judged) -> bool:
    return judged.verdict.word in (NOT_SUPPORTED, NOT_REACHED)


def _clean(text: str) -> str:
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)

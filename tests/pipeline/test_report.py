"""What `analyze` prints of its findings, and its page."""

import io
from collections import Counter
from html import escape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from mockbroker.pipeline.analysis import Analysis
from mockbroker.pipeline.collecting import Collected
from mockbroker.pipeline.incidents import Event, Incident
from mockbroker.pipeline.narrowing import EVERYTHING
from mockbroker.pipeline.page import write_page
from mockbroker.pipeline.report import show

PLACE = "/a/folder/with/a/name/that/is/longer/than/any/terminal/is/wide/as/those/of/builds/are/consumer.log"
FINDING = {
    "signature": "offset-lost",
    "confidence": "possible",
    "from_ms": 1_763_900_000_000,
    "summary": "the offset 2 of group gone for orders-0 was deleted 35 ms after it was [committed]",
    "why": "too young to expire, but deleting a group by hand writes such tombstones too",
    "ids": ["KAFKA-8069"],
    "behaviours": ["loaded-offsets"],
    "evidence": [{"file": PLACE, "position": "30"}],
    **dict.fromkeys(("group", "client", "topic", "partition", "producer_id", "broker", "to_ms")),
}


def test_the_page_of_five_hundred_incidents_is_small(tmp_path: Path) -> None:
    row = {"file": PLACE, "position": 30, "time_ms": 0, "text": "x" * 300}
    told = {**FINDING, "to_ms": FINDING["from_ms"], "evidence": [row] * 4}
    incidents = [Incident([Event(told), *[Event(told, 0, "so")] * 99], "story")] * 500
    found = Analysis(Collected(tmp_path), findings=[told] * 50_000, incidents=incidents)
    write_page(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert len(page) < 5_000_000
    assert page.count("<") < 50_000
    assert "400 more incidents are in incidents.json" in page
    assert "80 more events are in incidents.json" in page


@pytest.mark.parametrize(("taken_for", "told"), [("mockbroker trace", 1), ("client log", 0)])
def test_a_trace_is_shown_at_the_moment_of_an_incident(tmp_path: Path, taken_for: str, told: int) -> None:
    row = {"file": "a b.jsonl", "position": 30, "time_ms": FINDING["from_ms"], "text": ""}
    event = Event({**FINDING, "to_ms": FINDING["from_ms"], "evidence": [row]})
    found = Analysis(Collected(tmp_path), findings=[], incidents=[Incident([event], "story")] * 2)
    found.collected.files["a b.jsonl"] = taken_for
    write_page(found, tmp_path / "page.html")
    command = escape("mockbroker view 'a b.jsonl' --at '2025-11-23 12:13:20.000'")
    assert (tmp_path / "page.html").read_text().count(f"<code>{command}</code>") == 2 * told


@pytest.mark.parametrize("width", [80, 120])
def test_findings_keep_to_the_width_and_places_in_files_are_whole(width: int) -> None:
    collected = SimpleNamespace(unknown=[], silent={}, without_zone=0, unknown_lines=[])
    analysis: Any = SimpleNamespace(
        findings=[FINDING] * 3,
        incidents=[Incident([Event(FINDING)], str(FINDING["summary"]))] * 3,
        left_out=0,
        kinds=Counter(commit=5),
        files=1,
        span_ms=None,
        unreadable=[],
        collected=collected,
        symptoms=[],
        clocks=[],
        acts=[],
        wanted=EVERYTHING,
        left="",
    )
    said = io.StringIO()
    show(analysis, Console(file=said, width=width), most=2)
    lines = said.getvalue().splitlines()
    assert max(len(line) for line in lines if PLACE not in line) <= width
    assert lines.count(f"    {PLACE}:30") == 2
    assert lines.count("offset-lost, possible  2025-11-23 12:13:20.000") == 2
    assert "was [committed]" in " ".join(" ".join(lines).split())
    assert lines[-1] == "1 more of offset-lost are in the report"

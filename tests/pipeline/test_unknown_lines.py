"""Lines at WARN and ERROR that nobody knows are in the report: in the terminal, on the page, in the JSON."""

from __future__ import annotations

import io
import json
from pathlib import Path

from rich.console import Console

from mockbroker.pipeline.analysis import analyze
from mockbroker.pipeline.incidents_file import FILE
from mockbroker.pipeline.page import write_page
from mockbroker.pipeline.report import show

AT = "[2026-11-23 02:46:02,000]"
STARTED = f"{AT} INFO [KafkaServer id=1] started (kafka.server.KafkaServer)"
KNOWN = f"{AT} WARN MX4j is deprecated and will be removed in Kafka 5.0 (kafka.utils.Mx4jLoader)"


def test_the_most_frequent_come_first_with_their_first_place(tmp_path: Path) -> None:
    path = tmp_path / "server.log"
    shapes = [f"{AT} ERROR the {chr(97 + n)} moon <b>went</b> (x.Moon)" for n in range(25)]
    often = [f"{AT} WARN comet {n} came near (x.Comet)" for n in range(3)]
    path.write_text("\n".join([STARTED, KNOWN, *shapes, *often]) + "\n")
    found = analyze([path], tmp_path / "out", engine="duckdb")

    told = json.loads((tmp_path / "out" / FILE).read_text())["unknown_lines"]
    assert len(told) == 20
    assert told[0] == {
        "shape": "WARN comet … came near (x.Comet)",
        "count": 3,
        "file": str(path),
        "position": 28,
        "text": often[0],
    }
    said = io.StringIO()
    show(found, Console(file=said, width=200))
    lines = said.getvalue().splitlines()
    first = lines.index("  3 times: WARN comet … came near (x.Comet)")
    assert lines[first + 1] == f"    {path}:28"
    assert sum("moon" in line for line in lines) == 19
    assert "MX4j" not in said.getvalue()
    write_page(found, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "3 times: WARN comet … came near" in page
    assert "<b>went" not in page

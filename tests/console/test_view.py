"""`mockbroker view`, and the stories that come with the page: in a real browser."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mockbroker import MockCluster
from mockbroker.console.files import FOLDER
from mockbroker.trace.files import read_json_lines, write_parquet
from tests.console.test_widths import OUT, UPON
from tests.console.tools import expect, tools

from ..driving.processes import mockbroker_process

if TYPE_CHECKING:
    from playwright.sync_api import Page

STORIES = FOLDER / "stories"
INDEX = json.loads((STORIES / "index.json").read_text())
ORDINARY = STORIES / "cut-off-leader.jsonl"
WIDTHS = [{"viewport": {"width": width, "height": 800}} for width in (1280, 390)]


@contextmanager
def viewed(file: Path, *options: str) -> Iterator[str]:
    """The address of the page."""
    command = [sys.executable, "-m", "mockbroker", "view", str(file), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def test_a_trace_that_a_test_wrote(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with MockCluster(topics={"orders": 1}, trace=True) as cluster:
        cluster.produce("orders", b"v")
        cluster.trace.write(path)
    with viewed(path) as address:
        page.goto(address)
        expect(page.locator('[data-partition="orders-0"] .name')).to_contain_text("high watermark 1")
        expect(page.locator("header .status")).to_contain_text("recorded")
        assert page.get_by_role("tab", name="Do something").count() == 0
        page.goto("about:blank")


def test_a_moment_of_it(page: Page) -> None:
    events = [each for each in read_json_lines(ORDINARY) if each.kind == "leader"]
    at = datetime.fromtimestamp(events[-1].time_ms / 1000, UTC).isoformat(" ")[:23]
    with viewed(ORDINARY, "--at", at) as address:
        number = int(address.partition("#at=")[2])
        assert number >= events[-1].number
        page.goto(address)
        expect(page.locator(".moment")).to_contain_text(f"{at[11:]} · event {number} of 437")
        page.goto("about:blank")
    done = mockbroker_process("view", str(ORDINARY), "--at", "noon")
    assert done.returncode == 2
    assert "--at is 'noon': give a time" in done.stderr


def test_a_trace_as_parquet(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "trace.parquet"
    write_parquet(path, list(read_json_lines(ORDINARY)))
    with viewed(path) as address:
        page.goto(address)
        expect(page.locator(".moment")).to_contain_text("of 437")
        expect(page.locator('[data-partition="t-0"] .name')).to_contain_text("epoch 2")
        page.goto("about:blank")


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of an incident."""
    out = tmp_path_factory.mktemp("analyzed") / "report"
    mockbroker_process("analyze", str(ORDINARY), "--out", str(out))
    return out


def test_an_incident_is_shown_beside_the_cluster(page: Page, out: Path) -> None:
    found = json.loads((out / "incidents.json").read_text())
    (incident,) = found["incidents"]
    assert f"<code>mockbroker view {out}</code>" in (out / "report.html").read_text()
    with viewed(out) as address:
        page.goto(address)
        expect(page.get_by_role("tab", name="Incidents")).to_have_attribute("aria-selected", "true")
        view = page.get_by_role("tabpanel")
        expect(view).to_contain_text(incident["story"])
        expect(view).to_contain_text(found["symptoms"][1]["told"])
        [plot] = found["plots"]
        assert plot["marks"] == [[incident["events"][0]["time_ms"], 1]]
        drawn = view.get_by_role(
            "img", name="offsets of t-0: group g from 20 to 70, high watermark from 1 to 70"
        )
        expect(drawn.locator("path")).to_have_count(2)
        expect(drawn.locator(".mark")).to_have_text("1")
        expect(view.get_by_role("img", name="lag of t-0: g from")).to_be_visible()
        view.get_by_text("evidence").last.click()
        row = view.get_by_role("listitem").filter(has_text=found["symptoms"][1]["evidence"][0]["text"]).last
        moment = row.get_by_role("button")
        moment.click()
        expect(page.locator("output.moment")).to_contain_text(moment.inner_text())
        expect(page.locator('[data-partition="t-0"].chosen')).to_be_visible()
        expect(view).to_contain_text(incident["story"])
        page.goto("about:blank")


@pytest.mark.parametrize(
    "page",
    [{"viewport": {"width": width, "height": 900}} for width in (400, 2560)],
    indirect=True,
    ids=["400", "2560"],
)
@pytest.mark.needs("node", "npm")
def test_an_incident_at_every_width(page: Page, out: Path) -> None:
    """Nothing sticks out, and axe finds nothing serious, whatever is opened."""
    with viewed(out) as address:
        page.goto(address)
        view = page.get_by_role("tabpanel")
        expect(view.get_by_role("img").first).to_be_visible()
        for each in view.locator("summary").all():
            each.click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(OUT) == []
        assert page.evaluate(UPON) == []
        page.evaluate((tools() / "node_modules/axe-core/axe.min.js").read_text())
        found = page.evaluate("axe.run().then((found) => found.violations)")
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == []
        page.goto("about:blank")


def test_a_history_is_simulated_again(page: Page, tmp_path: Path) -> None:
    command = ["explore", "--kafka", "4.4", "--policy", "fetch-log-start-offset=live", "--seeds", "300"]
    options = ["--workers", "1", "--out", str(tmp_path / "out")]
    mockbroker_process(*command, *options)
    (history,) = tmp_path.glob("out/follower-fetcher-dead-*.json")
    folder = tmp_path / "reproduced"
    folder.mkdir()
    history.rename(folder / "history.json")
    with viewed(folder) as address:
        page.goto(address)
        page.get_by_label("with").fill("failed")
        expect(page.locator(".line.follower").first).to_contain_text("log start offset")
        page.goto("about:blank")


def test_lines_that_are_no_events_are_counted(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    text = ORDINARY.read_text()
    path.write_text(text[: len(text) - 20])
    with viewed(path) as address:
        page.goto(address)
        expect(page.locator("header .status.bad")).to_contain_text("of which 1 could not be read")
        expect(page.locator('[data-partition="t-0"]')).to_be_visible()
        page.goto("about:blank")


@pytest.mark.parametrize(
    ("text", "why"),
    [("", "not a trace"), ("{}\n", "not a trace"), ('{"schema":"mockbroker-trace","version":99}\n', "99")],
)
def test_a_file_that_is_not_a_trace(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text(text)
    assert why in refused(path)


@pytest.mark.parametrize(
    ("file", "why"),
    [("incidents.json", "mockbroker reproduce"), ("scenario.toml", "run --trace"), ("a.txt", "history.json")],
)
def test_a_folder_without_a_history(tmp_path: Path, file: str, why: str) -> None:
    (tmp_path / file).write_text('{"schema": 2, "read": {"files": []}}')
    assert why in refused(tmp_path)


def refused(path: Path) -> str:
    """What `view` says of a path that it can't show."""
    done = mockbroker_process("view", str(path))
    assert done.returncode == 2
    assert done.stderr.startswith("mockbroker view: ")
    return done.stderr


def test_every_story_is_told_to_its_end(page: Page) -> None:
    assert len(INDEX) > 3
    with viewed(ORDINARY) as address:
        page.goto(address)
        for story in INDEX:
            told = story["file"]
            page.get_by_role("tab", name="Stories").click()
            page.get_by_role("button", name=story["title"]).click()
            page.get_by_label("speed").select_option("100")
            last = story["captions"][-1]["text"]
            expect(page.locator(".caption"), told).to_have_text(last, timeout=30_000)
            expect(page.locator("[data-partition='t-0'] .lane").first, told).to_be_visible()
            page.get_by_role("button", name="leave the story").click()
            expect(page.locator("header .status"), told).to_contain_text("recorded")
        page.goto("about:blank")


@pytest.mark.parametrize(
    ("page", "scheme"),
    list(zip(WIDTHS, ("light", "dark"), strict=True)),
    indirect=["page"],
    ids=["1280", "390"],
)
@pytest.mark.needs("node", "npm")
def test_nothing_serious_is_wrong_for_people_who_hear_or_type(page: Page, scheme: str) -> None:
    """axe finds neither serious nor critical faults, whichever tab is open."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    axe = (tools() / "node_modules/axe-core/axe.min.js").read_text()
    with viewed(ORDINARY) as address:
        page.goto(f"{address}console/?file=/trace.jsonl&story=cut-off-leader.jsonl#stretch=100-300")
        page.get_by_role("button", name="pause").click()
        page.get_by_label("moment").fill("300")
        page.evaluate(axe)
        tabs = page.get_by_role("tab").all()
        assert len(tabs) > 1
        for tab in tabs:
            tab.click()
            if re.search("happened", tab.inner_text()):
                page.locator(".line").first.click()
            found = page.evaluate("axe.run().then((found) => found.violations)")
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == [], tab.inner_text()
        page.goto("about:blank")

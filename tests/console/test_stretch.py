"""A stretch of the timeline: what lists have of it, what changed in it, and its file; and moments that only
the cluster remembers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from mockbroker import MockCluster
from mockbroker.trace import Trace
from tests.console.test_view import viewed
from tests.console.tools import expect

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

LINES = ".stream .line.request"
FORGOTTEN = 110_000
"""More events than a page keeps."""


def asked(cluster: MockCluster, client_id: str) -> None:
    with raw_client(cluster, client_id=client_id) as client:
        client.call("metadata", 9, {"topics": [{"name": "orders"}]})


def opened(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")


def test_lists_have_no_more_than_the_stretch(cluster: MockCluster, page: Page) -> None:
    asked(cluster, "before")
    opened(cluster, page)
    expect(page.locator(LINES)).to_have_count(1)
    cluster.stop_broker(3)
    expect(page.locator(".current")).to_contain_text("in-sync replicas")
    page.get_by_role("button", name="from here").click()
    expect(page.locator(".stretched")).to_contain_text("only")
    expect(page.locator(LINES)).to_have_count(0)
    page.get_by_role("tab", name="Clients").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("No client has asked for anything yet.")
    page.get_by_role("button", name="all", exact=True).click()
    expect(page.get_by_role("tabpanel")).to_contain_text("before")
    page.get_by_role("button", name="to here").click()
    asked(cluster, "after")
    page.get_by_role("button", name="● live").click()
    expect(page.get_by_role("tabpanel")).not_to_contain_text("after")
    page.get_by_role("button", name="all", exact=True).click()
    expect(page.get_by_role("tabpanel")).to_contain_text("after")


def test_who_drags_over_the_timeline_chooses_a_stretch(cluster: MockCluster, page: Page) -> None:
    for _ in range(3):
        cluster.produce("orders", b"v", partition=0)
    cluster.stop_broker(3)
    opened(cluster, page)
    expect(page.locator(".current")).to_contain_text("in-sync replicas")
    box = page.locator(".ticks").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 15)
    page.mouse.down()
    page.mouse.move(box["x"] + 400, box["y"] + 15)
    page.mouse.move(box["x"] + 600, box["y"] + 15)
    page.mouse.up()
    expect(page.locator(".stretched")).to_contain_text(re.compile(r"events \d+ to \d+"))
    words = page.locator(".stretched").inner_text()
    [(first, last)] = re.findall(r"events (\d+) to (\d+)", words)
    page.wait_for_url(re.compile(rf"#.*stretch={first}-{last}"))
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator(".stretched")).to_have_text(words)
    expect(page.get_by_role("button", name="● live")).to_have_attribute("aria-pressed", "false")


def test_what_changed_from_one_moment_to_another(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    page.get_by_role("tab", name="Changes").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("Drag over the timeline")
    cluster.produce("orders", b"v", partition=0)
    expect(page.locator('[data-partition="orders-0"] .name')).to_contain_text("high watermark 1")
    page.get_by_role("button", name="to here").click()
    moved = panel.get_by_role("row").filter(has_text="orders-0").filter(has_text="high watermark")
    expect(moved.get_by_role("cell")).to_have_text(["orders-0", "high watermark", "was not there", "1"])
    page.get_by_role("button", name="all", exact=True).click()
    page.get_by_role("button", name="● live").click()
    cluster.stop_broker(3)
    expect(page.locator(".current")).to_contain_text("in-sync replicas")
    page.get_by_role("button", name="from here").click()
    expect(panel.get_by_role("row").filter(has_text="high watermark")).to_have_count(0)
    expect(panel).to_contain_text("in sync")


def test_a_stretch_is_a_file_that_view_opens(cluster: MockCluster, page: Page, tmp_path: Path) -> None:
    cluster.produce("orders", b"v", partition=0)
    asked(cluster, "of the ticket")
    opened(cluster, page)
    expect(page.locator(LINES).last).to_contain_text("of the ticket")
    page.get_by_role("button", name="to here").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="save").click()
    assert re.fullmatch(r"events-\d+-\d+\.jsonl", download.value.suggested_filename)
    file = tmp_path / "ticket.jsonl"
    download.value.save_as(file)
    asked(cluster, "later")
    with viewed(file) as address:
        page.goto(address)
        expect(page.locator("header .status")).to_contain_text("recorded")
        expect(page.locator('[data-partition="orders-0"] .name')).to_contain_text("high watermark 1")
        expect(page.locator(LINES).last).to_contain_text("of the ticket")
        page.goto("about:blank")


def test_moments_that_the_page_has_forgotten(cluster: MockCluster, page: Page) -> None:
    """The cluster has them, though its trace in memory has forgotten them too."""
    cluster.produce("orders", b"v", partition=0)
    asked(cluster, "long ago")

    def happen(trace: Trace) -> int:
        number, first = trace.events[-1].number, trace.events[0].number
        for _ in range(FORGOTTEN):
            trace.policy("election", "clean", None, None)
        assert trace.events[0].number > number >= first
        return number

    number = cluster.run_with_trace(happen)
    cluster.produce("orders", b"v", partition=0)
    opened(cluster, page)
    name = page.locator('[data-partition="orders-0"] .name')
    expect(name).to_contain_text("high watermark 2")
    expect(page.locator(LINES)).to_have_count(0)
    page.get_by_label("whole history").fill(str(number))
    expect(name).to_contain_text("high watermark 1")
    expect(page.locator(LINES).last).to_contain_text("long ago")
    expect(page.locator(".moment")).to_contain_text(f"event {number} of")
    page.wait_for_url(re.compile(f"#.*at={number}"))
    address = page.url
    page.get_by_role("button", name="● live").click()
    expect(name).to_contain_text("high watermark 2")
    page.goto("about:blank")
    page.goto(address)
    expect(page.locator(LINES).last).to_contain_text("long ago")
    when = page.locator(f"{LINES} .time").last.inner_text()
    opened_at = f"{cluster.console_url}#at={FORGOTTEN}&stretch=2-{FORGOTTEN}"
    page.goto("about:blank")
    page.goto(opened_at)
    page.get_by_label("with").fill("long ago")
    expect(page.locator(LINES).last).to_contain_text("long ago")
    page.get_by_role("button", name="● live").click()
    expect(name).to_contain_text("high watermark 2")
    page.get_by_label("time", exact=True).fill(when)
    page.get_by_label("time", exact=True).press("Enter")
    expect(name).to_contain_text("high watermark 1")

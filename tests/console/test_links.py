"""A copied address opens the same view: in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from mockbroker import MockCluster
from tests.console.tools import expect

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "<b>shop</b>"


def copied(page: Page, *parts: str) -> str:
    """The address, once all of this is in it."""
    for part in parts:
        page.wait_for_url(re.compile(f"#.*{re.escape(part)}"))
    return page.url


def opened(page: Page, address: str) -> None:
    """In a window that has seen nothing of it."""
    page.goto("about:blank")
    page.goto(address)


def test_a_link_to_a_moment_of_the_past(cluster: MockCluster, page: Page) -> None:
    opened(page, cluster.console_url)
    name = page.locator('[data-partition="orders-0"] .name')
    cluster.produce("orders", b"v", partition=0)
    expect(name).to_contain_text("high watermark 1")
    moment = page.get_by_label("moment")
    then = moment.input_value()
    moment.fill(then)
    page.get_by_role("tab", name="Brokers").click()
    address = copied(page, f"at={then}", "tab=brokers")
    cluster.produce("orders", b"v", partition=0)
    cluster.stop_broker(3)
    opened(page, address)
    expect(name).to_contain_text("high watermark 1")
    expect(page.locator(".moment")).to_contain_text(f"event {then} of")
    expect(page.get_by_role("tabpanel", name="Brokers")).not_to_contain_text("stopped")
    live = page.get_by_role("button", name="● live")
    expect(live).to_have_attribute("aria-pressed", "false")
    live.click()
    expect(name).to_contain_text("high watermark 2")
    expect(page.get_by_role("tabpanel", name="Brokers")).to_contain_text("stopped")
    page.wait_for_url(re.compile(r"#(?!.*\bat=)"))


def test_a_link_to_what_was_filtered(cluster: MockCluster, page: Page) -> None:
    """Text that clients choose stays text."""
    with raw_client(cluster, client_id=NAME) as client:
        client.call("metadata", 9, {"topics": [{"name": "orders"}]})
        client.call("api_versions", 3, {})
    opened(page, cluster.console_url)
    page.get_by_role("combobox", name="client").select_option(NAME)
    page.get_by_role("combobox", name="API").select_option("Metadata")
    page.get_by_label("changes").uncheck()
    page.get_by_label("partitions", exact=True).get_by_role("searchbox").fill("orders-1")
    address = copied(
        page, f"client={quote(NAME, safe='')}", "api=Metadata", "kinds=requests", "partitions=orders-1"
    )
    opened(page, address)
    expect(page.locator(".stream .line")).to_have_count(1)
    expect(page.locator(".stream .line .who")).to_have_text(f"{NAME} → 1")
    expect(page.get_by_role("combobox", name="client")).to_have_value(NAME)
    expect(page.get_by_label("changes")).not_to_be_checked()
    expect(page.locator("[data-partition]")).to_have_count(1)


def test_a_link_to_what_is_not_there(cluster: MockCluster, page: Page) -> None:
    text = quote("<img src=x onerror=console.log(1)>", safe="")
    opened(page, f"{cluster.console_url}#tab={text}&with={text}&group={text}&client={text}&at=99999")
    expect(page.locator("header .status")).to_contain_text("event 99999 is not there")
    expect(page.get_by_role("tabpanel")).to_contain_text("Nothing up to this moment is as the filters say")
    assert page.locator("img").count() == 0


def test_a_link_to_a_moment_of_a_story(cluster: MockCluster, page: Page) -> None:
    opened(page, f"{cluster.console_url}#story=cut-off-leader.jsonl&at=300")
    expect(page.locator(".moment")).to_contain_text("event 300 of 437")
    expect(page.get_by_role("button", name="play")).to_have_attribute("aria-pressed", "false")
    page.get_by_role("button", name="leave the story").click()
    expect(page.locator("header .status")).to_contain_text("live")

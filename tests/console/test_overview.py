"""The line on the cluster's health, the map of partitions, and what is hidden as background."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from mockbroker import MockCluster
from tests.console.tools import expect

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CELLS = ".heat .cell"


def opened(cluster: MockCluster, page: Page) -> Locator:
    """The line that tells how the cluster is."""
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    return page.locator(".health")


def test_health_is_told_in_one_line(cluster: MockCluster, page: Page) -> None:
    health = opened(cluster, page)
    expect(health).to_contain_text("All is well: 3 brokers run")
    expect(page.locator(CELLS)).to_have_count(0)
    cluster.stop_broker(3)
    expect(health).to_contain_text("broker 3 is")
    expect(health).to_contain_text("2 partitions with replicas out of sync")
    cluster.start_broker(3)
    expect(health).to_contain_text("All is well")


@pytest.fixture
def large() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.4", topics={"orders": 1000}, console=True) as cluster:
        yield cluster


def test_a_thousand_partitions_take_one_screen(large: MockCluster, page: Page) -> None:
    health = opened(large, page)
    expect(page.locator(CELLS)).to_have_count(1000)
    expect(health).to_contain_text("All is well")
    large.slow_metadata(2, 600_000)
    leader = large.topic("orders").partitions[777].leader
    large.move_leader("orders", 777, to=3 if leader == 1 else 1)
    first = page.locator(CELLS).first
    expect(first).to_have_attribute("data-cell", "orders-777")
    expect(first).to_have_accessible_name("orders-777: does not know leader epoch 1: broker 2")
    box = page.locator(".heat").bounding_box()
    assert box is not None
    assert box["height"] < 400
    first.click()
    expect(page.locator('.partition.chosen[data-partition="orders-777"]')).to_be_in_viewport()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".cell[aria-pressed=true]")).to_have_attribute("data-cell", "orders-0")


def test_polls_that_find_nothing_are_hidden(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    cluster.produce("orders", b"v", partition=0)
    lines = page.locator(".line.request")
    with raw_client(cluster) as client:
        for offset in (0, 1):
            asked = {"partition": 0, "fetch_offset": offset, "partition_max_bytes": 1000}
            topics = [{"topic": "orders", "partitions": [asked]}]
            client.call("fetch", 11, {"max_wait": 1, "max_bytes": 1000, "topics": topics})
        client.call("heartbeat", 4, {"group_id": "none", "generation_id": 1, "member_id": "m"})
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("Fetch")
    expect(lines.last).to_contain_text("UNKNOWN_MEMBER_ID")
    background = page.get_by_label("background (1 hidden)")
    background.check()
    expect(lines).to_have_count(3)
    page.get_by_label("background").uncheck()
    expect(lines).to_have_count(2)
    page.get_by_label("API").select_option("Fetch")
    expect(lines).to_have_count(2)
    expect(page.get_by_label("background")).to_be_disabled()

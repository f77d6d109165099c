"""What the page shows of a cluster that runs, and what can be done with it: in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from mockbroker import MockCluster
from tests.console.tools import expect

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

LANE = '[data-partition="orders-0"] [data-broker="1"]'


def opened(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator(LANE)).to_be_visible()
    expect(page.locator("header .status")).to_contain_text("live")


def test_a_produce_moves_the_high_watermark(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    name = page.locator('[data-partition="orders-0"] .name')
    expect(name).to_contain_text("high watermark 0")
    cluster.produce("orders", b"v")
    expect(name).to_contain_text("high watermark 1")
    expect(page.get_by_role("img", name="orders-0")).to_have_accessible_name(re.compile("log 0 to 1"))


def test_an_election_changes_the_colour_of_what_comes_then(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    cluster.produce("orders", b"v")
    bars = page.locator(f"{LANE} .epoch")
    expect(bars).to_have_count(1)
    cluster.move_leader("orders", 0, to=2)
    cluster.produce("orders", b"v")
    expect(bars).to_have_count(2)
    colours = [bars.nth(index).evaluate("each => getComputedStyle(each).fill") for index in (0, 1)]
    assert colours[0] != colours[1]
    assert [bars.nth(index).get_attribute("data-epoch") for index in (0, 1)] == ["0", "1"]


def test_the_past_can_be_looked_at_again(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    for _ in range(3):
        cluster.produce("orders", b"v")
    name = page.locator('[data-partition="orders-0"] .name')
    expect(name).to_contain_text("high watermark 3")
    cluster.stop_broker(1)
    expect(name).to_contain_text("epoch 1")
    page.get_by_role("button", name="‹ step").click()
    page.get_by_label("moment").fill("1")
    expect(name).to_have_count(0)
    page.get_by_role("button", name="step ›").click()
    page.get_by_role("button", name="● live").click()
    expect(name).to_contain_text("epoch 1")
    assert page.get_by_role("button", name="● live").get_attribute("aria-pressed") == "true"


def test_a_behaviour_that_is_switched_decides_differently(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)

    def asks() -> None:
        asked = {"partition": 0, "current_leader_epoch": -1, "leader_epoch": 7}
        with raw_client(cluster) as client:
            topics = [{"topic": "orders", "partitions": [asked]}]
            client.call("offset_for_leader_epoch", 3, {"replica_id": -1, "topics": topics})

    asks()
    page.get_by_role("tab", name="Do something").click()
    page.get_by_label("operation").select_option("policies-set")
    page.locator('select[name="name"]').select_option("undefined-epoch")
    page.locator('select[name="answer"]').select_option("log-end-offset")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")
    asks()
    page.get_by_role("tab", name="What happened").click()
    page.get_by_label("API").select_option("OffsetForLeaderEpoch")
    lines = page.locator(".line.request")
    expect(lines).to_have_count(2)
    decided = []
    for index in (0, 1):
        lines.nth(index).click()
        decided.append(page.locator(".decisions").inner_text())
    assert decided[0] != decided[1]
    assert "undefined-epoch = log-end-offset (chosen)" in decided[1]


def test_every_field_of_a_request_can_be_opened(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    cluster.produce("orders", b"v")
    with raw_client(cluster) as client:
        client.call("metadata", 9, {"topics": [{"name": "orders"}]})
    page.get_by_label("API").select_option("Metadata")
    page.locator(".line.request").click()
    detail = page.get_by_role("region", name="detail")
    expect(detail).to_contain_text("cluster_id")
    expect(detail).to_contain_text('"orders"')


def test_names_are_text_and_nothing_else(cluster: MockCluster, page: Page) -> None:
    bad = "<script>document.title='x'</script><img src=y onerror=\"document.title='z'\">"
    opened(cluster, page)
    with raw_client(cluster, client_id=bad) as client:
        client.call("metadata", 9, {"topics": [{"name": bad}]})
        client.call("find_coordinator", 2, {"key": bad, "key_type": 0})
    page.get_by_label("with").fill("img")
    expect(page.locator(".line.request").first).to_contain_text("<script>")
    page.locator(".line.request").first.click()
    expect(page.get_by_role("region", name="detail")).to_contain_text("onerror")
    assert page.title() == "mockbroker"
    assert page.locator("#app img, #app script").count() == 0


def test_an_error_of_an_operation_says_what_to_do(
    cluster: MockCluster, page: Page, complaints: list[str]
) -> None:
    opened(cluster, page)
    page.get_by_role("tab", name="Do something").click()
    page.get_by_label("operation").select_option("brokers-start")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome.bad")).to_contain_text("runs already")
    page.locator('[name="broker"]').fill("one")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome.bad")).to_contain_text("broker is one: give a number")
    assert "409" in complaints.pop()


def test_groups_transactions_and_producers_are_tables(cluster: MockCluster, page: Page) -> None:
    from tests.trace.test_details import transacted

    cluster.create_topic("more", partitions=1)
    transacted(cluster)
    opened(cluster, page)
    for tab, wanted in (
        ("Brokers", "running"),
        ("Groups", "movers"),
        ("Transactions", "mover"),
        ("Producers", "orders-0"),
    ):
        page.get_by_role("tab", name=tab).click()
        expect(
            page.get_by_role("tabpanel").get_by_role("cell", name=wanted, exact=True).first
        ).to_be_visible()
    marker = page.locator('[data-partition="orders-0"] .marker.committed')
    expect(marker).to_have_attribute("data-offset", "1")


def test_with_a_token_the_page_needs_it(page: Page) -> None:
    with MockCluster(console=True, control_token="s3cret") as cluster:
        page.goto(f"{cluster.console_url}#token=s3cret")
        expect(page.locator("header .status")).to_contain_text("live")
        assert "s3cret" not in page.url
        page.goto("about:blank")


@pytest.mark.parametrize("page", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_a_narrow_window_needs_no_scrolling_to_the_side(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_keys_lead_through_time(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    cluster.stop_broker(3)
    expect(page.locator(".current")).to_contain_text("in-sync replicas")
    live = page.get_by_role("button", name="● live")
    page.keyboard.press(",")
    assert live.get_attribute("aria-pressed") == "false"
    page.keyboard.press("l")
    expect(live).to_have_attribute("aria-pressed", "true")
    page.get_by_role("tab", name="What happened").press("ArrowRight")
    expect(page.get_by_role("tab", name="Brokers")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_contain_text("partitions led")

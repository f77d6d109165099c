"""Groups on the page: their members, what share groups have in flight at any moment, and what can be done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, ShareConsumer

from mockbroker import MockCluster
from tests.console.tools import expect

from ..driving.share_reader import QUICK

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page


@pytest.fixture
def jobs() -> Iterator[MockCluster]:
    """A member has acquired three records."""
    with MockCluster(brokers=1, config=QUICK, topics={"jobs": 1}, console=True) as cluster:
        cluster.configure_group("workers", {"share.auto.offset.reset": "earliest"})
        for number in range(3):
            cluster.produce("jobs", f"job {number}")
        own = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "worker"}
        explicit = {"share.acknowledgement.mode": "explicit"}
        member = ShareConsumer({"group.id": "workers", **own, **explicit})
        member.subscribe(["jobs"])
        while not member.poll(1):
            pass
        yield cluster
        member.close()


def opened(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Groups").click()


def row(page: Page, table: str) -> Locator:
    """The first row below the titles."""
    return page.get_by_role("region", name=table).locator("tbody tr").first


def cells(page: Page, table: str) -> dict[str, str]:
    region = page.get_by_role("region", name=table)
    titles = region.locator("th").all_inner_texts()
    return dict(zip(titles, row(page, table).locator("td").all_inner_texts(), strict=True))


def test_what_a_share_group_has_in_flight(jobs: MockCluster, page: Page) -> None:
    opened(jobs, page)
    expect(row(page, "Records in flight")).to_contain_text("acquired")
    assert cells(page, "Groups")["type"] == "share"
    member = cells(page, "Members")
    told = [member[name] for name in ("client", "protocol", "subscribed", "assigned")]
    assert told == ["worker", "share", "jobs", "jobs 0"]
    assert cells(page, "Records in flight")["offsets"] == "0–2"
    assert cells(page, "Records in flight")["acquired by"] == "worker"
    share = cells(page, "Share partitions")
    assert [share[name] for name in ("start offset", "lag", "acquired", "available")] == ["0", "3", "3", "0"]
    assert share["share coordinator"] == "1"
    assert "all that is left is acquired by worker" in share["why nothing is delivered"]
    assert cells(page, "Share sessions")["partitions"] == "jobs 0"


def test_a_moment_of_the_past(jobs: MockCluster, page: Page) -> None:
    opened(jobs, page)
    records = page.get_by_role("region", name="Records in flight")
    expect(records).to_contain_text("acquired")
    moment = page.get_by_label("moment").input_value()
    jobs.expire_locks("workers")
    expect(records).to_contain_text("available")
    page.get_by_label("moment").fill(moment)
    expect(records).to_contain_text("worker")
    page.get_by_label("moment").fill("1")
    expect(records).to_have_count(0)
    page.get_by_role("button", name="● live").click()
    expect(records).to_contain_text("available")


def test_locks_are_ended_with_a_button(jobs: MockCluster, page: Page) -> None:
    opened(jobs, page)
    page.get_by_role("button", name="expire locks").click()
    expect(page.get_by_label("operation")).to_have_value("groups-expire-locks")
    page.get_by_role("button", name="copy as pytest").click()
    expect(page.locator(".outcome")).to_have_text('cluster.expire_locks("workers")')
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")
    page.get_by_role("tab", name="Groups").click()
    expect(row(page, "Records in flight")).to_contain_text("available")


def test_sessions_are_dropped_with_a_button(jobs: MockCluster, page: Page) -> None:
    opened(jobs, page)
    page.get_by_role("button", name="drop those of broker 1").click()
    page.get_by_role("button", name="copy as pytest").click()
    expect(page.locator(".outcome")).to_have_text("cluster.drop_share_sessions(1)")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")


def test_an_offset_of_a_group_with_members_is_refused(
    jobs: MockCluster, page: Page, complaints: list[str]
) -> None:
    opened(jobs, page)
    page.get_by_role("button", name="alter an offset").click()
    page.locator('[name="topic"]').fill("jobs")
    page.locator('[name="offset"]').fill("2")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome.bad")).to_contain_text("NON_EMPTY_GROUP")
    assert "409" in complaints.pop()


def test_a_consumer_group_with_its_members_and_an_offset_set_by_hand(
    cluster: MockCluster, page: Page
) -> None:
    for number in range(4):
        cluster.produce("orders", f"order {number}", partition=0)
    own = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": "reader"}
    consumer = Consumer({**own, "group.id": "billing", "auto.offset.reset": "earliest"})
    consumer.subscribe(["orders"])
    while consumer.poll(1) is None:
        pass
    consumer.commit(asynchronous=False)
    opened(cluster, page)
    expect(row(page, "Committed offsets")).to_contain_text("reader")
    told = cells(page, "Committed offsets")
    assert [told[name] for name in ("offset", "lag", "assigned to")] == ["1", "3", "reader"]
    assert cells(page, "Members")["assigned"] == "orders 0–1"
    consumer.close()
    expect(page.get_by_role("region", name="Members")).to_have_count(0)
    page.get_by_role("button", name="alter an offset").click()
    page.locator('[name="topic"]').fill("orders")
    page.locator('[name="offset"]').fill("2")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")
    page.get_by_role("tab", name="Groups").click()
    expect(row(page, "Committed offsets").locator("td").nth(2)).to_have_text("2")


def test_many_partitions_stay_on_the_page(page: Page) -> None:
    with MockCluster(brokers=1, config=QUICK, topics={"jobs": 72}, console=True) as cluster:
        member = ShareConsumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "workers"})
        member.subscribe(["jobs"])
        opened(cluster, page)
        while not page.get_by_role("cell", name="jobs 0–71").count():
            member.poll(0.1)
        expect(page.get_by_role("region", name="Share partitions").locator("tbody tr")).to_have_count(72)
        assert page.evaluate("document.documentElement.scrollHeight") <= 800
        assert page.locator("#view").evaluate("e => e.scrollHeight") < 2_500
        page.goto("about:blank")
        member.close()

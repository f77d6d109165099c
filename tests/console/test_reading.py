"""Which records groups skipped, and which their members fetched more than once: in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Consumer, TopicPartition

from mockbroker import MockCluster
from tests.console.tools import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

NAME = "skipped or fetched more than once"


def read(cluster: MockCluster, client_id: str, count: int, commit: int, group: str = "billing") -> None:
    """Reads `count` records of orders-0, commits an offset, and leaves."""
    own = {"bootstrap.servers": cluster.bootstrap_servers, "client.id": client_id}
    kept = {"auto.offset.reset": "earliest", "enable.auto.commit": False, "session.timeout.ms": 6000}
    consumer = Consumer({**own, **kept, "group.id": group})
    consumer.subscribe(["orders"])
    got = 0
    while got < count:
        got += (message := consumer.poll(1)) is not None and not message.error()
    consumer.commit(offsets=[TopicPartition("orders", 0, commit)], asynchronous=False)
    consumer.close()


def opened(cluster: MockCluster, page: Page) -> Locator:
    """One click."""
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Groups").click()
    return page.get_by_role("region", name=NAME)


def cells(panel: Locator, table: str) -> dict[str, str]:
    region = panel.get_by_role("region", name=table)
    expect(region.locator("tbody tr")).to_have_count(1)
    values = region.locator("tbody td").all_inner_texts()
    return dict(zip(region.locator("th").all_inner_texts(), values, strict=True))


def test_which_records_a_group_skipped_or_got_twice(cluster: MockCluster, page: Page) -> None:
    """A client's name is text, whatever is in it."""
    for number in range(4):
        cluster.produce("orders", f"order {number}", partition=0)
    read(cluster, "<b>first</b>", 4, commit=3)
    read(cluster, "second", 1, commit=4)
    cluster.alter_offset("audit", "orders", 0, 1)
    cluster.alter_offset("audit", "orders", 0, 3)
    panel = opened(cluster, page)
    skipped = cells(panel, "Skipped records")
    wanted = ("group", "partition", "offsets", "committed before", "committed then", "by client")
    assert [skipped[name] for name in wanted] == ["audit", "orders-0", "1–2", "1", "3", "–"]
    again = cells(panel, "Records fetched more than once")
    assert [again[name] for name in ("partition", "offsets", "times")] == ["orders-0", "3", "2"]
    assert "<b>first</b>" in again["first"]
    assert "second" in again["last"]
    assert again["committed before the last"] == "3"
    page.get_by_label("moment").fill("1")
    expect(panel).to_have_count(0)


def test_a_group_that_skipped_nothing(cluster: MockCluster, page: Page) -> None:
    cluster.produce("orders", "order", partition=0)
    read(cluster, "reader", 1, commit=1)
    panel = opened(cluster, page)
    expect(panel).to_contain_text("No commit passed records that no member had fetched.")
    expect(panel).to_contain_text("No records were fetched more than once.")


def test_groups_whose_clients_have_the_same_name(cluster: MockCluster, page: Page) -> None:
    cluster.produce("orders", "order", partition=0)
    read(cluster, "reader", 1, commit=1)
    read(cluster, "reader", 1, commit=1, group="audit")
    panel = opened(cluster, page)
    page.get_by_role("combobox", name="group").select_option("billing")
    expect(panel).to_contain_text("orders-0: clients of the groups billing, audit have the same client id.")
    expect(panel).to_contain_text("Of all other partitions: no records were fetched more than once.")

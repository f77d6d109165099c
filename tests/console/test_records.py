"""The records of a partition on the page: now, and at a moment of the past."""

from __future__ import annotations

from typing import TYPE_CHECKING

from confluent_kafka import Producer

from mockbroker import MockCluster
from tests.console.tools import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

TABLE = "#view table"
LARGE = {"message.max.bytes": "200000000"}


def opened(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Records").click()


def column(page: Page, title: str) -> list[str]:
    titles = page.locator(f"{TABLE} th").all_inner_texts()
    return page.locator(f"{TABLE} td:nth-child({titles.index(title) + 1})").all_inner_texts()


def test_records_with_all_that_is_known_of_them(cluster: MockCluster, page: Page) -> None:
    own = {"bootstrap.servers": cluster.bootstrap_servers}
    producer = Producer({**own, "enable.idempotence": True, "compression.type": "zstd"})
    producer.produce("orders", b'{"a":1}' * 200, b"key", 0, headers={"h": "x"})
    assert producer.flush(10) == 0
    opened(cluster, page)
    expect(page.locator(f"{TABLE} tbody tr")).to_have_count(1)
    told = {name: column(page, name)[0] for name in ("offset", "key", "headers", "leader epoch")}
    assert told == {"offset": "0", "key": "key", "headers": "h=x", "leader epoch": "0"}
    assert (column(page, "compression"), column(page, "sequence")) == (["zstd"], ["0"])
    assert "… (1400 bytes)" in column(page, "value")[0]
    page.get_by_label("as").select_option("bytes")
    expect(page.locator(TABLE)).to_contain_text("6b 65 79")


def test_a_filter(cluster: MockCluster, page: Page) -> None:
    for value in ("one", "two"):
        cluster.produce("orders", value, partition=0)
    opened(cluster, page)
    expect(page.locator(f"{TABLE} tbody tr")).to_have_count(2)
    page.get_by_label("with").fill("two")
    expect(page.locator(f"{TABLE} tbody tr")).to_have_count(1)
    page.get_by_label("with").fill("three")
    expect(page.get_by_role("tabpanel")).to_contain_text("None of these.")


def test_a_transaction_is_open_until_its_end(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "transactional.id": "x"})
    producer.init_transactions(10)
    producer.begin_transaction()
    producer.produce("orders", b"v", partition=0)
    assert producer.flush(10) == 0
    expect(page.locator(TABLE)).to_contain_text("open")
    moment = page.get_by_label("moment").input_value()
    producer.commit_transaction(10)
    expect(page.locator(TABLE)).to_contain_text("commit marker")
    assert column(page, "transaction") == ["committed", "committed"]
    page.get_by_label("moment").fill(moment)
    expect(page.locator(f"{TABLE} tbody tr")).to_have_count(1)
    assert column(page, "transaction") == ["open"]


def test_a_record_is_produced_by_hand(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    page.get_by_label("partition", exact=True).select_option("orders-1")
    page.get_by_role("button", name="produce").click()
    page.locator('[name="value"]').fill("by hand")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")
    page.get_by_role("tab", name="Records").click()
    expect(page.locator(TABLE)).to_contain_text("by hand")
    [record] = cluster.records("orders", 1)
    assert record.value == b"by hand"


HOSTILE = "<img src=x onerror=console.log(1)>\x1b[31m\u202ered\0 http://example.com"


def test_what_clients_write_is_text_in_which_nothing_is_hidden(cluster: MockCluster, page: Page) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": HOSTILE})
    producer.produce("orders", HOSTILE, HOSTILE, 0, headers={HOSTILE: HOSTILE})
    assert producer.flush(10) == 0
    opened(cluster, page)
    row = page.locator(f"{TABLE} tbody tr")
    expect(row).to_have_count(1)
    for tab in ("Records", "What happened", "Clients"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel")).to_contain_text("<img src=x")
        shown = page.locator("#view").inner_text()
        assert [each for each in shown if not each.isprintable() and each not in "\n\t"] == []
        assert page.locator("#view img, #view a").count() == 0


def test_a_value_of_100_mb_does_not_stop_the_page(page: Page) -> None:
    size = 100_000_000
    with MockCluster(brokers=1, topics={"orders": 1}, config=LARGE, console=True) as large:
        large.produce("orders", b"x" * size)
        opened(large, page)
        expect(page.locator(f"{TABLE} tbody tr")).to_contain_text(f"… ({size} bytes)")
        page.get_by_role("tab", name="Brokers").click()
        expect(page.get_by_role("tabpanel")).to_contain_text("running")
        page.goto("about:blank")


def test_pages(cluster: MockCluster, page: Page) -> None:
    for number in range(60):
        cluster.produce("orders", f"value {number}", partition=0)
    opened(cluster, page)
    expect(page.locator(TABLE)).to_contain_text("value 59")
    page.get_by_role("button", name="‹ earlier").click()
    expect(page.locator(TABLE)).to_contain_text("value 0")
    page.get_by_role("button", name="later ›").click()
    expect(page.locator(TABLE)).to_contain_text("value 59")


def test_the_configuration_of_a_topic_with_its_sources(page: Page) -> None:
    with MockCluster(brokers=1, config={"log.retention.ms": "5000"}, console=True) as cluster:
        cluster.create_topic("orders", config={"cleanup.policy": "compact"})
        opened(cluster, page)
        page.get_by_text("Configuration of orders").click()
        table = page.get_by_role("region", name="Configuration of orders")
        expect(table.locator("tbody tr").first).to_contain_text("DYNAMIC_TOPIC_CONFIG")
        expect(table.get_by_role("row", name="retention.ms 5000")).to_contain_text("STATIC_BROKER_CONFIG")
        page.goto("about:blank")

"""What people look for is found within three clicks, where much goes on and where nothing does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from mockbroker import MockCluster
from mockbroker.names import Fault
from tests.console.tools import expect

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

HELD = "holds the last stable offset of"


@pytest.fixture(scope="module")
def busy() -> Iterator[MockCluster]:
    """A reader that lags, an open transaction, one fault that fired and one that did not, a new leader."""
    faults: list[Fault] = [
        {
            "do": "error",
            "error": "REQUEST_TIMED_OUT",
            "api": "Produce",
            "client_id": "shop",
            "times": 1,
            "name": "slow",
        },
        {"do": "disconnect", "api": "DeleteTopics", "name": "never", "optional": True},
    ]
    topics = {"orders": 2}
    with MockCluster(kafka="4.4", topics=topics, faults=faults, console=True) as cluster:
        servers = {"bootstrap.servers": cluster.bootstrap_servers}
        shop = Producer({**servers, "client.id": "shop"})
        for number in range(4):
            shop.produce("orders", f"order {number}", partition=0)
        assert shop.flush(30) == 0
        own = {"client.id": "mover", "transactional.id": "moves", "transaction.timeout.ms": 600_000}
        open_ = Producer({**servers, **own})
        open_.init_transactions(30)
        open_.begin_transaction()
        open_.produce("orders", "open", partition=1)
        open_.flush(30)
        reader = Consumer(
            {**servers, "client.id": "reader", "group.id": "readers", "auto.offset.reset": "earliest"}
        )
        reader.subscribe(["orders"])
        while not (first := reader.poll(1)) or first.error():
            pass
        reader.commit(offsets=[TopicPartition("orders", 0, 1)], asynchronous=False)
        cluster.policies.set("undefined-epoch", "log-end-offset", topic="orders")
        cluster.move_leader("orders", 0, to=3 if cluster.topic("orders").partitions[0].leader != 3 else 2)
        yield cluster
        open_.abort_transaction(30)
        reader.close()


@pytest.fixture
def empty() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.4", console=True) as cluster:
        yield cluster


def opened(cluster: MockCluster, page: Page, tab: str) -> Locator:
    """What a tab shows: one click."""
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name=tab).click()
    return page.get_by_role("tabpanel")


def cell(panel: Locator, table: str, row: str, column: str) -> Locator:
    """The cell of the first row with a text."""
    region = panel.get_by_role("region", name=table)
    expect(region).to_be_visible()
    titles = region.locator("th").all_inner_texts()
    return region.locator("tbody tr").filter(has_text=row).first.locator("td").nth(titles.index(column))


def test_which_fault_hit_my_client(busy: MockCluster, empty: MockCluster, page: Page) -> None:
    panel = opened(busy, page, "Faults")
    expect(cell(panel, "Faults", "slow", "who was hit")).to_have_text("shop 1")
    expect(cell(panel, "Faults", "never", "fired")).to_contain_text("no DeleteTopics came")
    expect(cell(panel, "Faults", "never", "who was hit")).to_have_text("nobody")
    expect(opened(empty, page, "Faults")).to_contain_text("There are no faults")


def test_why_my_consumer_reads_nothing(busy: MockCluster, empty: MockCluster, page: Page) -> None:
    panel = opened(busy, page, "Groups")
    expect(panel.get_by_role("region", name="hints")).to_contain_text("moves")
    expect(opened(empty, page, "Groups")).to_contain_text("No groups yet.")


def test_who_holds_the_last_stable_offset_and_since_when(
    busy: MockCluster, empty: MockCluster, page: Page
) -> None:
    panel = opened(busy, page, "Transactions")
    expect(cell(panel, "Transactions", "moves", HELD)).to_have_text("orders-1 at 0")
    # It is drawn, too.
    line = page.locator('[data-partition="orders-1"] line.last-stable')
    assert line.evaluate("line => getComputedStyle(line).stroke") != "none"
    expect(cell(panel, "Transactions", "moves", "since")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d{3}$"))
    expect(opened(empty, page, "Transactions")).to_contain_text("No transactions yet.")


def test_who_is_in_this_group_and_how_far_behind_it_is(busy: MockCluster, page: Page) -> None:
    panel = opened(busy, page, "Groups")
    expect(cell(panel, "Groups", "readers", "lag")).to_have_text("3")
    expect(cell(panel, "Members", "reader", "assigned")).to_contain_text("orders")
    expect(cell(panel, "Committed offsets", "orders-0", "lag")).to_have_text("3")
    lags = panel.get_by_role("region", name="lag over time")
    expect(lags.get_by_role("img", name="readers: lag 3 in all partitions")).to_be_visible()


def test_that_nobody_is_in_a_group_and_that_it_is_behind_nowhere(empty: MockCluster, page: Page) -> None:
    panel = opened(empty, page, "Groups")
    empty.create_topic("orders", partitions=1)
    empty.alter_offset("audit", "orders", 0, 0)
    expect(panel).to_contain_text("Nobody is in it.")
    expect(cell(panel, "Committed offsets", "orders-0", "lag")).to_have_text("0")
    expect(cell(panel, "Committed offsets", "orders-0", "assigned to")).to_have_text("–")
    expect(panel.get_by_role("img", name="audit: lag 0 in all partitions")).to_be_visible()


def test_what_a_fault_will_hit(busy: MockCluster, empty: MockCluster, page: Page) -> None:
    for cluster, told in (
        (busy, re.compile(r"It would have hit \d+")),
        (empty, "No requests have come yet."),
    ):
        opened(cluster, page, "Faults").get_by_role("button", name="add a fault").click()
        page.locator('.operations [name="do"]').select_option("silence")
        if cluster is busy:
            page.locator('.operations [name="client_id"]').fill("shop")
        expect(page.get_by_role("region", name="what it would hit")).to_contain_text(told)


def test_what_was_done_so_far_as_a_test(empty: MockCluster, page: Page) -> None:
    panel = opened(empty, page, "Do something")
    expect(panel).to_contain_text("What you do here is kept, to be copied as a test.")
    page.get_by_label("operation").select_option("brokers-stop")
    page.get_by_role("button", name="Do it").click()
    done = panel.get_by_role("region", name="done so far")
    done.get_by_role("button", name="copy all as pytest").press("Enter")
    expect(done.locator(".copied")).to_contain_text("cluster.stop_broker(1)")


def test_which_behaviours_differ_from_the_release(busy: MockCluster, empty: MockCluster, page: Page) -> None:
    panel = opened(busy, page, "Behaviours")
    table = "Behaviours that differ"
    expect(cell(panel, table, "undefined-epoch", "where")).to_have_text("topic orders")
    expect(cell(panel, table, "undefined-epoch", "answer")).to_have_text("log-end-offset")
    expect(cell(panel, table, "undefined-epoch", "of the release")).not_to_be_empty()
    expect(cell(panel, table, "undefined-epoch", "since")).to_contain_text(":")
    expect(opened(empty, page, "Behaviours")).to_contain_text("Brokers behave as those of the release.")


def test_which_client_sends_the_most_and_which_errors_there_were(
    busy: MockCluster, empty: MockCluster, page: Page
) -> None:
    panel = opened(busy, page, "Clients")
    expect(cell(panel, "Clients", "shop", "errors")).to_contain_text("REQUEST_TIMED_OUT 1")
    expect(cell(panel, "Clients", "shop", "touched by faults")).to_have_text("⚡ 1")
    requests = panel.get_by_role("region", name="Clients").locator("tbody td:nth-child(2)")
    counts = [int(each) for each in requests.all_inner_texts()]
    assert counts == sorted(counts, reverse=True)
    panel.get_by_role("button", name="shop").click()
    expect(panel.locator(".line .client").first).to_have_text("shop")
    assert set(panel.locator(".line .client").all_inner_texts()) == {"shop"}
    expect(opened(empty, page, "Clients")).to_contain_text("No client has asked for anything yet.")


def test_why_my_producer_waits(busy: MockCluster, empty: MockCluster, page: Page) -> None:
    panel = opened(busy, page, "Producers")
    expect(cell(panel, "Producers", "orders-1", "client")).to_have_text("mover")
    panel = opened(empty, page, "Producers")
    expect(panel).to_contain_text("Nothing is known for which a client would wait.")
    empty.create_topic("orders", partitions=1, replication_factor=3)
    empty.pause_follower("orders", 0, 2)
    producer = Producer({"bootstrap.servers": empty.bootstrap_servers, "client.id": "shop"})
    producer.produce("orders", "order", partition=0)
    expect(panel.get_by_role("region", name="hints")).to_contain_text(
        re.compile("shop.*waits for the answer to its records of orders-0.*broker 2 \\(paused\\)")
    )
    empty.resume_follower("orders", 0, 2)
    assert producer.flush(30) == 0
    expect(panel).to_contain_text("Nothing is known for which a client would wait.")


def test_that_no_leader_moved(empty: MockCluster, page: Page) -> None:
    panel = opened(empty, page, "What happened")
    page.get_by_label("with").fill("leads, leader epoch")
    expect(panel).to_contain_text("No client has asked for anything yet.")
    empty.create_topic("orders", partitions=1)
    expect(panel.locator(".line")).to_have_count(1)
    page.get_by_label("with").fill("leads, leader epoch 1")
    expect(panel).to_contain_text("Nothing up to this moment is as the filters say")


def test_when_the_leader_moved_and_why(busy: MockCluster, empty: MockCluster, page: Page) -> None:
    panel, table = opened(busy, page, "Brokers"), "When leaders changed, and why"
    expect(cell(panel, table, "orders-0", "at")).to_have_text(re.compile(r"^\d\d:\d\d:\d\d\.\d{3}$"))
    expect(cell(panel, table, "orders-0", "why")).to_have_text(
        "it was moved, by operation partitions move-leader"
    )
    expect(cell(panel, table, "orders-0", "leader epoch")).to_have_text("1")
    expect(opened(empty, page, "Brokers")).to_contain_text("No leader changed since")


def test_what_is_in_this_record_and_who_wrote_it(busy: MockCluster, page: Page) -> None:
    page.goto(busy.console_url)
    page.locator('[data-partition="orders-0"] .name').click()
    page.get_by_role("tab", name="Records").click()
    expect(page.get_by_role("tabpanel")).to_contain_text("order 3")
    page.get_by_role("button", name="bytes of the batch of offset 3").click()
    told = page.get_by_role("region", name="Bytes of the batch")
    expect(told.get_by_role("row", name="order 3")).to_contain_text("6f 72 64 65 72 20 33")
    expect(told.get_by_role("row", name="producer epoch")).to_contain_text("-1")
    page.get_by_label("partition", exact=True).select_option("orders-1")
    expect(cell(page.get_by_role("tabpanel"), "Records of orders-1", "open", "client")).to_have_text("mover")


def test_that_there_is_no_record(empty: MockCluster, page: Page) -> None:
    panel = opened(empty, page, "Records")
    expect(panel).to_contain_text("No topics yet.")
    expect(panel.get_by_role("button", name="create a topic")).to_be_visible()
    address, *_ = empty.bootstrap_servers.split(",")
    expect(page.locator("header .status")).to_contain_text(f"Kafka 4.4 at {address}")
    empty.create_topic("orders", partitions=1)
    expect(panel).to_contain_text("Nothing is in this partition.")


def test_what_a_fault_is_taken_away_with(busy: MockCluster, page: Page) -> None:
    panel = opened(busy, page, "Faults")
    panel.get_by_role("row", name="never").get_by_role("button", name="remove").click()
    expect(page.get_by_label("operation")).to_have_value("faults-remove")
    expect(page.locator('.operations [name="name"]')).to_have_value("never")

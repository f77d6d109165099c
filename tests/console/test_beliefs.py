"""What brokers believed at a time of day that is typed: in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockbroker import MockCluster
from tests.console.tools import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

TITLE = "What brokers believe otherwise than the controller"


def test_what_a_broker_believed_at_a_time_of_day(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Brokers").click()
    panel = page.get_by_role("tabpanel")
    expect(panel).to_contain_text("every running broker knew the leader and the leader epoch")
    before = cluster.topic("orders").partitions[0].leader
    after = next(each for each in (1, 3) if each != before)
    cluster.cut_off(2, from_=["controller"])
    cluster.move_leader("orders", 0, to=after)
    row = panel.get_by_role("region", name=TITLE).get_by_role("row").filter(has_text="orders-0")
    believed = ["2", "orders-0", str(before), "0", str(after), "1"]
    expect(row.locator("td")).to_have_text(believed)
    expect(panel.get_by_role("region", name="Brokers", exact=True)).to_contain_text("behind")
    then = page.locator(".moment").inner_text().split()[0]
    cluster.rejoin(2)
    expect(panel).to_contain_text("every running broker knew")
    time = page.get_by_label("time", exact=True)
    time.fill(then)
    time.press("Enter")
    expect(row.locator("td")).to_have_text(believed)
    expect(page.locator(".moment")).to_contain_text(then)
    time.fill("yesterday")
    time.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("write a time such as 10:02:03.250")

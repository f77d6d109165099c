"""What was done on the page can be copied as a whole, and done again in a test."""

from __future__ import annotations

import shlex
import tomllib
from typing import TYPE_CHECKING

from mockbroker import MockCluster
from tests.cli.in_process import mockbroker
from tests.console.tools import expect, operations

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

DONE = {
    "brokers-stop": {"broker": "3"},
    "records-produce": {"topic": "orders", "partition": "1", "value": "it's -x"},
    "policies-set": {"name": "undefined-epoch", "answer": "log-end-offset", "topic": "orders"},
    "topics-create": {"topic": "more", "partitions": "2", "config": '{"retention.ms": "1000"}'},
    "faults-add": {"do": "delay", "ms": "5", "api": "Heartbeat, Fetch", "optional": "true"},
}


def done_all(cluster: MockCluster, page: Page) -> Locator:
    """The list of what was done."""
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Do something").click()
    for operation, fields in DONE.items():
        page.get_by_label("operation").select_option(operation)
        for name, value in fields.items():
            field = page.locator(f'.operations [name="{name}"]')
            expect(field).to_be_visible()
            choose = field.select_option if field.evaluate("each => each.tagName") == "SELECT" else field.fill
            choose(value)
        page.get_by_role("button", name="Do it").click()
        expect(page.locator(".outcome")).to_contain_text("done")
    done = page.get_by_role("region", name="done so far")
    expect(done.locator("li")).to_have_count(len(DONE))
    return done


def copied(done: Locator, name: str) -> str:
    # A click may miss it: it moves when what the fault would have hit is shown above.
    done.get_by_role("button", name=name).press("Enter")
    return done.locator(".copied").inner_text()


def happened(cluster: MockCluster) -> None:
    assert [record.value for record in cluster.records("orders", 1)] == [b"it's -x"]
    assert 3 not in cluster.topic("orders").partitions[0].isr
    assert cluster.topic("more").configs == {"retention.ms": "1000"}
    [fault] = cluster.faults
    assert "delay before api=Heartbeat,Fetch" in repr(fault)


def test_all_of_it_is_a_test(cluster: MockCluster, page: Page) -> None:
    names: dict[str, object] = {}
    exec(copied(done_all(cluster, page), "copy all as pytest"), names)
    with MockCluster(kafka="4.4", topics={"orders": 2}) as another:
        names["test_what_was_done"](another)  # type: ignore[operator]
        happened(another)


def test_all_of_it_is_a_script(cluster: MockCluster, page: Page) -> None:
    lines = copied(done_all(cluster, page), "all as ctl").splitlines()
    assert lines[0] == "set -e"
    with MockCluster(kafka="4.4", topics={"orders": 2}, control=True) as another:
        for line in lines[1:]:
            words = shlex.split(line)[1:]
            done = mockbroker(*words, environment={"MOCKBROKER_CONTROL": another.control_url})
            assert done.exit_code == 0, done.output
        happened(another)


def test_all_of_it_is_a_scenario(cluster: MockCluster, page: Page) -> None:
    scenario = tomllib.loads(copied(done_all(cluster, page), "all as scenario"))
    assert [each["do"] for each in scenario["fault"]] == ["delay"]
    assert [each["do"] for each in scenario["step"]] == [
        "brokers stop", "records produce", "policies set", "topics create",
    ]  # fmt: skip


def test_it_outlives_the_page_and_has_a_way_back(cluster: MockCluster, page: Page) -> None:
    done_all(cluster, page)
    page.reload()
    page.get_by_role("tab", name="Do something").click()
    done = page.get_by_role("region", name="done so far")
    expect(done.locator("li")).to_have_count(len(DONE))
    done.get_by_role("button", name="brokers start …").click()
    expect(page.get_by_label("operation")).to_have_value("brokers-start")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")
    expect(page.locator(".health")).to_contain_text("All is well")
    done.get_by_role("button", name="forget it").click()
    expect(done).to_have_count(0)
    page.reload()
    page.get_by_role("tab", name="Do something").click()
    expect(page.locator(".operations .nothing")).to_contain_text("What you do here is kept")


def test_what_waits_says_so_and_is_told_wherever_the_page_is_by_then(
    cluster: MockCluster, page: Page
) -> None:
    def produce_after_another_pause() -> None:
        cluster.pause_follower("orders", 0, broker=follower)
        page.get_by_label("operation").select_option("records-produce")
        page.locator('.operations [name="partition"]').fill("0")
        page.get_by_role("button", name="Do it").press("Enter")
        expect(outcome).to_contain_text("no answer yet")

    led = cluster.topic("orders").partitions[0]
    follower = next(each for each in led.replicas if each != led.leader)
    operations(cluster, page)
    outcome, done = page.locator(".outcome"), page.get_by_role("region", name="done so far").locator("li")
    produce_after_another_pause()
    page.get_by_label("operation").select_option("followers-resume")
    expect(outcome).to_be_empty()
    page.locator('.operations [name="broker"]').fill(str(follower))
    page.get_by_role("button", name="Do it").press("Enter")
    expect(outcome).to_contain_text("records produce of")
    expect(done).to_have_count(2)

    produce_after_another_pause()
    page.get_by_role("tab", name="Brokers").click()
    cluster.resume_follower("orders", 0, broker=follower)
    expect(page.locator('[data-partition="orders-0"] .name')).to_contain_text("high watermark 2")
    page.get_by_role("tab", name="Do something").click()
    expect(outcome).to_contain_text("records produce of")
    expect(done).to_have_count(3)


def test_what_was_refused_is_not_kept(cluster: MockCluster, page: Page, complaints: list[str]) -> None:
    page.goto(cluster.console_url)
    page.get_by_role("tab", name="Do something").click()
    page.get_by_label("operation").select_option("brokers-stop")
    page.locator('.operations [name="broker"]').fill("9")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome.bad")).to_be_visible()
    expect(page.get_by_role("region", name="done so far")).to_have_count(0)
    complaints.clear()

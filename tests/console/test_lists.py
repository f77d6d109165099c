"""Lists that answer questions: what has one cause is one line, and what is bad is found by one click."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from mockbroker import MockCluster
from tests.console.tools import expect

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

STOPPED = "broker 3 is stopped, fenced"


@pytest.fixture
def six() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.4", topics={"orders": 6}, console=True) as cluster:
        yield cluster


def opened(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")


def test_what_follows_from_one_cause_is_one_step(six: MockCluster, page: Page) -> None:
    opened(six, page)
    step, current = page.get_by_role("button", name="‹ step"), page.locator(".timeline .current")
    expect(current).to_contain_text("orders")
    before = current.inner_text()
    six.stop_broker(3)
    expect(current).to_contain_text(STOPPED)
    expect(current).to_contain_text("orders 0–5: follower 3")
    expect(current).to_contain_text("(broker 3 was shut down, by operation brokers stop)")
    line = page.locator(".line", has_text=STOPPED)
    expect(line).to_have_count(1)
    expect(line.locator(".who")).to_have_text(re.compile(r"^\d\d changes$"))
    line.click()
    expect(page.locator(".detail h3")).to_have_count(int(line.locator(".who").inner_text().split()[0]))
    step.click()
    expect(current).to_have_text(before)
    expect(line).to_have_count(0)
    page.get_by_role("button", name="step ›").click()
    expect(current).to_contain_text(STOPPED)


def test_errors_faults_and_what_was_slow_each_have_a_chip(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    cluster.faults.add("error", error="UNKNOWN_SERVER_ERROR", api="Metadata", client_id="unlucky", times=1)
    cluster.faults.add("delay", ms=800, api="Metadata", client_id="waiting", when="after", times=1)
    for client_id in ("lucky", "unlucky", "waiting"):
        with raw_client(cluster, client_id) as client:
            client.call("metadata", 9, {"topics": [{"name": "orders"}]})
    with raw_client(cluster, "asking") as client:
        client.call("offset_fetch", 7, {"group_id": "nobody", "topics": [], "require_stable": False})
        client.call("heartbeat", 4, {"group_id": "none", "generation_id": 1, "member_id": "m"})
    lines = page.locator(".line.request")
    expect(lines.filter(has_text="lucky").first.locator(".chip.api")).to_have_text("Metadata")
    clients = lines.locator(".chip.client")
    for name, found in {
        "errors": ["unlucky", "asking"],
        "faults": ["unlucky", "waiting"],
        "slow": ["waiting"],
    }.items():
        chip = page.locator(f".filters .chip.{name}")
        chip.click()
        expect(chip).to_have_attribute("aria-pressed", "true")
        expect(clients).to_have_text(found)
        expect(lines.locator(f".chip.{name}")).to_have_count(len(found))
        chip.click()
    expect(lines).to_have_count(5)

"""How the page keeps up with a cluster: while events load, and under load."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from mockbroker import MockCluster
from mockbroker.control import lines
from tests.console.tools import expect
from tests.control.asking import ask

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

STREAM = ".stream"
BUSY = """
new MutationObserver((changes) => {
  for (const { target } of changes) target.closest(".stream")?.dispatchEvent(new Event("scroll"));
}).observe(document, { subtree: true, attributes: true, attributeFilter: ["style"] });
"""
"""The list hears that it was scrolled when it has grown already, as it does on a page that is busy."""

HELD = """
const real = window.fetch;
window.fetch = async (path, options) => {
  const answer = await real(path, options);
  if (!String(path).includes(PATH)) return answer;
  const reader = answer.body.getReader();
  const released = new Promise((resolve) => { window.release = resolve; });
  const lines = { passed: 0 };
  const body = new ReadableStream({
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done) return controller.close();
      const text = new TextDecoder().decode(value);
      let end = 0;
      while (lines.passed < LINES && (end = text.indexOf("\\n", end) + 1) > 0) lines.passed += 1;
      if (lines.passed < LINES) return controller.enqueue(value);
      if (lines.passed === LINES) {
        controller.enqueue(new TextEncoder().encode(text.slice(0, end)));
        lines.passed += 1;
        await released;
        return controller.enqueue(new TextEncoder().encode(text.slice(end)));
      }
      controller.enqueue(value);
    },
  });
  return new Response(body, { status: answer.status, headers: answer.headers });
};
"""
"""Only the first LINES lines of PATH come before `release()` is called."""


def held(page: Page, path: str, lines: int) -> None:
    page.add_init_script(HELD.replace("PATH", repr(path)).replace("LINES", str(lines)))


def at_end(page: Page) -> bool:
    return bool(page.locator(STREAM).evaluate("e => e.scrollTop + e.clientHeight >= e.scrollHeight - 22"))


def asked(cluster: MockCluster, count: int, client_id: str = "asks") -> None:
    with raw_client(cluster, client_id=client_id) as client:
        for _ in range(count):
            client.call("metadata", 9, {"topics": [{"name": "orders"}]})


def until_shown(page: Page, client_id: str) -> None:
    """The last request is this client's, and it is in sight."""
    asked = page.locator(f"{STREAM} .line.request").last
    expect(asked).to_contain_text(client_id)
    page.wait_for_function(
        "() => { const e = document.querySelector('.stream');"
        " return e.scrollTop + e.clientHeight >= e.scrollHeight - 22; }",
        timeout=5_000,
    )


def test_the_list_follows_under_load(cluster: MockCluster, page: Page) -> None:
    page.add_init_script(BUSY)
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    for _ in range(6):
        asked(cluster, 60)
    asked(cluster, 1, "last")
    until_shown(page, "last")


def test_the_list_stays_where_somebody_has_scrolled_up(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    asked(cluster, 80)
    asked(cluster, 1, "first")
    until_shown(page, "first")
    page.locator(STREAM).hover()
    page.mouse.wheel(0, -400)
    page.wait_for_function("() => document.querySelector('.stream').scrollTop > 0")
    page.wait_for_function(
        "() => { const e = document.querySelector('.stream');"
        " return e.scrollTop + e.clientHeight < e.scrollHeight - 300; }"
    )
    asked(cluster, 30, "second")
    expect(page.locator(".moment")).to_contain_text("event")
    height = "e => e.scrollHeight"
    before = page.locator(STREAM).evaluate(height)
    asked(cluster, 1, "third")
    page.wait_for_function(f"() => document.querySelector('.stream').scrollHeight > {before}")
    assert not at_end(page)
    page.mouse.wheel(0, 100_000)
    until_shown(page, "third")
    asked(cluster, 5, "fourth")
    until_shown(page, "fourth")


def test_a_page_asks_for_the_next_summary_once_it_was_seen(
    cluster: MockCluster, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "MOST", 10)
    page.add_init_script(
        "window.unseen = false; Object.defineProperty(document, 'hidden', { get: () => window.unseen });"
    )
    page.goto(cluster.console_url)
    status = page.locator("header .status")
    expect(status).to_contain_text("live")
    summaries: list[str] = []
    page.on("request", lambda each: summaries.append(each.url) if "ready=1" in each.url else None)
    page.evaluate("window.unseen = true")
    with page.expect_request(lambda each: "ready=1" in each.url):
        asked(cluster, 60)
    for _ in range(5):
        asked(cluster, 60)
    asked(cluster, 1, "last")
    expect(status).to_be_visible()
    assert len(summaries) == 1
    page.evaluate("window.unseen = false; document.dispatchEvent(new Event('visibilitychange'))")
    until_shown(page, "last")
    asked(cluster, 60)
    expect(status).to_contain_text("in summaries")
    assert len(summaries) > 1
    asked(cluster, 1, "quiet")
    until_shown(page, "quiet")
    asked(cluster, 1, "again")
    expect(status).not_to_contain_text("in summaries")


def test_what_is_still_loading_is_not_live(cluster: MockCluster, page: Page) -> None:
    """Nor can it be stepped through: the part that is there ends somewhere in the past."""
    for _ in range(5):
        cluster.stop_broker(3)
        cluster.start_broker(3)
    asked(cluster, 50)
    cluster.produce("orders", b"v")
    held(page, "/trace/history", 120)
    page.goto(cluster.console_url)
    status, live = page.locator("header .status"), page.get_by_role("button", name="● live")
    expect(status).to_contain_text(re.compile(r"loading: \d+ of \d+ events"))
    loaded, total = map(int, re.findall(r"\d+", status.inner_text())[:2])
    assert loaded < total
    expect(page.locator(".moment")).to_contain_text(f"of {total}")
    assert live.get_attribute("aria-pressed") == "false"
    steps = [page.get_by_role("button", name=name) for name in ("‹ step", "step ›", "play")]
    for each in steps:
        expect(each).to_be_disabled()
    expect(page.get_by_label("moment")).to_be_disabled()
    page.keyboard.press(",")
    page.evaluate("release()")
    expect(status).to_contain_text("live")
    expect(live).to_have_attribute("aria-pressed", "true")
    expect(page.locator(".partition .name")).to_have_count(2)
    shown, end = map(int, re.findall(r"event (\d+) of (\d+)", page.locator(".moment").inner_text())[0])
    assert shown == end >= total
    expect(steps[0]).to_be_enabled()
    steps[0].click()
    expect(live).to_have_attribute("aria-pressed", "false")


def test_requests_that_a_fault_closed_are_errors_and_are_found(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    asked(cluster, 1, "before")
    page.get_by_role("button", name="errors").click()
    lines = page.locator(f"{STREAM} .line.request")
    expect(lines).to_have_count(0)
    cluster.faults.add("disconnect", api="Metadata", times=1)
    with raw_client(cluster, client_id="cut") as client, pytest.raises(ConnectionError):
        client.call("metadata", 9, {"topics": []})
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("closed")
    page.get_by_role("button", name="errors").click()
    page.get_by_label("with").fill("disconnect")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("cut")
    faults = f"{cluster.control_url}/faults"
    ask("POST", faults, {"do": "hold", "name": "gate", "api": "Metadata"})
    page.get_by_label("with").fill("gate")
    expect(lines).to_have_count(0)
    with raw_client(cluster, client_id="held") as client:
        pending = client.send("metadata", 9, {"topics": []})
        assert ask("GET", f"{faults}/gate/wait")[0] == 200
        expect(lines).to_have_count(0)
        ask("POST", f"{faults}/gate/release")
        client.receive(pending)
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("held")


def test_a_second_click_stops_no_other_broker(
    cluster: MockCluster, page: Page, complaints: list[str]
) -> None:
    page.goto(cluster.console_url)
    page.get_by_role("tab", name="Do something").click()
    page.get_by_label("operation").select_option("brokers-stop")
    broker = page.locator('.operations [name="broker"]')
    expect(broker).to_have_value("1")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator('[data-partition="orders-0"] .name')).to_contain_text("epoch 1")
    expect(broker).to_have_value("1")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome.bad")).to_contain_text("is down already")
    assert "409" in complaints.pop()

"""From the width of a telephone to that of a wall: nothing lies upon something else, or sticks out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import pytest

from mockbroker import MockCluster
from tests.console.tools import expect, tools

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Page

WIDTHS: Final = (400, 800, 1280, 2560)
OUT: Final = """
() => [...document.querySelectorAll("button, input, select, .chip, h3, .tabs, .filters > *")]
  .filter((each) => {
    const box = each.getBoundingClientRect();
    const scrolls = (up) => up && (getComputedStyle(up).overflowX !== "visible" || scrolls(up.parentElement));
    return box.width && (box.right > innerWidth + 1 || box.left < -1) && !scrolls(each.parentElement);
  })
  .map((each) => each.outerHTML.slice(0, 200))
"""
"""What is outside of the window, and can't be scrolled to."""
UPON: Final = """
() => {
  const found = [];
  const boxes = "header, main, .timeline .controls, .filters, .tabs, .operations, .legend";
  for (const box of document.querySelectorAll(boxes)) {
    const placed = [...box.children].map((each) => [each, each.getBoundingClientRect()]);
    const all = placed.filter(([, at]) => at.width && at.height);
    all.forEach(([one, a], index) => all.slice(index + 1).forEach(([other, b]) => {
      const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (across > 2 && down > 2) found.push([one.outerHTML.slice(0, 100), other.outerHTML.slice(0, 100)]);
    }));
  }
  return found;
}
"""
"""What lies upon its neighbour."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with MockCluster(kafka="4.4", topics={"orders": 9}, console=True) as running:
        running.produce("orders", b"v", partition=0)
        running.alter_offset("a-group-with-a-long-name", "orders", 0, 0)
        running.stop_broker(3)
        with raw_client(running, "a-client-with-a-long-name") as client:
            client.call("offset_fetch", 7, {"group_id": "g", "topics": [], "require_stable": False})
            client.call("heartbeat", 4, {"group_id": "g", "generation_id": 1, "member_id": "m"})
        yield running


@pytest.mark.needs("node", "npm")
@pytest.mark.parametrize(
    ("page", "scheme"),
    [
        ({"viewport": {"width": width, "height": 900}}, scheme)
        for width, scheme in zip(WIDTHS, ("light", "dark", "light", "dark"), strict=True)
    ],
    indirect=["page"],
    ids=[str(width) for width in WIDTHS],
)
def test_every_tab_of_a_running_cluster(cluster: MockCluster, page: Page, scheme: str) -> None:
    """Nor is anything serious wrong for axe, with the narrowest and the widest."""
    assert page.viewport_size is not None
    width = page.viewport_size["width"]
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    expect(page.locator(".heat .cell")).to_have_count(9)
    if hears := width in (WIDTHS[0], WIDTHS[-1]):
        page.evaluate((tools() / "node_modules/axe-core/axe.min.js").read_text())
    tabs = page.get_by_role("tab").all()
    assert len(tabs) > 10
    for tab in tabs:
        tab.click()
        name = tab.inner_text()
        expect(page.get_by_role("tabpanel")).not_to_be_empty()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate(OUT) == [], name
        assert page.evaluate(UPON) == [], name
        if hears:
            found = page.evaluate("axe.run().then((found) => found.violations)")
            serious = [each for each in found if each["impact"] in ("serious", "critical")]
            assert [(each["id"], each["nodes"][0]["html"]) for each in serious] == [], name
    used = page.evaluate("document.querySelector('main').getBoundingClientRect().width / innerWidth")
    assert used > 0.98
    if width == WIDTHS[-1]:
        lanes = page.locator(".lanes").first.bounding_box()
        assert lanes is not None
        assert lanes["width"] > 1200


def test_the_border_is_moved_and_stays_there(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    border = page.get_by_role("separator")
    expect(border).to_have_attribute("aria-valuenow", "50")
    before = page.locator(".side").bounding_box()
    border.press("ArrowLeft")
    expect(border).to_have_attribute("aria-valuenow", "45")
    for _ in range(20):
        border.press("ArrowLeft")
    expect(border).to_have_attribute("aria-valuenow", "15")
    box = border.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 3, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(1280 * 0.3, box["y"] + 50)
    page.mouse.up()
    expect(border).to_have_attribute("aria-valuenow", "30")
    page.reload()
    expect(border).to_have_attribute("aria-valuenow", "30")
    after = page.locator(".side").bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] - before["width"] == pytest.approx(1280 * 0.2, abs=4)
    border.dblclick()
    expect(border).to_have_attribute("aria-valuenow", "50")


@pytest.mark.parametrize("page", [{"reduced_motion": "reduce"}], indirect=True, ids=["reduced"])
def test_nothing_moves_for_those_who_do_not_want_it(cluster: MockCluster, page: Page) -> None:
    """Stories play only when somebody starts them."""
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Stories").click()
    page.locator(".stories button").first.click()
    expect(page.get_by_role("button", name="▶ play")).to_be_visible()
    assert page.evaluate("document.getAnimations().length") == 0
    moment = page.locator(".moment").inner_text()
    page.get_by_role("button", name="step ›").click()
    expect(page.locator(".moment")).not_to_have_text(moment)

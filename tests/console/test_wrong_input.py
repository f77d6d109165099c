"""Every operation and every fault is given something wrong once: a sentence beside the field says what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockbroker import MockCluster
from mockbroker.control.table import OPERATIONS
from mockbroker.faults.actions import ACTIONS
from tests.console.tools import expect, operations

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

NUMBER = "soon"
NO_NUMBER = "give a number"
FIELDS = ".operations .argument"
NOTHING_WRONG = {"faults-clear", "handshakes-mend"}
"""They need nothing, and take no number."""
LEFT_OUT = {"faults preview"}
"""Nothing is done by it."""


def told_beside(page: Page, do: Locator) -> str:
    """What stands beside the field that is wrong; empty if there is none that can be."""
    needed = page.locator(".operations [aria-required=true], .operations select[required]")
    for each in needed.all():
        if each.evaluate("one => one.tagName") == "INPUT":
            each.fill("")
    # A field that is left empty may be filled with what is chosen on the page.
    if any(not each.input_value() for each in needed.all()):
        do.click()
        wrong = page.locator(f"{FIELDS} .wrong")
        expect(wrong).to_contain_text("is needed")
        return wrong.inner_text()
    for each in page.locator(
        ".operations input[placeholder=integer], .operations input[placeholder=number]"
    ).all():
        each.fill(NUMBER)
        do.click()
        name = each.get_attribute("name")
        expect(page.locator(f"#wrong-{name}")).to_contain_text(NO_NUMBER)
        return NO_NUMBER
    return ""


def test_every_operation(cluster: MockCluster, page: Page, complaints: list[str]) -> None:
    chosen, do = operations(cluster, page), page.get_by_role("button", name="Do it")
    ids = [each.get_attribute("value") or "" for each in chosen.locator("option").all()]
    changing = {name.replace(" ", "-", 1) for name, each in OPERATIONS.items() if each.method != "GET"}
    assert set(ids) == changing - {name.replace(" ", "-", 1) for name in LEFT_OUT}
    silent = []
    for id_ in ids:
        chosen.select_option(id_)
        if not told_beside(page, do):
            silent.append(id_)
    assert set(silent) == NOTHING_WRONG
    complaints.clear()


def test_every_fault(cluster: MockCluster, page: Page, complaints: list[str]) -> None:
    chosen, do = operations(cluster, page), page.get_by_role("button", name="Do it")
    for name in sorted(ACTIONS):
        chosen.select_option("faults-clear")
        chosen.select_option("faults-add")
        page.locator('.operations [name="do"]').select_option(name)
        assert told_beside(page, do), name
    complaints.clear()

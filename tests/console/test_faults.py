"""How the page adds faults: each with its fields, and with what it would hit."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest

from mockbroker import MockCluster
from mockbroker.faults import parse
from mockbroker.faults.actions import ACTIONS
from tests.cli.in_process import mockbroker
from tests.console.tools import expect, tools
from tests.control.asking import ask

from ..driving.clients import raw_client

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

WIDTHS = [{"viewport": {"width": width, "height": 900}} for width in (1400, 390)]


def asked(cluster: MockCluster, client_id: str, topic: str, count: int = 1) -> list[dict[str, object]]:
    with raw_client(cluster, client_id=client_id) as client:
        return [client.call("metadata", 9, {"topics": [{"name": topic}]}) for _ in range(count)]


def opened(cluster: MockCluster, page: Page) -> None:
    page.goto(cluster.console_url)
    expect(page.locator("header .status")).to_contain_text("live")
    page.get_by_role("tab", name="Do something").click()
    page.get_by_label("operation").select_option("faults-add")
    expect(field(page, "do")).to_be_visible()


def field(page: Page, name: str) -> Locator:
    return page.locator(f'.operations [name="{name}"]')


def wrong(page: Page, name: str) -> Locator:
    return page.locator(f"#wrong-{name}")


def hits(page: Page) -> Locator:
    return page.get_by_role("region", name="what it would hit")


def offered(page: Page, name: str) -> list[tuple[str, str]]:
    """Values and labels of the list that belongs to a field."""
    listed: list[tuple[str, str]] = page.locator(f"#names-{name} option").evaluate_all(
        "all => all.map((each) => [each.value, each.label])"
    )
    return listed


def test_an_error_is_added_with_its_fields(cluster: MockCluster, page: Page) -> None:
    asked(cluster, "app", "orders")
    opened(cluster, page)
    field(page, "do").select_option("error")
    expect(field(page, "error")).to_have_attribute("aria-required", "true")
    expect(hits(page)).to_contain_text("Give error to see what it would hit")
    page.wait_for_function("() => document.querySelector('#names-api option').label === 'requested so far'")
    assert offered(page, "api")[0][0] == "Metadata"
    assert {"Produce", "Fetch"} <= {value for value, _ in offered(page, "api")}
    assert [value for value, _ in offered(page, "client_id")] == ["app"]
    assert [value for value, _ in offered(page, "topic")] == ["orders"]
    field(page, "api").fill("Metadata")
    legal = [value for value, label in offered(page, "error") if "Kafka answers it in Metadata" in label]
    assert "LEADER_NOT_AVAILABLE" in legal
    assert "REBALANCE_IN_PROGRESS" not in legal
    field(page, "error").fill("REBALANCE_IN_PROGRESS")
    expect(hits(page)).to_contain_text("No broker answers REBALANCE_IN_PROGRESS in Metadata")
    field(page, "error").fill("LEADER_NOT_AVAILABLE")
    expect(hits(page)).to_contain_text("every one of the last 1 requests")
    expect(hits(page)).not_to_contain_text("No broker")
    page.get_by_role("button", name="Do it").click()
    expect(page.locator(".outcome")).to_contain_text("done")
    assert "LEADER_NOT_AVAILABLE" in json.dumps(asked(cluster, "app", "orders"))


def test_what_it_would_hit_is_there_before_it_is_added(cluster: MockCluster, page: Page) -> None:
    asked(cluster, "one", "orders", 3)
    asked(cluster, "two", "other", 2)
    opened(cluster, page)
    expect(hits(page)).to_contain_text("⚠ It would have hit every one of the last 5 requests")
    field(page, "client_id").fill("tw*")
    expect(hits(page)).to_contain_text("It would have hit 2 of the last 5 requests.")
    lines = hits(page).locator(".line")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("two")
    field(page, "nth").fill("2")
    expect(hits(page)).to_contain_text("It would have hit 1 of the last 5 requests (2 match")
    field(page, "topic").fill("ordres")
    field(page, "client_id").fill("")
    expect(hits(page)).to_contain_text("none of the last 5 requests: 5 requests came, none for")
    field(page, "topic").fill("orders")
    field(page, "nth").fill("")
    expect(hits(page)).to_contain_text("It would have hit 3 of the last 5")
    asked(cluster, "one", "orders")
    expect(hits(page)).to_contain_text("It would have hit 4 of the last 6")
    assert ask("GET", f"{cluster.control_url}/faults")[1] == []
    lines.first.click()
    expect(page.get_by_role("button", name="● live")).to_have_attribute("aria-pressed", "false")


def test_errors_stand_at_their_fields(cluster: MockCluster, page: Page, complaints: list[str]) -> None:
    opened(cluster, page)
    field(page, "do").select_option("delay")
    page.get_by_role("button", name="Do it").click()
    expect(wrong(page, "ms")).to_have_text("ms is needed")
    expect(field(page, "ms")).to_have_attribute("aria-invalid", "true")
    field(page, "ms").fill("soon")
    expect(wrong(page, "ms")).to_have_text("ms is soon: give a number")
    assert complaints == []
    field(page, "ms").fill("-5")
    expect(wrong(page, "ms")).to_have_text("ms is -5: give a number, 0 or more, and 2147483647 at most")
    field(page, "ms").fill("5")
    expect(wrong(page, "ms")).to_have_count(0)
    field(page, "api").fill("Produse")
    expect(wrong(page, "api")).to_contain_text("did you mean 'Produce'?")
    field(page, "api").fill("Produce, Fetch")
    expect(wrong(page, "api")).to_have_count(0)
    assert all("400" in each for each in complaints)
    complaints.clear()


def test_every_fault_has_its_fields(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    given = {"error": "UNKNOWN_SERVER_ERROR", "assignment": "{}", "field": "leader_id", "value": "1"}
    given |= {"acl": "bob allow read on topic:orders", "password": "secret"}
    for do in sorted(ACTIONS):
        field(page, "do").select_option(do)
        own = {each.name.rstrip("_") for each in fields(ACTIONS[do]) if each.init}
        names = page.locator(".operations fieldset").first.locator("input, select")
        assert {each.get_attribute("name") for each in names.all()} == {"do", *own}
        whens = field(page, "when").locator("option").all_inner_texts()
        assert whens == [ACTIONS[do].when[0], *ACTIONS[do].when]
        field(page, "api").fill("Metadata" if do == "replace" else "")
        for each in names.all():
            if each.get_attribute("aria-required") == "true":
                each.fill(given.get(each.get_attribute("name") or "", "1"))
        page.get_by_role("button", name="Do it").click()
        expect(page.locator(".outcome")).to_contain_text(f'"fault":"{do} ')


def test_what_is_copied_adds_the_same_fault(cluster: MockCluster, page: Page) -> None:
    opened(cluster, page)
    field(page, "do").select_option("cut-off-broker")
    field(page, "from").fill("2, controller")
    field(page, "api").fill("Produce, Fetch")
    field(page, "probability").fill("0.5")
    field(page, "optional").select_option("true")
    field(page, "name").fill("cut")
    conditions = {"api": ["Produce", "Fetch"], "probability": 0.5, "optional": True}
    wanted = {"do": "cut-off-broker", "from": [2, "controller"], **conditions}

    def copied(name: str) -> str:
        page.get_by_role("button", name=f"copy as {name}").click()
        expect(page.locator(".outcome")).not_to_be_empty()
        return page.locator(".outcome").inner_text()

    names: dict[str, object] = {"cluster": cluster}
    exec(copied("pytest"), names)
    assert str(parse(wanted)) in repr(names["cut"])
    page.get_by_role("button", name="copy as scenario").click()
    expect(page.locator(".outcome")).to_contain_text("[[fault]]")
    [fault] = tomllib.loads(page.locator(".outcome").inner_text())["fault"]
    assert fault == {**wanted, "name": "cut"}
    page.get_by_role("button", name="copy as curl").click()
    expect(page.locator(".outcome")).to_contain_text("/faults")
    body = re.search(r"-d '(.*)'$", page.locator(".outcome").inner_text())
    assert body is not None
    assert json.loads(body[1]) == {**wanted, "name": "cut"}
    words = shlex.split(copied("ctl"))[2:]
    done = mockbroker("ctl", *words, environment={"MOCKBROKER_CONTROL": cluster.control_url})
    assert done.exit_code == 0, done.output
    assert str(parse(wanted)) in repr(cluster.faults["cut"])


@pytest.mark.parametrize(
    ("page", "scheme"),
    list(zip(WIDTHS, ("light", "dark"), strict=True)),
    indirect=["page"],
    ids=["1400", "390"],
)
@pytest.mark.needs("node", "npm")
def test_the_form_is_for_everybody(
    cluster: MockCluster, page: Page, complaints: list[str], scheme: str
) -> None:
    """axe finds nothing serious, also where something is wrong; and nothing scrolls sideways."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    asked(cluster, "application-1", "orders", 8)
    asked(cluster, "b", "orders", 3)
    opened(cluster, page)
    page.evaluate((tools() / "node_modules/axe-core/axe.min.js").read_text())
    field(page, "do").select_option("error")
    field(page, "error").fill("REBALANCE_IN_PROGRESS")
    field(page, "api").fill("Metadata")
    field(page, "client_id").fill("app*")
    expect(hits(page)).to_contain_text("8 of the last 11")
    serious(page)
    field(page, "client_id").fill("")
    field(page, "level").select_option("group")
    expect(wrong(page, "level")).to_be_visible()
    serious(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    complaints.clear()


def serious(page: Page) -> None:
    found = page.evaluate("axe.run().then((found) => found.violations)")
    bad = [each for each in found if each["impact"] in ("serious", "critical")]
    assert [(each["id"], each["nodes"][0]["html"]) for each in bad] == []

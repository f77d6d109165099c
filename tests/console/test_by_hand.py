"""Every operation and every fault that the schema has is filled in by hand, and done."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pytest

from mockbroker import MockCluster
from mockbroker.faults.actions import ACTIONS
from tests.console.tools import expect, operations

from ..control.asking import ask
from ..driving.clients import raw_client
from ..driving.uses import HELD, USED

if TYPE_CHECKING:
    from playwright.sync_api import Page

SECURITY: Final[dict[str, Any]] = {
    "tls": True,
    "super_users": ["ANONYMOUS"],
    "listeners": {"OPEN": "PLAINTEXT", "LOGIN": "SASL_SSL"},
    "sasl": ["plain", "scram-sha-256", "oauthbearer"],
    "signed_tokens": True,
    "users": {"alice": "secret"},
}
VALUES: Final = {
    "topic": "orders",
    "partition": "0",
    "broker": "3",
    "target": "3",
    "from": "1, controller",
    "listener": "LOGIN",
    "group": "g",
    "member": "mock",
    "transactional_id": "x",
    "delay_ms": "100",
    "ms": "5",
    "bytes": "10",
    "offset": "0",
    "acl": "bob allow read on topic:orders",
    "user": "bob",
    "password": "secret",
    "value": "order 1",
    "key": "1",
    "certificate": "expired",
    "how": "cut",
    "by": "1s",
    "name": "undefined-epoch",
    "answer": "log-end-offset",
    "error": "UNKNOWN_SERVER_ERROR",
    "field": "cluster_id",
    "assignment": '{"orders": [0]}',
    "config": '{"consumer.session.timeout.ms": "45000"}',
}
"""Of each field that has to be filled in, what it may be."""
OWN: Final[dict[str, dict[str, str]]] = {
    "topics-create": {"topic": "more", "partitions": "2", "config": '{"retention.ms": "1000"}'},
    "topics-delete": {"topic": "more"},
    "records-produce": {"key": "1"},
    "tokens-issue": {"user": "alice"},
    "faults-remove": {"name": "held"},
    "faults-pause": {"name": "held"},
    "faults-release": {"name": "held"},
    "groups-expire-locks": {"group": "expire-locks"},
    "replace": {"api": "Metadata", "value": "other"},
}
"""What operations and faults need otherwise, or besides."""
ANY: Final = {"client_id": "shop", "times": "1"}
"""What every fault is given besides."""


def started(cluster: MockCluster) -> None:
    cluster.run(lambda core: core.processes.start(3))
    cluster.clock.advance("1m")


def a_fault(cluster: MockCluster) -> None:
    ask(
        "POST",
        f"{cluster.control_url}/faults",
        {"do": "hold", "name": "held", "api": "DeleteTopics", "optional": True},
    )


def used(verb: str) -> Callable[[MockCluster], None]:
    def use(cluster: MockCluster) -> None:
        cluster.create_topic(verb, replica_assignment=[[1, 2, 3]])
        USED[verb](cluster, verb)

    return use


BEFORE: Final[dict[str, Callable[[MockCluster], Any]]] = {
    "brokers-kill": started,
    "brokers-cut-off": started,
    "brokers-drop-fetch-sessions": used("drop-fetch-sessions"),
    "brokers-drop-share-sessions": used("drop-share-sessions"),
    "listeners-close": started,
    "followers-pause": lambda cluster: cluster.slow_metadata(3, 0),
    "partitions-expire-producer": lambda cluster: USED["expire-producer"](cluster, "orders"),
    "groups-expire-locks": used("expire-locks"),
    "groups-evict": lambda cluster: USED["evict-member"](cluster, "orders"),
    "transactions-expire": lambda cluster: USED["expire-transactional-id"](cluster, "orders"),
    "faults-remove": a_fault,
    "faults-pause": a_fault,
}
"""What has to have happened before an operation has something to do."""


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    """Its own for each test: faults pause followers, for which an operation of the other would wait."""
    with MockCluster(
        kafka="4.4",
        clock="manual",
        console=True,
        security=SECURITY,
        config={"group.initial.rebalance.delay.ms": "0"},
    ) as running:
        running.create_topic("orders", replica_assignment=[[1, 2, 3]])
        yield running
        while HELD:
            HELD.pop().close()


def fill(page: Page, own: dict[str, str]) -> None:
    """What is needed, and what is said besides."""
    needed = page.locator(".operations [aria-required=true], .operations select[required]")
    names = [each.get_attribute("name") or "" for each in needed.all()]
    for name in dict.fromkeys([*names, *own]):
        if name == "do":
            continue
        field = page.locator(f'.operations [name="{name}"]')
        value = own.get(name, VALUES.get(name))
        assert value is not None, f"VALUES does not say what {name} may be"
        if field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def test_every_operation(cluster: MockCluster, page: Page) -> None:
    chosen = operations(cluster, page)
    ids = [each.get_attribute("value") or "" for each in chosen.locator("option").all()]
    assert len(ids) > 30
    outcome, done = page.locator(".outcome"), page.get_by_role("region", name="done so far").locator("li")
    for count, id_ in enumerate(ids, 1):
        if before := BEFORE.get(id_):
            before(cluster)
        chosen.select_option(id_)
        expect(outcome).to_be_empty()
        if id_ == "faults-add":
            page.locator('.operations [name="do"]').select_option("watch")
        fill(page, OWN.get(id_, {}))
        # A click may miss it: it moves when what a fault would have hit is shown above.
        page.get_by_role("button", name="Do it").press("Enter")
        expect(outcome, id_).to_have_text(re.compile("^done"))
        expect(done).to_have_count(count)


def test_every_fault(cluster: MockCluster, page: Page, complaints: list[str]) -> None:
    """It is listed, with how often it fired, or why it did not."""
    chosen = operations(cluster, page)
    chosen.select_option("faults-add")
    kinds = page.locator('.operations [name="do"] option').all_inner_texts()
    assert set(kinds) - {""} == set(ACTIONS)
    for do in sorted(ACTIONS):
        chosen.select_option("faults-clear")
        chosen.select_option("faults-add")
        page.locator('.operations [name="do"]').select_option(do)
        expect(page.locator(".outcome")).to_be_empty()
        fill(page, {"name": do, **ANY, **OWN.get(do, {})})
        page.get_by_role("button", name="Do it").press("Enter")
        expect(page.locator(".outcome")).to_contain_text("done")
    for _ in range(3):
        # Several act on the same request, and some leave it without an answer.
        with raw_client(cluster, "shop", timeout_s=1) as client, contextlib.suppress(OSError, ValueError):
            client.call("metadata", 9, {"topics": [{"name": "orders"}]})
    page.get_by_role("tab", name="Faults").click()
    rows = page.get_by_role("region", name="Faults").locator("tbody tr")
    expect(rows).to_have_count(len(ACTIONS))
    hit = 0
    for row in rows.all():
        fired = row.locator("td").nth(2).inner_text()
        assert re.match(r"once|0 times.*: \w", fired), row.inner_text()
        hit += fired.startswith("once")
    assert hit > 3
    # What a fault would hit is asked for while its fields are filled in.
    complaints.clear()

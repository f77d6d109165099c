"""Why a fault did not fire: which of its conditions the requests that came did not meet."""

from __future__ import annotations

from typing import Any

import pytest

from mockbroker.protocol.api_keys import ApiKey
from tests.driving.faulty import FaultyDriver

_HEARTBEAT: dict[str, Any] = {"group_id": "billing", "generation_id": 1, "member_id": "m"}


def _ask(driver: FaultyDriver) -> None:
    """Two heartbeats of a group that is not there, and Metadata about one topic."""
    for _ in range(2):
        driver.send("heartbeat", **_HEARTBEAT)
    driver.send("metadata", topics=[{"name": "t"}])


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ({"api": "Produce"}, "no Produce came; the clients sent Heartbeat, Metadata"),
        (
            {"api": ["Produce", "Fetch"], "topic": "t"},
            "no Produce, Fetch came; the clients sent Heartbeat, Metadata",
        ),
        (
            {"api": "Metadata", "topic": "tt"},
            "1 Metadata request came, none for the topic 'tt' (they were for 't': did you mean that?)",
        ),
        (
            {"api": "Heartbeat", "topic": "t"},
            "2 Heartbeat requests came, none for the topic 't' (they named none)",
        ),
        (
            {"api": "Heartbeat", "group": "biling"},
            (
                "2 Heartbeat requests came, none for the group 'biling' "
                "(they were for 'billing': did you mean that?)"
            ),
        ),
        (
            {"api": "Heartbeat", "group": "other"},
            "2 Heartbeat requests came, none for the group 'other' (they were for 'billing')",
        ),
        (
            {"group": "biling-*"},
            "3 requests came, none for the group 'biling-*' (they were for 'billing': did you mean that?)",
        ),
        ({"transactional_id": "tx"}, "3 requests came, none for the transactional id 'tx' (they named none)"),
        ({"client_id": "rdkafka"}, "3 requests came, none of the client 'rdkafka' (they were of 'test')"),
        (
            {"client_id": "", "api": "Heartbeat"},
            "2 Heartbeat requests came, none of the client '' (they were of 'test')",
        ),
        (
            {"broker": 3, "api": "Metadata"},
            "1 Metadata request came, none to broker 3 (they were to broker 1)",
        ),
        (
            {"nth_on_connection": 3, "api": "Heartbeat"},
            "2 Heartbeat requests came, none at number 3 of its connection (they were at number 1, 2)",
        ),
        ({"version": 99}, "3 requests came, none of version 99 (they were of version 3, 8)"),
        (
            {"version": 8, "topic": "s"},
            (
                "3 requests came, 2 not of version 8 (they were of version 3); "
                "1 not for the topic 's' (they were for 't')"
            ),
        ),
        ({"api": "Heartbeat", "nth": 5}, "only 2 such requests came, and nth=5"),
        (
            {"api": "Heartbeat", "probability": 1e-9, "seed": 1},
            "2 such requests came, and probability=1e-09 chose none",
        ),
    ],
)
def test_it_names_the_condition_that_no_request_met(fault: dict[str, Any], why: str) -> None:
    driver = FaultyDriver()
    added = driver.faults.add("delay", ms=1, **fault)
    _ask(driver)
    assert (added.hits, added.why) == (0, why)


def test_it_is_silent_once_it_fired_and_says_what_came_before_and_after(driver: FaultyDriver) -> None:
    first = driver.faults.add("delay", ms=0, api="Heartbeat")
    assert first.why == "no client sent anything"
    driver.faults.remove(first)
    _ask(driver)
    assert first.why == "no Heartbeat came before it was removed"
    assert first.why_so_far == "no Heartbeat came"
    late = driver.faults.add("delay", ms=0, api="Heartbeat")
    assert late.why == "no Heartbeat came since it was added"
    _ask(driver)
    assert late.hits
    assert not late.why


def test_a_fault_behind_one_that_leaves_no_answer_says_so(driver: FaultyDriver) -> None:
    driver.faults.add("disconnect", api="Heartbeat")
    behind = driver.faults.add("error", when="after", api="Heartbeat", error="NOT_COORDINATOR")
    driver.send("heartbeat", **_HEARTBEAT)
    assert behind.why == "such a request came, but it got no answer that the fault could change"


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        (
            {"api": "Produce", "client_id": "test"},
            "the client 'test' never sent Produce, but Heartbeat, Metadata",
        ),
        (
            {"api": ["Produce", "Fetch"], "client_id": "t*"},
            "the client 'test' never sent Produce or Fetch, but Heartbeat, Metadata",
        ),
        ({"api": "Produce", "client_id": "rdkafka"}, "no Produce came; the clients sent Heartbeat, Metadata"),
    ],
)
def test_it_names_the_client_that_never_sends_that_api(fault: dict[str, Any], why: str) -> None:
    driver = FaultyDriver()
    _ask(driver)
    assert driver.faults.add("delay", ms=1, **fault).why == why


def test_a_client_that_is_not_meant_may_send_it(driver: FaultyDriver) -> None:
    _ask(driver)
    driver.faults.note(ApiKey.METADATA, "billing")
    fault = driver.faults.add("delay", ms=1, api="Heartbeat", client_id="billing")
    assert fault.why == "the client 'billing' never sent Heartbeat, but Metadata"


def test_what_it_remembers_has_a_bound(driver: FaultyDriver) -> None:
    fault = driver.faults.add("delay", ms=0, api="Heartbeat", group="billing")
    for number in range(200):
        driver.send("heartbeat", **{**_HEARTBEAT, "group_id": f"g{number:03}"})
    others = "'g000', 'g001', 'g002', 'g003', 'g004' and others"
    assert fault.why == (
        f"200 Heartbeat requests came, none for the group 'billing' (they were for {others})"
    )

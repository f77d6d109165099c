"""Which plans can be played with a cluster of somebody else's."""

from typing import Any

import pytest

from mockbroker.clients.drivers.names import Names
from mockbroker.clients.hunt.elsewhere import lacks
from mockbroker.clients.hunt.plan import Plan, PlannedTopic, PlannedUser, Step

LOST = Step("fault", 0, {"do": "disconnect", "api": "Produce", "when": "after", "times": 1})


def plan(*steps: Step, **given: Any) -> Plan:
    users = given.pop("users", (PlannedUser("p", "producer"),))
    return Plan(1, "4.4", 3, (PlannedTopic("t", 1),), users, steps, **given)


@pytest.mark.parametrize(
    ("played", "wanted"),
    [
        (plan(), ()),
        (plan(LOST, Step("delete-records", 0, {"topic": "t", "partition": 0})), ()),
        (
            plan(LOST, Step("kill-broker", 0, {"broker": 1}), Step("pass-time"), LOST),
            ("kill-broker", "pass-time"),
        ),
        (plan(Step("fault", 0, {"do": "stop-broker", "api": "Produce"})), ("the fault stop-broker",)),
        (plan(Step("fault", 0, {**LOST.fields, "user": "alice"})), ("the fault disconnect",)),
        (plan(security={"tls": True}), ("TLS and logins",)),
        (plan(users=(PlannedUser("m", "share-member"),)), ("what brokers know of share groups",)),
    ],
    ids=[
        "nothing",
        "requests",
        "brokers",
        "a fault of a mock",
        "a condition of a mock",
        "TLS",
        "share group",
    ],
)
def test_what_only_a_mock_can_do(played: Plan, wanted: tuple[str, ...]) -> None:
    assert lacks(played) == wanted


def test_names_of_a_run_are_kept_apart() -> None:
    names = Names("mockbroker-1-")
    config = {"group.id": "g", "transactional.id": "x", "client.id": "c"}
    assert names.there({"topics": ["t", "^t.*"], "config": config}) == {
        "topics": ["mockbroker-1-t", "^mockbroker-1-t.*"],
        "config": {"group.id": "mockbroker-1-g", "transactional.id": "mockbroker-1-x", "client.id": "c"},
    }
    assert names.there({"offsets": [("t", 0, 5)], "partitions": 3, "group": "*"}) == {
        "offsets": [["mockbroker-1-t", 0, 5]],
        "partitions": 3,
        "group": "*",
    }
    assert names.here(b'{"topic": "mockbroker-1-t", "message": "no mockbroker-1-t-0"}') == (
        b'{"topic": "t", "message": "no t-0"}'
    )

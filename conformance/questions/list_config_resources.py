"""ListConfigResources: what is configured, by type (KIP-714, KIP-1142)."""

from typing import Any

from ..registry import Scene, Steps, question

GROUP = 32
CLIENT_METRICS = 16


def _configured(s: Scene) -> None:
    """A group and a subscription to metrics with configurations of their own, and a topic."""
    s.topic()
    s.configure(GROUP, s.name("g"), consumer_session_timeout_ms="50000")
    s.configure(CLIENT_METRICS, s.name("m"), interval_ms="60000")
    # Brokers learn of it a moment later, one after the other.
    s.until(lambda: s.name("m") in _names(s), "the subscription")


def _names(s: Scene) -> list[str]:
    found = s.call("list_config_resources", {"resource_types": []})["config_resources"]
    return [each["resource_name"] for each in found]


def _list(s: Scene, *types: int) -> Any:
    """Only the resources of this question, and brokers: the cluster has others."""
    answer = s.ask(resource_types=list(types))
    mine = [
        each
        for each in answer["config_resources"]
        if s.suffix in each["resource_name"] or each["resource_name"].isdigit()
    ]
    return {**answer, "config_resources": mine}


def of_all_types(s: Scene) -> Steps:
    _configured(s)
    yield "all", _list(s)


@question(since=1)
def by_type(s: Scene) -> Steps:
    _configured(s)
    for kind in (2, 4, 8, GROUP, CLIENT_METRICS, 0, 99):
        yield f"type {kind}", _list(s, kind)
    yield "two types", _list(s, 2, GROUP)
    yield "the same twice", _list(s, GROUP, GROUP)

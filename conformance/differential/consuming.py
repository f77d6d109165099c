"""Waiting for consumer groups: their coordinator learns of topics later than Metadata tells of them."""

from collections.abc import Callable, Collection
from typing import Any, Final

from ...rig.client import Client
from . import aside, coordinating, expecting
from .expecting import LATER
from .steps import Step
from .waiting import until

_PROBE: Final = "aside-consumers"
_MEMBER: Final = "asideAAAAAAAAAAAAAAAAA"
_LONG_MS: Final = 300_000


class Consuming:
    """`coordinator` gives a client of the broker that leads a topic. `topics` are those that a sequence may
    have created."""

    def __init__(
        self, coordinator: Callable[[str], Client], topics: Collection[str], *, needed: bool
    ) -> None:
        """It is `needed` where a sequence has members."""
        self._coordinator = coordinator
        self._topics = topics
        self._needed = needed

    def settle(self, step: Step, fields: dict[str, Any], answer: Any) -> bool:
        """Whether the coordinator knows the topics as they are after the step."""
        if not self._needed or step.api not in LATER:
            return True
        expected = dict(expecting.changed(step, fields, answer, all_up=True))
        return until(lambda: self._knows(expected))

    def _knows(self, expected: dict[str, expecting.Expected]) -> bool:
        """Whether the coordinator gives all partitions of all topics to a lone member who reads them."""
        found = aside.topics(self._coordinator(coordinating.GROUPS), self._topics)
        counts = {each["topic_id"]: len(each["partitions"]) for each in found if each["error_code"] == "NONE"}
        return expecting.met(expected, found) and self._given() == counts

    def _given(self) -> dict[Any, int]:
        client = self._coordinator(coordinating.GROUPS)
        client.call("delete_groups", 2, {"groups_names": [_PROBE]})
        who = {"group_id": _PROBE, "member_id": _MEMBER}
        reads = {"subscribed_topic_names": sorted(self._topics), "topic_partitions": []}
        joining = {"member_epoch": 0, "rebalance_timeout": _LONG_MS, **reads}
        answer = client.call("consumer_group_heartbeat", 0, {**who, **joining})
        client.call("consumer_group_heartbeat", 0, {**who, "member_epoch": -1})
        given = answer["assignment"] or {"topic_partitions": []}
        return {each["topic_id"]: len(each["partitions"]) for each in given["topic_partitions"]}

"""Waiting for consumer groups: their coordinator learns of topics later than Metadata tells of them."""

from collections.abc import Callable, Collection
from typing import Any, Final

from ...rig.client import Client
from . import coordinating, expecting
from .aside import metadata
from .steps import MOVE, RESTARTS, Step
from .waiting import until

_PROBE: Final = "aside-consumers"
_MEMBER: Final = "asideAAAAAAAAAAAAAAAAA"
_LONG_MS: Final = 300_000
_LATER: Final = (
    frozenset({"create_topics", "delete_topics", "create_partitions", "metadata", MOVE}) | RESTARTS
)


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
        if not self._needed or step.api not in _LATER:
            return True
        expected = dict(expecting.changed(step, fields, answer, all_up=True))
        return until(
            lambda: (
                all(expected.get(each["name"], expecting.nothing)(each) for each in self._all)
                and self._known()
            )
        )

    @property
    def _all(self) -> list[expecting.Topic]:
        client = self._coordinator(coordinating.GROUPS)
        found: list[expecting.Topic] = (
            metadata(client, sorted(self._topics))["topics"] if self._topics else []
        )
        return found

    def _known(self) -> bool:
        """Whether the coordinator gives all partitions of all topics to a lone member who reads them."""
        counts = {
            each["topic_id"]: len(each["partitions"]) for each in self._all if each["error_code"] == "NONE"
        }
        return self._given() == counts

    def _given(self) -> dict[Any, int]:
        client = self._coordinator(coordinating.GROUPS)
        client.call("delete_groups", 2, {"groups_names": [_PROBE]})
        who = {"group_id": _PROBE, "member_id": _MEMBER}
        topics = {"subscribed_topic_names": sorted(self._topics), "topic_partitions": []}
        joining = {"member_epoch": 0, "rebalance_timeout": _LONG_MS, **topics}
        answer = client.call("consumer_group_heartbeat", 0, {**who, **joining})
        client.call("consumer_group_heartbeat", 0, {**who, "member_epoch": -1})
        given = answer["assignment"] or {"topic_partitions": []}
        return {each["topic_id"]: len(each["partitions"]) for each in given["topic_partitions"]}

"""Where another cluster answered otherwise than was recorded, without what must differ."""

from collections.abc import Callable
from typing import Any, Final

from ..conformance.diff import differing
from ..protocol.schema import class_name
from ..rig.normalise import Normaliser
from .messages import name_of

LEFT_OUT: Final = frozenset(
    {
        "throttle_time",
        "cluster_id",
        "controller_id",
        "leader_id",
        "replica_nodes",
        "isr_nodes",
        "leader_epoch",
        "partition_leader_epoch",
        "offline_replicas",
        "eligible_leader_replicas",
        "last_known_elr",
        "preferred_read_replica",
        "node_endpoints",
        "current_leader",
        "brokers",
        "producer_epoch",
        "generation_id",
        "member_epoch",
        "log_append_time",
        "issue_timestamp",
        "expiry_timestamp",
        "base_timestamp",
        "max_timestamp",
        "finalized_features_epoch",
        "push_interval",
        "subscription_id",
        "client_instance_id",
    }
)
"""Fields of answers that depend on the cluster or on the time, besides ids and addresses."""
_LEFT_OUT_OF: Final = {"find_coordinator": frozenset({"node_id", "host", "port"})}
_NEVER: Final = "\0"
"""The suffix of names, where no name has one."""
Difference = tuple[str, Any, Any]
ABSENT: Final = "nothing"
"""Shown for a field that one of two answers lacks."""


class Comparer:
    """Compares answers, in their order: ids are the same if they came up at the same places. Each time is
    that at which the answer came, in s since 1970."""

    def __init__(self, recorded_s: Callable[[], float], now_s: Callable[[], float]) -> None:
        self._sides = (
            Normaliser(_NEVER, None, {}, {}, recorded_s),
            Normaliser(_NEVER, None, {}, {}, now_s),
        )
        self.left_out: set[str] = set()

    def differences(self, api: str, recorded: Any, given: Any) -> list[Difference]:
        """Each place that differs, with what was recorded and what was given there."""
        sides = []
        for side, answer in zip(self._sides, (recorded, given), strict=True):
            self._name_ids(side, answer)
            sides.append(self._without(api, side.answer(answer, api)))
        return [
            (path, ABSENT if type(left) is object else left, ABSENT if type(right) is object else right)
            for path, left, right in differing(*sides)
        ]

    def _without(self, api: str, value: Any) -> Any:
        if api == "api_versions" and isinstance(value, dict) and "api_keys" in value:
            ranges = {
                _api(each): f"{each['min_version']}-{each['max_version']}" for each in value["api_keys"]
            }
            value = {**value, "api_keys": ranges}
        if isinstance(value, dict):
            out = value.keys() & (LEFT_OUT | _LEFT_OUT_OF.get(api, frozenset()))
            self.left_out |= out
            return {each: self._without(api, inner) for each, inner in value.items() if each not in out}
        return [self._without(api, each) for each in value] if isinstance(value, list) else value

    def _name_ids(self, side: Normaliser, value: Any) -> None:
        if isinstance(value, list):
            for each in value:
                self._name_ids(side, each)
        elif isinstance(value, dict):
            name = value.get("name") or value.get("topic")
            if name and value.get("topic_id"):
                side.name_topic_id(value["topic_id"], name)
            if isinstance(member := value.get("member_id"), str) and member:
                side.name_member(member)
            if isinstance(producer := value.get("producer_id"), int) and producer >= 0:
                side.name_producer(producer)
            for each in value.values():
                self._name_ids(side, each)


def _api(entry: dict[str, Any]) -> str:
    name = name_of(entry["api_key"])
    return str(entry["api_key"]) if name is None else class_name(name)

"""What members of streams groups were told while a sequence is played to one broker."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

KINDS: Final = ("active_tasks", "standby_tasks", "warmup_tasks")
Tasks = Sequence[dict[str, Any]]
"""Partitions by subtopology or topic, as requests and answers have them."""
Shapes = Mapping[str, Callable[[Tasks], Tasks]]


def _shortened(tasks: Tasks) -> Tasks:
    """Without the last partition of each subtopology."""
    found = [{**each, "partitions": each["partitions"][:-1]} for each in tasks]
    return [each for each in found if each["partitions"]]


def shapes(any_: dict[str, Any], unknown: dict[str, Any]) -> Shapes:
    """What a member says that it has, by what it was told; `any_` stands for nothing."""

    def further(tasks: Tasks, partition: Callable[[list[int]], int]) -> Tasks:
        return [
            {**each, "partitions": [*each["partitions"], partition(each["partitions"])]}
            for each in tasks or (any_,)
        ]

    return MappingProxyType(
        {
            "all": lambda told: told,
            "none": lambda told: (),
            "fewer": _shortened,
            "first": lambda told: told[:1],
            "backwards": lambda told: [
                {**each, "partitions": each["partitions"][::-1]} for each in told[::-1]
            ],
            "more": lambda told: further(told, lambda known: max(known) + 1),
            "twice": lambda told: [*told, *told],
            "negative": lambda told: further(told, lambda known: -1),
            "unknown": lambda told: [*told, unknown],
        }
    )


SHAPES: Final = shapes(
    {"subtopology_id": "0", "partitions": [0]}, {"subtopology_id": "nowhere", "partitions": [0]}
)


class StreamsBindings:
    """The epochs and tasks of members, by number."""

    def __init__(self) -> None:
        self._epochs: dict[int, int] = {}
        self._endpoints: dict[int, int] = {}
        self._tasks: dict[int, Mapping[str, Tasks]] = {}

    def epoch(self, member: int, plus: int) -> int:
        return self._epochs.get(member, 0) + plus

    def endpoint_epoch(self, member: int, plus: int) -> int:
        return self._endpoints.get(member, 0) + plus

    def tasks(self, member: int, kind: str, shape: str) -> list[dict[str, Any]]:
        return list(SHAPES[shape](self._tasks.get(member, {}).get(kind, ())))

    def learn(self, member: int, answer: dict[str, Any]) -> None:
        """Of an answer to StreamsGroupHeartbeat."""
        if answer.get("error_code") != "NONE":
            return
        if answer["member_epoch"] < 0:
            self._tasks.pop(member, None)
            return
        self._epochs[member] = answer["member_epoch"]
        self._endpoints[member] = answer["endpoint_information_epoch"]
        if answer["active_tasks"] is not None:
            self._tasks[member] = {kind: answer[kind] for kind in KINDS}

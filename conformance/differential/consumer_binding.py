"""What members of consumer groups were told while a sequence is played to one broker."""

from typing import Any, Final

from ...rig.scene import UNKNOWN_TOPIC_ID
from .streams_binding import Tasks, shapes

_UNKNOWN: Final = {"topic_id": UNKNOWN_TOPIC_ID, "partitions": [0]}
SHAPES: Final = shapes(_UNKNOWN, _UNKNOWN)


class ConsumerBindings:
    """The epochs and partitions of members, by number."""

    def __init__(self) -> None:
        self._epochs: dict[int, int] = {}
        self._owned: dict[int, Tasks] = {}

    def epoch(self, member: int, plus: int) -> int:
        return self._epochs.get(member, 0) + plus

    def owned(self, member: int, shape: str) -> list[dict[str, Any]]:
        return list(SHAPES[shape](self._owned.get(member, ())))

    def learn(self, member: int, answer: dict[str, Any]) -> None:
        """Of an answer to ConsumerGroupHeartbeat."""
        if answer.get("error_code") != "NONE":
            return
        if answer["member_epoch"] < 0:
            self._owned.pop(member, None)
            return
        self._epochs[member] = answer["member_epoch"]
        if answer["assignment"] is not None:
            self._owned[member] = answer["assignment"]["topic_partitions"]

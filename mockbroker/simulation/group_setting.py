"""The settings of a consumer group whose coordinator assigns partitions (KIP-848)."""

from dataclasses import dataclass
from typing import Final

TOPICS: Final = ("m", "n")
"""The topics of such a group."""
NAMES: Final = (TOPICS[:1], TOPICS[1:], TOPICS)
"""What its members may subscribe to by name."""
EXPRESSIONS: Final = ("[mn]", "m.*", "")
"""What they may subscribe to by regular expression; the last takes an expression back."""
SUBSCRIPTIONS: Final = len(NAMES) + len(EXPRESSIONS)
ASSIGNORS: Final = ("", "uniform", "range")
"""What they may ask for."""
MOST: Final = 10
"""So many members and partitions at most."""
SESSION_MS: Final = 1_500
REBALANCE_MS: Final = 2_000
CONFIG: Final = {
    "group.consumer.heartbeat.interval.ms": "300",
    "group.consumer.min.heartbeat.interval.ms": "300",
    "group.consumer.min.session.timeout.ms": str(SESSION_MS),
    "group.consumer.session.timeout.ms": str(SESSION_MS),
    "group.coordinator.rebalance.protocols": "classic,consumer",
}
"""What such groups need of brokers."""


@dataclass(frozen=True, slots=True)
class GroupSetting:
    """The settings of the group. Without `members` there is none; each of `TOPICS` has `partitions`.

    `assignors` are those that members ask for, one each, "" for none. If the members are `static`, each has
    an instance id, and leaves for a while only.
    """

    members: int = 0
    partitions: int = 3
    static: bool = False
    assignors: tuple[str, ...] = ()

    @property
    def in_words(self) -> str:
        """The settings, in a line."""
        asked = ", ".join(each or "none" for each in self.assignors)
        return f"{self.members}{' static' * self.static} members of a consumer group, assignors {asked}"

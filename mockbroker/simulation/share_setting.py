"""The settings of a share group (KIP-932)."""

from dataclasses import dataclass
from typing import Final

TOPIC: Final = "w"
"""The topic of such a group."""
MOST: Final = 10
"""So many members and partitions at most."""
DELIVERIES: Final = (2, 10)
"""The range of `group.share.delivery.count.limit`."""
LEAST_LOCK_MS, MOST_LOCK_MS = 1_000, 60_000
MOST_RECORDS: Final = 10_000
SESSION_MS: Final = 1_500
_WRITE_MS: Final = 1_500


@dataclass(frozen=True, slots=True)
class ShareSetting:
    """The settings of the group. Without `members` there is none; `TOPIC` has `partitions`.

    The group begins with the first records, or, if `latest`, with those that come. A member gets `records`
    at once (`max.poll.records`), never more if it is `strict` (`share.acquire.mode`), and accepts all that it
    gets if it is `implicit`. With `poison`, some records make every member die that gets them.
    """

    members: int = 0
    partitions: int = 2
    latest: bool = False
    deliveries: int = 5
    """`group.share.delivery.count.limit`."""
    lock_ms: int = 1_500
    """`group.share.record.lock.duration.ms`."""
    records: int = 500
    strict: bool = False
    implicit: bool = False
    poison: bool = False

    @property
    def reset(self) -> str:
        """`share.auto.offset.reset`."""
        return "latest" if self.latest else "earliest"

    @property
    def config(self) -> dict[str, str]:
        """What the group needs of brokers."""
        return {
            "group.share.assignment.interval.ms": "0",
            "group.share.delivery.count.limit": str(self.deliveries),
            "group.share.heartbeat.interval.ms": "300",
            "group.share.min.heartbeat.interval.ms": "300",
            "group.share.min.record.lock.duration.ms": str(LEAST_LOCK_MS),
            "group.share.min.session.timeout.ms": str(SESSION_MS),
            "group.share.record.lock.duration.ms": str(self.lock_ms),
            "group.share.session.timeout.ms": str(SESSION_MS),
            "share.coordinator.state.topic.num.partitions": "1",
            "share.coordinator.state.topic.replication.factor": "3",
            "share.coordinator.write.timeout.ms": str(_WRITE_MS),
        }

    @property
    def in_words(self) -> str:
        """The settings, in a line."""
        how = ", ".join(
            name
            for name, given in (
                ("implicit acknowledgement", self.implicit),
                ("record_limit", self.strict),
                ("poison", self.poison),
            )
            if given
        )
        return (
            f"{self.members} members of a share group, from {self.reset}, {self.deliveries} deliveries, "
            f"locks of {self.lock_ms} ms, {self.records} records at once{f', {how}' * bool(how)}"
        )

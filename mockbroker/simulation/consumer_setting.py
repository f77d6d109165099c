"""How model consumers are set."""

import enum
from dataclasses import dataclass


class Commit(enum.StrEnum):
    """Which leader epoch goes with a committed offset."""

    POSITION = "position"
    """That of the last record, as `commitSync()` does."""
    FRESH_LEADER = "fresh-leader"
    """The leader's, which each step forward takes anew from metadata (option 1)."""
    LEADER_AT_COMMIT = "leader-at-commit"
    """The leader's as metadata has it at the commit (option 2)."""
    MAX_EPOCH = "max-epoch"
    """The larger of the record's and the position's leader's (option 3)."""
    COMBINED = "combined"
    """Options 1 and 3."""
    NO_EPOCH = "no-epoch"
    """None, as an application that keeps offsets itself commits in its rebalance listener."""


class Reset(enum.StrEnum):
    """`auto.offset.reset`."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ConsumerSetting:
    """How a group's consumers are set."""

    commit: Commit = Commit.POSITION
    reset: Reset = Reset.EARLIEST
    read_committed: bool = False

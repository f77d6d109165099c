"""The settings of model consumers."""

import enum
from dataclasses import dataclass


class Commit(enum.StrEnum):
    """Which leader epoch goes with a committed offset."""

    POSITION = "position"
    """The epoch of the last record, as `commitSync()` commits it."""
    FRESH_LEADER = "fresh-leader"
    """The leader's epoch, taken anew from metadata whenever the position moves (option 1)."""
    LEADER_AT_COMMIT = "leader-at-commit"
    """The leader's epoch, as in metadata at the time of the commit (option 2)."""
    MAX_EPOCH = "max-epoch"
    """The larger of two epochs: the last record's, and that of the position's leader (option 3)."""
    COMBINED = "combined"
    """Options 1 and 3."""
    NO_EPOCH = "no-epoch"
    """No epoch, as with `new OffsetAndMetadata(offset)`."""


class Reset(enum.StrEnum):
    """`auto.offset.reset`."""

    EARLIEST = "earliest"
    LATEST = "latest"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ConsumerSetting:
    """The settings of a group's consumers."""

    commit: Commit = Commit.POSITION
    reset: Reset = Reset.EARLIEST
    read_committed: bool = False

"""What was written, acknowledged, read and committed: what the invariants are about.

Records are known by their numbers. Of a group, one consumer at a time is to read a partition.
"""

import enum
from dataclasses import dataclass, field
from typing import NamedTuple

Place = tuple[str, int]
"""(topic, partition)"""


class Violation(NamedTuple):
    """An invariant that did not hold. `at_ms` is since the history's start."""

    invariant: str
    at_ms: int
    subject: str
    text: str


@dataclass(slots=True)
class Acknowledged:
    """A record that a producer was told is written."""

    place: Place
    offset: int
    """-1 when it was not told."""
    writer: str
    acks: int


class Ending(enum.Enum):
    """How a transaction ends, as its producer knows."""

    OPEN = "nobody asked to commit it"
    COMMITTING = "it was asked for, and who knows"
    COMMITTED = "it is committed"
    ABORTED = "it is not"


@dataclass(slots=True)
class Transaction:
    """A transaction of a model producer."""

    writer: str
    outcome: Ending = Ending.OPEN


@dataclass(slots=True)
class Reading:
    """How far a group has read a partition: number and leader epoch by offset."""

    read: dict[int, tuple[int, int]] = field(default_factory=dict)
    committed: int | None = None
    """The offset that was acknowledged last."""
    committed_ms: int = 0
    """When that commit was sent."""
    unanswered: dict[int, int] = field(default_factory=dict)
    """Offsets whose commit was sent after that, and when."""
    began: int = 0
    """The highest offset at which it began because it had committed none."""
    excused: bool = False
    """Whether records were lost under it: what it reads again since is no fault of its own."""
    read_again: int = 0
    skipped: set[int] = field(default_factory=set)
    """Numbers that were held for aborted."""


@dataclass(slots=True)
class Ledger:
    """`real_loss` are the partitions that were allowed to lose records, and why."""

    acknowledged: dict[int, Acknowledged] = field(default_factory=dict)
    readings: dict[tuple[str, Place], Reading] = field(default_factory=dict)
    real_loss: dict[Place, str] = field(default_factory=dict)
    deleted: dict[Place, dict[int, int]] = field(default_factory=dict)
    """Numbers that were deleted on purpose, and the offsets they had."""
    deleted_upto: dict[Place, int] = field(default_factory=dict)
    """Up to which offset."""
    once: set[int] = field(default_factory=set)
    """Numbers that idempotent producers wrote."""
    transactions: dict[int, Transaction] = field(default_factory=dict)
    """By number."""
    writers: list[str] = field(default_factory=list)
    """The idempotent producer of each number, "" for another."""
    cleaned: dict[Place, dict[int, set[int]]] = field(default_factory=dict)
    """The offsets at which cleaners removed a number."""
    expired: dict[Place, dict[int, int]] = field(default_factory=dict)
    """By key, the offset of the last tombstone that went when its time was over."""

    def counts(self, number: int) -> bool:
        """Whether a record has to be in the log: its transaction was committed, or it has none."""
        transaction = self.transactions.get(number)
        return transaction is None or transaction.outcome is Ending.COMMITTED

    def reading(self, group: str, place: Place) -> Reading:
        found = self.readings.get((group, place))
        if found is None:
            found = self.readings[group, place] = Reading()
        return found

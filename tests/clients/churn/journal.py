"""What happened, in an order that is sure: each note is made under one lock."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

Offsets = Mapping[int, int]
"""By partition, the offset of the next record."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """A member was told its partitions; it has not yet asked where to begin."""

    member: str
    partitions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Read:
    """The application got a record."""

    member: str
    partition: int
    offset: int
    number: int


@dataclass(frozen=True, slots=True)
class Committing:
    """A member is about to commit."""

    member: str
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Committed:
    """A member was told that its commit succeeded."""

    member: str
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Shared:
    """The coordinator answered SyncGroup."""

    generation: int
    member_id: str
    partitions: frozenset[int]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The coordinator answered OffsetCommit, for these partitions without an error."""

    generation: int
    member_id: str
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Asked:
    """The coordinator answered a member's OffsetFetch; `refused` if by an error for the whole group."""

    member: str
    partitions: frozenset[int]
    refused: bool


Event = Assigned | Read | Committing | Committed | Shared | Accepted | Asked


@dataclass
class Journal:
    """`written` are the numbers of acknowledged records, by partition and offset; `unread` are those that
    nobody has read yet. `errors` counts what clients raised that they may raise; `failures` are all other
    exceptions."""

    events: list[Event] = field(default_factory=list)
    written: dict[tuple[int, int], int] = field(default_factory=dict)
    unread: set[tuple[int, int]] = field(default_factory=set)
    errors: Counter[str] = field(default_factory=Counter)
    failures: list[BaseException] = field(default_factory=list)
    _read: set[tuple[int, int]] = field(default_factory=set)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def note(self, *events: Event) -> None:
        with self._changed:
            self.events += events
            for each in events:
                if isinstance(each, Read):
                    at = (each.partition, each.offset)
                    self._read.add(at)
                    self.unread.discard(at)
            self._changed.notify_all()

    def acknowledged(self, partition: int, offset: int, number: int) -> None:
        with self._changed:
            self.written[partition, offset] = number
            if (partition, offset) not in self._read:
                self.unread.add((partition, offset))
            self._changed.notify_all()

    @property
    def has_reads(self) -> bool:
        return bool(self._read)

    def raised(self, client: str, error: str) -> None:
        with self._changed:
            self.errors[f"{client}: {error}"] += 1

    def failed(self, error: BaseException) -> None:
        with self._changed:
            self.failures.append(error)
            self._changed.notify_all()

    def wait(self, condition: Callable[[], bool], limit_s: float) -> bool:
        """Whether it came true within the limit. It is asked again whenever something is noted; what has
        failed is raised."""

        def over() -> bool:
            return bool(self.failures) or condition()

        with self._changed:
            came = self._changed.wait_for(over, limit_s)
            if self.failures:
                raise ExceptionGroup("members failed", list(self._exceptions()))
        return came

    def _exceptions(self) -> Iterable[Exception]:
        for each in self.failures:
            yield each if isinstance(each, Exception) else RuntimeError(repr(each))

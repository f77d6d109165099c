"""A real consumer of a group that somebody else watches: what it read, what it logged, what it raised."""

import enum
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from mockbroker.rig.waiting import LIMIT_S


class Commit(enum.Enum):
    """What a consumer commits when partitions are taken from it."""

    POSITION = "its position, with the epoch of the last record it read"
    NO_EPOCH = "the offset alone"
    LEADER_EPOCH = "its position, with the current leader's epoch if that is higher"


class Read(NamedTuple):
    """A record as a consumer got it; every record's value is a number."""

    topic: str
    partition: int
    offset: int
    epoch: int
    value: int


class Consumer:
    """What one consumer did so far. Its client fills this in, from threads of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.records: list[Read] = []
        self.log: list[str] = []
        self.raised: str | None = None
        self.assigned: frozenset[str] = frozenset()
        """`topic-partition` of each."""
        self.closed = False
        self._changed = threading.Condition()

    def note(
        self,
        *,
        records: list[Read] | None = None,
        log: str | None = None,
        raised: str | None = None,
        assigned: frozenset[str] | None = None,
        closed: bool = False,
    ) -> None:
        """Something happened: wakes those who wait for it."""
        with self._changed:
            self.records += records or []
            self.log += [log] if log else []
            self.raised = self.raised or raised
            self.assigned = self.assigned if assigned is None else assigned
            self.closed = self.closed or closed
            self._changed.notify_all()

    def wait(self, until: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
        """Whether `until` came true, looked at after each event."""
        with self._changed:
            return self._changed.wait_for(until, limit_s)

    def has_read(self, value: int) -> bool:
        return any(record.value == value for record in self.records)


class Client(Protocol):
    """A library of a version, with any number of consumers."""

    name: str
    commits: tuple[Commit, ...]
    """What its consumers can commit."""

    def open(
        self,
        name: str,
        bootstrap: str,
        topics: Sequence[str],
        group: str,
        commit: Commit,
        config: Mapping[str, str],
    ) -> Consumer:
        """Starts a consumer that polls all the time. `config` is in Java's names."""

    def close(self, consumer: Consumer) -> None:
        """Lets a consumer commit and leave; returns when it has."""

    def stop(self) -> None: ...

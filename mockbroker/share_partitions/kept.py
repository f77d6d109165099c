"""The state of one share partition as the share coordinator keeps it."""

from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple, Protocol

from mockbroker.portions import at_once
from mockbroker.protocol.errors import ErrorCode
from mockbroker.protocol.share_state_log import UNKNOWN, SharePartitionKey, Snapshot, StateBatch, Update

from .combining import adding


class ShareState(NamedTuple):
    """A state, how many updates came after its snapshot, and the highest epochs that were ever seen."""

    now: Snapshot
    updates: int
    leader_epoch: int
    state_epoch: int

    def replaced(self, snapshot: Snapshot) -> "ShareState":
        return ShareState(
            snapshot,
            0,
            max(self.leader_epoch, snapshot.leader_epoch),
            max(self.state_epoch, snapshot.state_epoch),
        )

    def changed(self, update: Update, *, keeps_count: bool) -> "ShareState":
        """`keeps_count` is whether a count that is not known leaves the one that is."""
        return at_once(self.changing(update, keeps_count=keeps_count))

    def changing(self, update: Update, *, keeps_count: bool) -> "Generator[None, None, ShareState]":
        """As `changed`, in parts."""
        now = self.now
        start = now.start_offset if update.start_offset == UNKNOWN else update.start_offset
        count = update.complete_count
        return self._replace(
            now=now._replace(
                start_offset=start,
                leader_epoch=now.leader_epoch if update.leader_epoch == UNKNOWN else update.leader_epoch,
                complete_count=now.complete_count if count == UNKNOWN and keeps_count else count,
                batches=(yield from adding(now.batches, update.batches, start)),
            ),
            updates=self.updates + 1,
            leader_epoch=max(self.leader_epoch, update.leader_epoch),
        )


class Kept(NamedTuple):
    """What the share coordinator answers about a share partition: an error, or its state as it was before;
    None if it has none."""

    error: ErrorCode = ErrorCode.NONE
    message: str | None = None
    state: ShareState | None = None


Done = Callable[[Kept], None]


class Persister(Protocol):
    """Keeps the states of share partitions, wherever their share coordinators are."""

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, done: Done) -> None: ...

    def read(self, key: SharePartitionKey, leader_epoch: int, done: Done) -> None: ...

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        complete_count: int,
        batches: Iterable[StateBatch],
        done: Done,
    ) -> None: ...

    def summarize(self, key: SharePartitionKey, done: Done) -> None: ...

    def delete(self, key: SharePartitionKey, done: Done) -> None: ...


def of_snapshot(snapshot: Snapshot) -> ShareState:
    return ShareState(snapshot, 0, snapshot.leader_epoch, snapshot.state_epoch)

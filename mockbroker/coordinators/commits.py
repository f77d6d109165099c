"""Commits of offsets, which are valid once enough replicas are in sync."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..policies.offsets.commit_below_min_isr import commit_below_min_isr
from ..protocol.errors import ErrorCode
from .group import ClassicGroup
from .home import Home
from .offsets import CommittedOffset, Key

if TYPE_CHECKING:
    from ..replication.partition import Partition

E = ErrorCode
Done = Callable[[ErrorCode], None]


def commit(home: Home, group: ClassicGroup, offsets: Mapping[Key, CommittedOffset], done: Done) -> None:
    """Commits offsets that were checked. COORDINATOR_NOT_AVAILABLE while too few replicas are in sync."""
    partition = home.offsets_partition(group.id)
    if partition is None:
        done(E.NOT_COORDINATOR)
        return
    all_asked = home.environment.configs.broker_int("offsets.commit.required.acks") == -1
    if not offsets or not all_asked or not partition.is_under_min_isr:
        group.offsets.commit(offsets)
        done(E.NONE)
    elif home.policies[commit_below_min_isr] == "refused":
        done(E.COORDINATOR_NOT_AVAILABLE)
    else:
        _Waiting(home, partition, group, offsets, done)


class _Waiting:
    """A commit that is written, and becomes valid once the ISR is large enough. The answer waits no longer
    than `offsets.commit.timeout.ms`."""

    def __init__(
        self,
        home: Home,
        partition: "Partition",
        group: ClassicGroup,
        offsets: Mapping[Key, CommittedOffset],
        done: Done,
    ) -> None:
        self._partition = partition
        self._epoch = self._partition.leader_epoch
        self._group = group
        self._offsets = offsets
        self._done: Done | None = done
        timeout_ms = home.environment.configs.broker_int("offsets.commit.timeout.ms")
        self._timer = home.environment.wait(timeout_ms, self._expire)
        self._partition.deleting.add(self._look)

    def _look(self) -> None:
        partition = self._partition
        moved = partition.leader_epoch != self._epoch
        if not moved and partition.is_under_min_isr:
            return
        partition.deleting.discard(self._look)
        if not moved:
            self._group.offsets.commit(self._offsets)
        self._answer(E.NOT_COORDINATOR if moved else E.NONE)

    def _expire(self) -> None:
        self._answer(E.COORDINATOR_NOT_AVAILABLE)

    def _answer(self, error: ErrorCode) -> None:
        if self._done is not None:
            self._timer.cancel()
            done, self._done = self._done, None
            done(error)

"""The transactional ids of one partition of `__transaction_state` (`TransactionStateManager.scala`)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..protocol.errors import ErrorCode
from ..replication.internal_append import append_own, await_replication
from .home import Home
from .transaction_log import load, record_batch
from .transaction_settings import read_layout, written_layout

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .transaction import Transaction
    from .transaction_settings import TransactionSettings


class Entry:
    """A transactional id: its state, whether the next state is being written, and whether its end was decided
    but nobody sends the markers."""

    __slots__ = ("now", "pending", "unsent")

    def __init__(self, now: "Transaction") -> None:
        self.now = now
        self.pending = False
        self.unsent = False


class Owned:
    """A partition as its leader loaded it; its leader epoch is the coordinator epoch of its markers."""

    def __init__(self, home: Home, settings: "TransactionSettings", partition: "Partition") -> None:
        self._home = home
        self._settings = settings
        self._partition = partition
        self.epoch = partition.leader_epoch
        self.entries = {
            name: Entry(state) for name, state in load(partition.log, read_layout(home.policies)).items()
        }

    @property
    def current(self) -> bool:
        """Whether the partition exists, no other broker has led it since, and the leader is not down, even if
        nobody knows that yet."""
        partition = self._partition
        there = partition.leads and partition.host.online and not partition.deleted
        return there and partition.leader_epoch == self.epoch

    def write(
        self,
        transactional_id: str,
        entry: Entry,
        after: "Transaction | None",
        done: Callable[[ErrorCode], None],
    ) -> None:
        """Appends the next state, None for a tombstone; it is valid once it is replicated.

        COORDINATOR_NOT_AVAILABLE if that is impossible or takes too long, NOT_COORDINATOR if another broker
        leads.
        """
        partition, home = self._partition, self._home
        if not self.current:
            done(ErrorCode.NOT_COORDINATOR)
            return
        if partition.is_under_min_isr:
            done(ErrorCode.COORDINATOR_NOT_AVAILABLE)
            return
        entry.pending = True
        layout = written_layout(home.policies, home.features)
        end = append_own(partition, record_batch(transactional_id, after, layout, home.environment.now_ms))

        def replicated() -> None:
            if not self.current:
                done(ErrorCode.NOT_COORDINATOR)
                return
            if after is None:
                self.entries.pop(transactional_id, None)
            else:
                entry.now = after
            done(ErrorCode.NONE)

        def waited(in_time: bool) -> None:
            entry.pending = False
            if in_time:
                replicated()
            else:
                done(ErrorCode.COORDINATOR_NOT_AVAILABLE)

        if partition.log.high_watermark >= end:
            waited(True)
        else:
            await_replication(partition, end, self._settings.request_timeout_ms, waited)

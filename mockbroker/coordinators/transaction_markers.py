"""Sends the markers of a transaction to its partitions (`TransactionMarkerChannelManager.scala`)."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final

from ..environment import Nobody
from ..metadata.records import NO_LEADER
from ..outcome import PARKED, Steps
from ..policies.transactions.leaderless_marker import leaderless_marker
from ..portions import portions
from ..protocol import record_batch
from ..protocol.batch_writing import Marker, marker_batch
from ..protocol.errors import ErrorCode
from ..replication.internal_append import append_own
from ..replication.partition import Partition
from .home import Home

if TYPE_CHECKING:
    from .transaction import TopicPartition

RETRY_MS: Final = 100
"""How long until markers are sent again that found no leader, or too few in-sync replicas."""
_MARKERS_PER_PART: Final = 4
"""Each is written to all replicas."""


def write_marker(
    home: Home,
    partition: Partition,
    marker: Marker,
    done: Callable[[ErrorCode], None],
    version: int = 0,
) -> None:
    """Appends one marker as the partition's leader does; `done` is called once it is replicated.

    NOT_LEADER_OR_FOLLOWER, UNSUPPORTED_FOR_MESSAGE_FORMAT, NOT_ENOUGH_REPLICAS, INVALID_PRODUCER_EPOCH,
    TRANSACTION_COORDINATOR_FENCED.
    """
    if not partition.leads or not partition.host.online:
        done(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return
    if partition.settings.magic != record_batch.MAGIC:
        done(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)
        return
    if partition.is_under_min_isr:
        done(ErrorCode.NOT_ENOUGH_REPLICAS)
        return
    if error := partition.log.producers.check_marker(marker, version):
        done(error)
        return
    epoch = partition.leader_epoch
    batch = marker_batch(marker, partition.environment.now_ms)
    if partition.settings.log_append_time:
        record_batch.stamp(batch, partition.environment.now_ms, append_time=True)
    end = append_own(partition, batch)

    def replicated() -> None:
        if partition.deleted:
            done(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            return
        if partition.leader_epoch != epoch:
            done(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            return
        if partition.topic.name == "__consumer_offsets":
            home.complete_offsets(partition.broker, partition.index, marker.producer_id, marker.committed)
        done(ErrorCode.NONE)

    if partition.log.high_watermark >= end:
        replicated()
    else:
        partition.when_replicated(end, replicated)


class Markers:
    """The markers of one transaction. `done` is called when all are written, unless `current` says that they
    are out of date, or one is refused for good: then the others are still sent once, but none is sent again.
    `written` is called with partitions whose markers are written. Many are sent in parts. `version` is the
    transaction version of the client that ended the transaction."""

    def __init__(
        self,
        home: Home,
        marker: Marker,
        partitions: "frozenset[TopicPartition]",
        current: Callable[[], bool],
        done: Callable[[], None],
        written: "Callable[[frozenset[TopicPartition]], None]",
        version: int,
    ) -> None:
        self._home = home
        self._version = version
        self._marker = marker
        self._missing = set(partitions)
        self._current = current
        self._refused = False
        self._done = done
        self._tell = written
        self._untold: set[TopicPartition] | None = None
        """Written in the part that is being done."""

    def send(self) -> None:
        """Sends them to every partition; partitions of deleted topics need none."""
        if not self._current():
            return
        if not self._missing:
            self._finish()
        self._home.in_parts(Nobody(self._home.environment), self._steps())

    def _steps(self) -> Steps:
        for few in portions(sorted(self._missing), _MARKERS_PER_PART):
            self._untold = set()
            for key in few:
                self._send(key)
            untold, self._untold = self._untold, None
            self._written_to(untold)
            yield
            if not self._current():
                break
        return PARKED

    def _send_again(self, key: "TopicPartition") -> None:
        if self._current() and not self._refused:
            self._send(key)

    def _send(self, key: "TopicPartition") -> None:
        known = self._home.leader_id(*key)
        if known is None or (known == NO_LEADER and self._home.policies[leaderless_marker] == "skipped"):
            self._settled(key)
            return
        leader = self._home.leader_of(*key)
        if leader is None:
            self._written(key, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        else:
            written = partial(self._written, key)
            write_marker(self._home, leader, self._marker, written, self._version)

    def _written(self, key: "TopicPartition", error: ErrorCode) -> None:
        if error in (ErrorCode.INVALID_PRODUCER_EPOCH, ErrorCode.TRANSACTION_COORDINATOR_FENCED):
            self._refused = True
        elif error and error is not ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT:
            self._home.environment.wait(RETRY_MS, lambda: self._send_again(key))
        else:
            # A topic of a format without transactions has no records of this one.
            self._settled(key)

    def _settled(self, key: "TopicPartition") -> None:
        if self._untold is None:
            self._written_to({key})
        else:
            self._untold.add(key)

    def _written_to(self, keys: "set[TopicPartition]") -> None:
        self._missing -= keys
        if keys:
            self._tell(frozenset(keys))
        if keys and not self._missing:
            self._finish()

    def _finish(self) -> None:
        if self._current() and not self._refused:
            self._done()

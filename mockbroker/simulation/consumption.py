"""What consumers report, compared with what is known."""

from bisect import bisect_right
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

from ..log.log import Log
from . import batches
from .batches import key_of
from .client import LeaderAndEpoch
from .ledger import Place
from .scene import Scene

_MINUTE_MS: Final = 60_000


class Position(NamedTuple):
    """The next offset to read, the epoch of the record before it, and the leader as known at that time."""

    offset: int
    epoch: int
    leader: LeaderAndEpoch


class Reader(Protocol):
    """A consumer, as seen from here."""

    name: str
    group: str
    place: Place
    acknowledged: int | None
    newest: dict[str, int]


class Consumption:
    """What all groups consume. `purge` is told how far a group has committed a partition, if that is to be
    deleted."""

    def __init__(self, scene: Scene, purge: Callable[[Place, int], None] | None = None) -> None:
        self._scene, self._plan, self._ledger, self._purge = scene, scene.plan, scene.ledger, purge

    def committed_offset(self, consumer: Reader) -> int | None:
        """The last offset whose commit was acknowledged to the group."""
        return self._ledger.reading(consumer.group, consumer.place).committed

    def restored(self, consumer: Reader, offset: int, acknowledged: int | None) -> None:
        """A consumer was given its group's committed offset, -1 for none; when it asked, the group's last
        acknowledged commit was `acknowledged`."""
        consumer.newest.clear()
        if acknowledged is None or offset >= acknowledged:
            return
        if offset in self._ledger.reading(consumer.group, consumer.place).unanswered:
            return
        if offset < 0 and self._may_be_expired(consumer):
            self._excuse(consumer)
            consumer.acknowledged = None
            return
        self._violated(
            consumer,
            "group-offset-lost" if offset < 0 else "group-offset-back",
            f"{consumer.name} gets {offset} as committed offset, though {acknowledged} was acknowledged",
        )

    def _may_be_expired(self, consumer: Reader) -> bool:
        since_ms = self._ledger.reading(consumer.group, consumer.place).committed_ms
        return self._scene.cluster.now_ms - since_ms >= self._plan.offsets_retention_minutes * _MINUTE_MS

    def began(self, consumer: Reader, offset: int) -> None:
        """A consumer without a valid position begins at `offset`: a violation if the group has not read all
        records between its committed offset, when the consumer asked for that, and `offset`."""
        reading, committed = self._ledger.reading(consumer.group, consumer.place), consumer.acknowledged
        if reading.committed is None:
            reading.began = max(reading.began, offset)
        if reading.committed is None or committed is None or offset <= committed:
            return
        partition = self._scene.partition(consumer.place)
        start = max(committed, partition.log.start_offset, self._ledger.deleted_upto.get(consumer.place, 0))
        read = {number for number, _ in reading.read.values()}
        unread = [
            number
            for number, offsets in self._scene.numbers_in(partition).items()
            if start <= offsets[-1] < offset and number not in read and self._ledger.counts(number)
        ]
        if unread:
            self._violated(
                consumer,
                "unread-record-skipped",
                f"{consumer.name} begins at {offset}, though {committed} was committed, and "
                f"{len(unread)} of the records since then were never read",
            )

    def committing(self, consumer: Reader, offset: int) -> None:
        """A commit is sent: the offset may be valid although that is never acknowledged."""
        reading = self._ledger.reading(consumer.group, consumer.place)
        reading.unanswered[offset] = self._scene.cluster.now_ms

    def committed(self, consumer: Reader, offset: int, sent_ms: int) -> None:
        """A commit that was sent at `sent_ms` is acknowledged."""
        reading = self._ledger.reading(consumer.group, consumer.place)
        reading.committed = consumer.acknowledged = offset
        reading.committed_ms = sent_ms
        if reading.unanswered:
            later = {each: at_ms for each, at_ms in reading.unanswered.items() if at_ms > sent_ms}
            reading.unanswered = later
        if self._purge is not None:
            self._purge(consumer.place, offset)

    def committed_less(self, consumer: Reader, offset: int, before: int) -> None:
        """A commit was accepted although its group had committed more before it was sent."""
        if not self._ledger.reading(consumer.group, consumer.place).excused:
            self._violated(
                consumer,
                "committed-offset-back",
                f"{consumer.name} commits {offset}, though {before} was committed before",
            )

    def delivered(self, consumer: Reader, position: int, records: batches.Records) -> None:
        """Records from `position` on were given to the application."""
        reading = self._ledger.reading(consumer.group, consumer.place)
        again = 0
        for offset, number in zip(records.offsets, records.numbers, strict=True):
            if offset < position:
                continue
            record = number, records.leader_epoch
            self._in_order(consumer, number)
            if consumer.acknowledged is not None and offset < consumer.acknowledged:
                again += reading.read.get(offset) == record
            reading.read[offset] = record
        if self._scene.recording:
            self._scene.tell(
                consumer.name,
                f"reads offsets {max(position, records.base_offset)} to "
                f"{records.end_offset - 1}, epoch {records.leader_epoch}",
            )
        if again and not reading.excused and not reading.read_again:
            self._violated(
                consumer,
                "read-again-after-commit",
                f"{consumer.name} reads {records.base_offset} and on, which were read and committed",
            )
        reading.read_again += again

    def _in_order(self, consumer: Reader, number: int) -> None:
        """Checks that a consumer which reads on gets an idempotent producer's records in the order of
        sending."""
        writer = self._ledger.writers[number]
        if not writer:
            return
        before = consumer.newest.get(writer, -1)
        consumer.newest[writer] = number
        if number <= before and not self._may_lose(consumer.place):
            self._violated(
                consumer,
                "read-out-of-order",
                f"{consumer.name} reads record {number} of {writer} after {before}",
            )

    def skipped(self, consumer: Reader, records: batches.Records) -> None:
        """The consumer skipped records, because they belong to an aborted transaction."""
        skipped = self._ledger.reading(consumer.group, consumer.place).skipped
        skipped.update(records.numbers)
        if self._scene.recording:
            self._scene.tell(
                consumer.name, f"skips offsets {records.base_offset} to {records.end_offset - 1}: aborted"
            )

    def lost_position(self, consumer: Reader, position: Position, what: str) -> None:
        """A consumer gives up its position: a violation if the log still holds what is before it, and goes on
        after it."""
        consumer.newest.clear()
        log = self._scene.partition(consumer.place).log
        deleted = self._ledger.deleted_upto.get(consumer.place, 0)
        if self._scene.recording:
            self._scene.tell(
                consumer.name, f"{what} (the leader's log: {log.start_offset} to {log.end_offset})"
            )
        start = max(log.start_offset, deleted)
        if start <= position.offset <= log.end_offset and self._holds(consumer, position):
            self._violated(
                consumer,
                "reset-without-loss",
                f"{consumer.name} at offset {position.offset}, epoch {position.epoch}, {what}; the log has "
                f"{log.start_offset} to {log.end_offset}, and nothing of what it read is lost",
            )
        else:
            self._excuse(consumer)

    def went_back(self, consumer: Reader, position: Position, end_offset: int) -> None:
        """A consumer learned that the log was truncated below its position."""
        consumer.newest.clear()
        if self._scene.recording:
            self._scene.tell(consumer.name, f"goes back from {position.offset} to {end_offset}: truncated")
        if self._holds(consumer, position):
            self._violated(
                consumer,
                "reset-without-loss",
                f"{consumer.name} goes back from {position.offset} to {end_offset}, though nothing of what "
                "it read is lost",
            )
        else:
            self._excuse(consumer)

    def _holds(self, consumer: Reader, position: Position) -> bool:
        """Whether the leader's log still has, just before the position, what the group read there."""
        log, offset = self._scene.partition(consumer.place).log, position.offset
        if self._ledger.reading(consumer.group, consumer.place).excused:
            # The committed offset may be from before the loss.
            return False
        if not log.start_offset <= offset <= log.end_offset:
            return False
        read = self._ledger.reading(consumer.group, consumer.place).read.get(offset - 1)
        if read is None:
            # Before the position is a marker, or nothing that was read: it may be lost if records may.
            return not self._may_lose(consumer.place)
        if self._may_lose(consumer.place) and self._lacked(consumer.place, position, read):
            return False
        if offset == log.start_offset or read == record_at(log, offset - 1):
            return True
        return self._plan.compacted and offset - 1 <= self._scene.may_be_gone(consumer.place)[key_of(read[0])]

    def _violated(self, consumer: Reader, invariant: str, text: str) -> None:
        topic, index = consumer.place
        self._scene.violated(invariant, f"{consumer.group} {topic}-{index}", text)

    def _may_lose(self, place: Place) -> bool:
        return self._plan.unclean or place in self._ledger.real_loss

    def _lacked(self, place: Place, position: Position, read: tuple[int, int]) -> bool:
        """Whether the leader that the consumer follows lacks `read` although its leader epoch is later: that
        is a loss, even if a broker that has it leads again. A leader with an earlier epoch, cut off, proves
        nothing."""
        log = self._scene.partition(place).logs.get(position.leader.leader)
        if log is None or position.leader.epoch <= read[1]:
            return False
        return log.end_offset < position.offset or record_at(log, position.offset - 1) not in (None, read)

    def _excuse(self, consumer: Reader) -> None:
        reading = self._ledger.reading(consumer.group, consumer.place)
        reading.excused = True
        reading.committed = None


def record_at(log: Log, offset: int) -> tuple[int, int] | None:
    """Number and leader epoch of the record at `offset`, None if there is none."""
    index = bisect_right(log.bases, offset) - 1
    if index < log.first:
        return None
    found = batches.read(log.batches[index])
    if found is None or offset not in found.offsets:
        return None
    return found.numbers[found.offsets.index(offset)], found.leader_epoch

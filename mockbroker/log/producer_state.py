"""What a replica knows about producers (`ProducerStateManager.java`, `ProducerAppendInfo.java`)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from ..policies.producers.duplicate_window import duplicate_window
from ..policies.producers.marker_only_producer import marker_only_producer
from ..policies.producers.marker_timestamp import marker_timestamp
from ..policies.producers.new_partition_sequence import new_partition_sequence
from ..policies.producers.producer_state_retention import producer_state_retention
from ..policies.producers.stale_duplicate import stale_duplicate
from ..policies.producers.unknown_producer import unknown_producer
from ..policies.transactions.adding_sequence import adding_sequence
from ..policies.transactions.same_epoch_marker import same_epoch_marker
from ..policies.transactions.verified_sequence import verified_sequence
from ..protocol.batch_writing import Marker, marker_of
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import CONTROL, TRANSACTIONAL, Batch, BatchHeader, header_of
from .transactions import LogTransactions

if TYPE_CHECKING:
    from ..policies import Policies

NO_EPOCH: Final = -1
_LAST_EPOCH: Final = (1 << 15) - 1
_SEQUENCES: Final = 1 << 31
_NO_TIMESTAMP: Final = -1


class AppendedBatch(NamedTuple):
    """A producer's batch that was appended."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int
    """Its largest timestamp, which is the log append time in the answer to a duplicate."""


class Verifying(NamedTuple):
    """A producer that waits for verification: its epoch, its lowest sequence, since when, and whether that
    adds the partition to its transaction."""

    epoch: int
    lowest_sequence: int
    since_ms: int
    adds: bool


class ProducerEntry:
    """One producer id: its epoch and its last batches, oldest first.

    `first_offset` is that of its open transaction; `marker_offset`, `marker_timestamp` and
    `coordinator_epoch` come from its last transaction marker. None and -1 mean that there is none.
    """

    __slots__ = ("batches", "coordinator_epoch", "epoch", "first_offset", "marker_offset", "marker_timestamp")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: list[AppendedBatch] = []
        self.first_offset: int | None = None
        self.coordinator_epoch = -1
        self.marker_offset = -1
        self.marker_timestamp = _NO_TIMESTAMP

    @property
    def last_offset(self) -> int:
        return max(self.batches[-1].last_offset if self.batches else -1, self.marker_offset)

    @property
    def last_timestamp(self) -> int:
        """The timestamp of the last batch or marker, in ms; -1 if unknown."""
        newest = self.batches[-1] if self.batches else None
        if newest and (newest.last_offset > self.marker_offset or self.marker_timestamp == _NO_TIMESTAMP):
            return newest.timestamp
        return self.marker_timestamp


class SequenceError(Exception):
    """A batch that may not be appended, with its error."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def last_sequence(first: int, count: int) -> int:
    """The sequence of the last of `count` records; sequences wrap at 2^31."""
    return (first + count - 1) % _SEQUENCES


def _nothing() -> None:
    pass


class ProducerStates:
    """The producers of one replica, by producer id.

    `entered` is called for each new producer, which may `expire` some day.
    """

    __slots__ = ("_entered", "entries", "policies", "transactions", "verifying")

    def __init__(self, policies: Callable[[], "Policies"], entered: Callable[[], None] = _nothing) -> None:
        self.policies = policies
        self._entered = entered
        self.entries: dict[int, ProducerEntry] = {}
        self.transactions = LogTransactions()
        self.verifying: dict[int, Verifying] = {}
        """Producers whose first batch of a transaction waits for verification (KAFKA-14920)."""

    # -- what may be appended

    def check(
        self, producer_id: int, epoch: int, first: int, count: int, log_end: int
    ) -> AppendedBatch | None:
        """None if the batch may be appended at `log_end`; if it is a duplicate, the earlier batch.

        SequenceError: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID or
        DUPLICATE_SEQUENCE_NUMBER.
        """
        entry = self.entries.get(producer_id)
        if entry is None:
            self._check_verifying(producer_id, first)
            if first:
                self._check_first(producer_id, first, log_end)
            return None
        if epoch < entry.epoch:
            raise SequenceError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch {epoch} of producer {producer_id} is below the last seen epoch {entry.epoch}",
            )
        if epoch > entry.epoch:
            self._check_verifying(producer_id, first)
            if first and entry.epoch != NO_EPOCH:
                raise SequenceError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"sequence {first} of producer {producer_id} in its new epoch {epoch} is not 0",
                )
            return None
        last = last_sequence(first, count)
        for batch in entry.batches:
            if batch.first_sequence == first and batch.last_sequence == last:
                return batch
        self._check_verifying(producer_id, first)
        if epoch == NO_EPOCH:
            return None
        if entry.batches:
            newest = entry.batches[-1].last_sequence
            if first != (newest + 1) % _SEQUENCES:
                behind = (newest - last) % _SEQUENCES < _SEQUENCES // 2
                raise SequenceError(
                    self.policies()[stale_duplicate] if behind else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"sequence {first} of producer {producer_id} after {newest}",
                )
        elif first:
            raise SequenceError(
                self.policies()[marker_only_producer],
                f"sequence {first} of producer {producer_id}, whose epoch is known from a marker alone",
            )
        return None

    def _check_first(self, producer_id: int, first: int, log_end: int) -> None:
        """Checks the first batch of a producer, whose sequence is not 0.

        SequenceError OUT_OF_ORDER_SEQUENCE_NUMBER, UNKNOWN_PRODUCER_ID.
        """
        policies = self.policies()
        error = policies[unknown_producer]
        if not error and not log_end and policies[new_partition_sequence] == "zero":
            error = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        if error:
            raise SequenceError(error, f"producer {producer_id} is not known, and sequence {first} is not 0")

    def check_outside(self, producer_id: int) -> None:
        """Checks a batch outside of transactions. SequenceError INVALID_TXN_STATE while one is open."""
        entry = self.entries.get(producer_id)
        if entry is not None and entry.first_offset is not None:
            raise SequenceError(
                ErrorCode.INVALID_TXN_STATE, f"producer {producer_id} has a transaction open here"
            )

    def wrote(self, producer_id: int) -> bool:
        """Whether a batch of the producer is known, not only a marker."""
        entry = self.entries.get(producer_id)
        return entry is not None and bool(entry.batches)

    def in_transaction(self, producer_id: int, epoch: int | None) -> bool:
        """Whether the producer has a transaction open here, in this epoch, or in any if it is None."""
        entry = self.entries.get(producer_id)
        return entry is not None and entry.first_offset is not None and epoch in (None, entry.epoch)

    def verify(self, producer_id: int, epoch: int, sequence: int, now_ms: int, adds: bool) -> None:
        """The first batch of a transaction is going to be verified (`VerificationStateEntry.java`)."""
        known = self.verifying.get(producer_id)
        if known is None:
            known = Verifying(epoch, sequence, now_ms, adds)
            self._entered()
        elif epoch > known.epoch:
            known = known._replace(epoch=epoch, lowest_sequence=sequence)
        elif epoch == known.epoch:
            known = known._replace(lowest_sequence=min(known.lowest_sequence, sequence))
        self.verifying[producer_id] = known

    def _check_verifying(self, producer_id: int, first: int) -> None:
        """Checks that the producer writes nothing before the batch that is to be verified.

        SequenceError OUT_OF_ORDER_SEQUENCE_NUMBER.
        """
        if not self.verifying or (waiting := self.verifying.get(producer_id)) is None:
            return
        policies = self.policies()
        entry = self.entries.get(producer_id)
        if (
            policies[adding_sequence] == "zero"
            and waiting.adds
            and first
            and (entry is None or not entry.batches)
        ):
            raise SequenceError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, f"sequence {first} of {producer_id} is not 0"
            )
        if policies[verified_sequence] == "lowest" and first > waiting.lowest_sequence:
            raise SequenceError(
                ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                f"sequence {first} of {producer_id} before {waiting.lowest_sequence}",
            )

    def check_marker(self, marker: Marker, version: int = 0) -> ErrorCode:
        """Why a marker may not be appended: INVALID_PRODUCER_EPOCH, TRANSACTION_COORDINATOR_FENCED.

        `version` is the transaction version: from 2 on `same-epoch-marker` counts.
        """
        entry = self.entries.get(marker.producer_id) or ProducerEntry(NO_EPOCH)
        again = version >= 2 and marker.producer_epoch == entry.epoch
        if marker.producer_epoch < entry.epoch or (again and self._refuses_again(entry)):
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if marker.coordinator_epoch < entry.coordinator_epoch:
            return ErrorCode.TRANSACTION_COORDINATOR_FENCED
        return ErrorCode.NONE

    def _refuses_again(self, entry: ProducerEntry) -> bool:
        """Whether a marker is refused because it has the epoch of `entry`."""
        refused = self.policies()[same_epoch_marker]
        if entry.first_offset is None:
            return refused.ended
        return refused.open_at_limit if entry.epoch == _LAST_EPOCH else refused.open

    # -- what was appended

    def appended(self, producer_id: int, epoch: int, batch: AppendedBatch, transactional: int) -> None:
        """Remembers a batch that was appended."""
        entry = self.entries.get(producer_id)
        if entry is None or entry.epoch != epoch:
            entry = self._enter(producer_id, epoch)
        entry.batches.append(batch)
        if len(entry.batches) > self.policies()[duplicate_window]:
            del entry.batches[0]
        if transactional:
            if self.verifying:
                self.verifying.pop(producer_id, None)
            if entry.first_offset is None:
                entry.first_offset = batch.base_offset
                self.transactions.begin(producer_id, batch.base_offset)

    def appended_batch(self, batch: Batch, header: BatchHeader) -> None:
        """Remembers a batch, or a marker, from its bytes, as a follower does."""
        last_offset = header.base_offset + header.last_offset_delta
        if header.attributes & CONTROL:
            marker = marker_of(batch, header)
            if marker is not None:
                self._ended(marker, last_offset, header.max_timestamp)
            return
        first = header.base_sequence
        # Compaction removes records, but leaves the last offset.
        last = last_sequence(first, header.last_offset_delta + 1) if first >= 0 else first
        done = AppendedBatch(first, last, header.base_offset, last_offset, header.max_timestamp)
        self.appended(header.producer_id, header.producer_epoch, done, header.attributes & TRANSACTIONAL)

    def _enter(self, producer_id: int, epoch: int) -> ProducerEntry:
        entry = self.entries.get(producer_id)
        if entry is None:
            entry = self.entries[producer_id] = ProducerEntry(epoch)
            self._entered()
        elif entry.epoch != epoch:
            entry.epoch = epoch
            entry.batches = []
        return entry

    def _ended(self, marker: Marker, offset: int, timestamp: int) -> None:
        entry = self._enter(marker.producer_id, marker.producer_epoch)
        if entry.first_offset is not None:
            self.transactions.end(marker.producer_id, entry.first_offset, offset, marker.committed)
            entry.first_offset = None
        entry.coordinator_epoch = marker.coordinator_epoch
        entry.marker_offset = offset
        if self.policies()[marker_timestamp] == "kept":
            entry.marker_timestamp = timestamp
        self.verifying.pop(marker.producer_id, None)

    # -- what is forgotten

    def rebuild(self, batches: Iterable[Batch]) -> None:
        """Forgets what is not in `batches`."""
        self.entries.clear()
        self.verifying.clear()
        self.transactions = LogTransactions()
        for batch in batches:
            header = header_of(batch)
            if header.producer_id >= 0:
                self.appended_batch(batch, header)

    def recover(self, batches: Iterable[Batch]) -> None:
        """Forgets what is not in `batches`. Producers that have expired, or were forgotten with their
        records, do not come back (`ProducerStateManager.loadFromSnapshot`)."""
        known = set(self.entries)
        self.rebuild(batches)
        for producer_id in self.entries.keys() - known:
            self._forget(producer_id)

    def load(self) -> None:
        """Forgets what is not in a snapshot (`ProducerStateManager.writeSnapshot`): that has each producer's
        last batch, with the timestamp of that or of a later marker."""
        self.verifying.clear()
        for entry in self.entries.values():
            if entry.batches:
                entry.batches = [entry.batches[-1]._replace(timestamp=entry.last_timestamp)]

    def truncated(self, end_offset: int, batches: Iterable[Batch]) -> None:
        """Forgets what was truncated: producers that wrote there are known from the remaining `batches`, the
        others as if a snapshot had been taken at `end_offset`."""
        self.transactions.truncate(end_offset)
        changed = {pid for pid, entry in self.entries.items() if entry.last_offset >= end_offset}
        if not changed:
            return
        again = ProducerStates(self.policies)
        for batch in batches:
            header = header_of(batch)
            if header.producer_id in changed:
                again.appended_batch(batch, header)
        still_open = {producer_id: first for first, producer_id in self.transactions.open.items()}
        for producer_id in changed:
            entry, first_offset = again.entries.get(producer_id), still_open.get(producer_id)
            if entry is None and first_offset is None:
                del self.entries[producer_id]
                continue
            if entry is None:
                entry = ProducerEntry(self.entries[producer_id].epoch)
            self.entries[producer_id] = entry
            if first_offset is not None:
                # It may have begun with records that have been deleted.
                entry.first_offset = first_offset
            elif entry.first_offset is not None:
                self.transactions.reopen(producer_id, entry.first_offset)

    def log_start_advanced(self, offset: int) -> None:
        """Forgets producers without a record at or above `offset`, if the release does so."""
        if not self.entries or not self.policies()[producer_state_retention].with_records:
            return
        for producer_id, entry in list(self.entries.items()):
            if not entry.batches or entry.batches[-1].last_offset < offset:
                self._forget(producer_id)

    def expire(self, now_ms: int, expiration_ms: int) -> bool:
        """Forgets producers that have no open transaction and wrote nothing for `expiration_ms`, and those
        that have waited that long for verification; returns whether any are left."""
        entries = self.entries
        self.forget(each for each in self.idle() if now_ms - entries[each].last_timestamp >= expiration_ms)
        for producer_id, waiting in list(self.verifying.items()):
            if now_ms - waiting.since_ms >= expiration_ms:
                del self.verifying[producer_id]
        return bool(self.entries or self.verifying)

    def idle(self) -> list[int]:
        """The producers that have no open transaction."""
        return [each for each, entry in self.entries.items() if entry.first_offset is None]

    def forget(self, producer_ids: Iterable[int]) -> None:
        for each in producer_ids:
            self._forget(each)

    def _forget(self, producer_id: int) -> None:
        entry = self.entries.pop(producer_id)
        if entry.first_offset is not None:
            self.transactions.forget(entry.first_offset)

"""What a replica knows of idempotent producers (`ProducerStateManager.java`, `ProducerAppendInfo.java`)."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from ..protocol.errors import ErrorCode
from ..protocol.record_batch import Batch, BatchHeader, header_of

if TYPE_CHECKING:
    from ..policies import Policies

NO_EPOCH: Final = -1
_SEQUENCES: Final = 1 << 31


class AppendedBatch(NamedTuple):
    """A batch of a producer as it was appended."""

    first_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int
    """Its largest: what the answer to a duplicate gives as log append time."""


class ProducerEntry:
    """One producer id: its epoch and its last batches, oldest first."""

    __slots__ = ("batches", "epoch", "last_seen_ms")

    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.batches: list[AppendedBatch] = []
        self.last_seen_ms = 0


class SequenceError(Exception):
    """A batch that may not be appended."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(message)
        self.code = code


def last_sequence(first: int, count: int) -> int:
    """Sequence of the last of `count` records; sequences wrap at 2^31."""
    return (first + count - 1) % _SEQUENCES


class ProducerStates:
    """The producers of one replica of one partition, by producer id."""

    __slots__ = ("_policies", "entries")

    def __init__(self, policies: "Policies") -> None:
        self._policies = policies
        self.entries: dict[int, ProducerEntry] = {}

    def check(self, producer_id: int, epoch: int, first: int, count: int) -> AppendedBatch | None:
        """None when the batch may be appended, the earlier batch when it is a duplicate.

        SequenceError: INVALID_PRODUCER_EPOCH, OUT_OF_ORDER_SEQUENCE_NUMBER or UNKNOWN_PRODUCER_ID.
        """
        entry = self.entries.get(producer_id)
        if entry is None:
            unknown = self._policies.unknown_producer
            if first and unknown:
                raise SequenceError(
                    unknown, f"producer {producer_id} is not known, and sequence {first} is not 0"
                )
            return None
        if epoch < entry.epoch:
            raise SequenceError(
                ErrorCode.INVALID_PRODUCER_EPOCH,
                f"epoch {epoch} of producer {producer_id} is below the last seen epoch {entry.epoch}",
            )
        if epoch > entry.epoch:
            if first:
                raise SequenceError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"sequence {first} of producer {producer_id} in its new epoch {epoch} is not 0",
                )
            return None
        last = last_sequence(first, count)
        for batch in entry.batches:
            if batch.first_sequence == first and batch.last_sequence == last:
                return batch
        if entry.batches:
            newest = entry.batches[-1].last_sequence
            if first != (newest + 1) % _SEQUENCES:
                raise SequenceError(
                    ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
                    f"sequence {first} of producer {producer_id} after {newest}",
                )
        return None

    def appended(self, producer_id: int, epoch: int, batch: AppendedBatch, now_ms: int) -> None:
        """Remembers a batch that was appended."""
        entry = self.entries.get(producer_id)
        if entry is None or entry.epoch != epoch:
            entry = self.entries[producer_id] = ProducerEntry(epoch)
        entry.batches.append(batch)
        if len(entry.batches) > self._policies.duplicate_window:
            del entry.batches[0]
        entry.last_seen_ms = now_ms

    def appended_batch(self, header: BatchHeader, now_ms: int) -> None:
        """Remembers a batch by its header, as a follower does."""
        first, count = header.base_sequence, header.record_count
        last_offset = header.base_offset + header.last_offset_delta
        done = AppendedBatch(
            first, last_sequence(first, count), header.base_offset, last_offset, header.max_timestamp
        )
        self.appended(header.producer_id, header.producer_epoch, done, now_ms)

    def rebuild(self, batches: Iterable[Batch]) -> None:
        """Forgets what is not in `batches`, all that a log holds."""
        self.entries.clear()
        for batch in batches:
            header = header_of(batch)
            if header.producer_id >= 0:
                self.appended_batch(header, header.max_timestamp)

    def truncated(self, end_offset: int) -> None:
        """Forgets batches that were truncated, and producers that have none left."""
        for producer_id, entry in list(self.entries.items()):
            entry.batches = [batch for batch in entry.batches if batch.last_offset < end_offset]
            if not entry.batches:
                del self.entries[producer_id]

    def log_start_advanced(self, offset: int) -> None:
        """Forgets producers without a record at or above `offset`, where the release does so."""
        if not self._policies.forget_producer_with_records:
            return
        for producer_id, entry in list(self.entries.items()):
            if not entry.batches or entry.batches[-1].last_offset < offset:
                del self.entries[producer_id]

    def copy(self) -> "ProducerStates":
        """A snapshot, as a new replica gets it."""
        other = ProducerStates(self._policies)
        for producer_id, entry in self.entries.items():
            twin = other.entries[producer_id] = ProducerEntry(entry.epoch)
            twin.batches = list(entry.batches)
            twin.last_seen_ms = entry.last_seen_ms
        return other

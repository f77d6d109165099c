"""A partition of `__consumer_offsets`, as the broker that leads it keeps its groups there."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..policies.offsets.commit_below_min_isr import commit_below_min_isr
from ..policies.offsets.deposed_coordinator import deposed_coordinator
from ..protocol.batch_writing import key_values
from ..protocol.errors import ErrorCode
from ..protocol.record_batch import TRANSACTIONAL
from ..replication.internal_append import append_own, await_replication
from .group_records import Layout, Pairs
from .home import Home
from .loading import Loading
from .transaction_rules import ProducerIdAndEpoch

if TYPE_CHECKING:
    from ..replication.partition import Partition

E = ErrorCode
Answered = Callable[[ErrorCode], None]
_ALL: int = -1


class GroupShard:
    """`loading` is None once it was loaded; `failed` is whether it could not be loaded."""

    def __init__(self, home: Home, partition: "Partition", wrote: Callable[[int], None]) -> None:
        self._home = home
        self._wrote = wrote
        self.partition = partition
        self.layout = Layout.of(home.environment.release, home.policies)
        self._written = 0
        """The offset after the last record that was written here."""
        self.loading: Loading | None = None
        self.failed = False

    @property
    def serves(self) -> bool:
        """Whether it was loaded."""
        return self.loading is None and not self.failed

    @property
    def awaits(self) -> bool:
        return awaits_replication(self._home)

    @property
    def current(self) -> bool:
        """Whether the broker is up and still leads the partition, as far as it knows."""
        partition = self.partition
        return partition.leads and partition.host.online and not partition.deleted

    @property
    def next_offset(self) -> int:
        """Where the next record will be in the log."""
        return self.partition.log.end_offset

    @property
    def most_bytes(self) -> int:
        """The size of the largest batch."""
        return self.partition.settings.max_message_bytes

    def write_at_once(self, pairs: Pairs, producer: ProducerIdAndEpoch | None = None) -> int:
        """Appends a batch, as part of a transaction if there is a producer; returns the offset after it."""
        return self._append(self._batch(pairs, producer))

    def _append(self, batch: bytearray) -> int:
        self._wrote(self.partition.index)
        self._written = append_own(self.partition, batch)
        return self._written

    def _batch(self, pairs: Pairs, producer: ProducerIdAndEpoch | None) -> bytearray:
        now_ms = self._home.environment.now_ms
        sequence = self.layout.base_sequence(pairs)
        if producer is None:
            return key_values(pairs, now_ms, base_sequence=sequence)
        return key_values(
            pairs,
            now_ms,
            attributes=TRANSACTIONAL,
            producer_id=producer.id,
            producer_epoch=producer.epoch,
            base_sequence=sequence,
        )

    def settle(self, answered: Answered) -> None:
        """Calls `answered` once all that was written before is replicated, if the release waits for that, or
        with an error of `write`."""
        if not self.awaits or self.partition.log.high_watermark >= self._written:
            answered(E.NONE)
        else:
            self._wait(self._written, lambda: None, answered, awaits=True)

    def write(
        self,
        pairs: Pairs,
        valid: Callable[[], None],
        answered: Answered,
        producer: ProducerIdAndEpoch | None = None,
    ) -> bool:
        """Appends records, and calls `answered` with NONE once they are replicated, as far as the release
        waits for that; just before, they are `valid`. Returns whether both are done.

        Otherwise `answered` gets NOT_LEADER_OR_FOLLOWER, NOT_ENOUGH_REPLICAS, MESSAGE_TOO_LARGE for more than
        `most_bytes`, or REQUEST_TIMED_OUT after `offsets.commit.timeout.ms`; where a release always
        `awaits` replication, the records may still become valid after that.
        """
        partition, awaits = self.partition, self.awaits
        if not self.current:
            answered(E.NOT_LEADER_OR_FOLLOWER)
            return True
        acks = _ALL if awaits else self._number("offsets.commit.required.acks")
        if not awaits and acks == _ALL and partition.is_under_min_isr:
            answered(E.NOT_ENOUGH_REPLICAS)
            return True
        batch = self._batch(pairs, producer)
        if len(batch) > self.most_bytes:
            answered(E.MESSAGE_TOO_LARGE)
            return True
        end = self._append(batch)
        if acks != _ALL or partition.log.high_watermark >= end:
            valid()
            answered(E.NONE)
            return True
        self._wait(end, valid, answered, awaits=awaits)
        return False

    def _wait(self, end: int, valid: Callable[[], None], answered: Answered, *, awaits: bool) -> None:
        partition, epoch = self.partition, self.partition.leader_epoch

        def replicated() -> ErrorCode:
            if partition.deleted or partition.leader_epoch != epoch or not partition.leads:
                return E.NONE if self._takes_others_records(end) else E.NOT_LEADER_OR_FOLLOWER
            if not awaits and partition.is_under_min_isr:
                return E.NOT_ENOUGH_REPLICAS_AFTER_APPEND
            valid()
            return E.NONE

        def late() -> None:
            replicated()

        def done(in_time: bool) -> None:
            if in_time:
                answered(replicated())
                return
            if awaits:
                partition.when_replicated(end, late)
            answered(E.REQUEST_TIMED_OUT)

        await_replication(partition, end, self._number("offsets.commit.timeout.ms"), done)

    def _takes_others_records(self, end: int) -> bool:
        """Whether a coordinator that was deposed takes what it wrote, up to `end`, for replicated, because
        its log has as many records of the new leader (KAFKA-20634). It does not if there are more than were
        written here (`SnapshottableCoordinator.updateLastCommittedOffset`)."""
        partition = self.partition
        if partition.deleted or partition.leads or not end <= partition.log.high_watermark <= self._written:
            return False
        return self._home.policies[deposed_coordinator] == "acknowledges"

    def _number(self, config: str) -> int:
        return self._home.environment.configs.broker_int(config)


def awaits_replication(home: Home) -> bool:
    """Whether everything that is written has to be replicated before it is answered, as since 4.0."""
    return home.policies[commit_below_min_isr] == "awaited"


def commit_error(error: ErrorCode, *, awaits: bool) -> ErrorCode:
    """What OffsetCommit answers for an error of the append (`maybeConvertOffsetCommitError`; since 4.0
    `CoordinatorOperationExceptionHelper.java`)."""
    match error:
        case E.NOT_ENOUGH_REPLICAS | E.NOT_ENOUGH_REPLICAS_AFTER_APPEND:
            return E.COORDINATOR_NOT_AVAILABLE
        case E.NOT_LEADER_OR_FOLLOWER:
            return E.NOT_COORDINATOR
        case E.REQUEST_TIMED_OUT if awaits:
            return E.COORDINATOR_NOT_AVAILABLE
        case E.MESSAGE_TOO_LARGE:
            return E.UNKNOWN_SERVER_ERROR if awaits else E.INVALID_COMMIT_OFFSET_SIZE
    return error


def group_error(error: ErrorCode, *, awaits: bool) -> ErrorCode:
    """What members of a group are answered for an error of the append (`GroupMetadataManager.storeGroup`)."""
    match error:
        case E.NOT_ENOUGH_REPLICAS | E.NOT_ENOUGH_REPLICAS_AFTER_APPEND:
            return E.COORDINATOR_NOT_AVAILABLE
        case E.NOT_LEADER_OR_FOLLOWER:
            return E.NOT_COORDINATOR
        case E.REQUEST_TIMED_OUT:
            return E.COORDINATOR_NOT_AVAILABLE if awaits else E.REBALANCE_IN_PROGRESS
        case E.MESSAGE_TOO_LARGE:
            return E.UNKNOWN_SERVER_ERROR
    return error

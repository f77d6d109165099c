"""The coordinator's state of a transactional id, and how it changes (`TransactionMetadata.java`)."""

from dataclasses import dataclass, replace
from typing import Final

from .transaction_states import COMPLETE, TRANSITIONS, TransactionEvent, TransactionState

NONE: Final = -1
MAX_EPOCH: Final = 0x7FFF
EPOCH_BUMP_VERSION: Final = 2
"""The transaction version since which EndTxn bumps the epoch (KIP-890)."""

TopicPartition = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Transaction:
    """One state of a transactional id; a change makes another one. Times in ms, -1 if there is none;
    `start_ms` is that of the last transaction.

    `last_epoch` is the epoch before the current one if the client may still use it to ask again (KIP-360);
    `next_producer_id` is the producer id after this transaction if the epochs are used up; `client_version`
    is the transaction version of the client that changed it last.
    """

    producer_id: int
    timeout_ms: int
    last_update_ms: int
    epoch: int = NONE
    last_epoch: int = NONE
    previous_producer_id: int = NONE
    next_producer_id: int = NONE
    state: TransactionState = TransactionState.EMPTY
    partitions: frozenset[TopicPartition] = frozenset()
    start_ms: int = NONE
    client_version: int = 0

    @property
    def exhausted(self) -> bool:
        """Whether the epochs of this producer id are used up: one is left, to fence the last client."""
        return self.epoch >= MAX_EPOCH - 1

    def after(self, event: TransactionEvent) -> TransactionState:
        """The next state. KeyError if the table has no such transition."""
        return TRANSITIONS[self.state][event]

    def initialized(
        self, producer_id: int, epoch: int, last_epoch: int, timeout_ms: int, now_ms: int
    ) -> "Transaction":
        return replace(
            self,
            producer_id=producer_id,
            epoch=epoch,
            last_epoch=last_epoch,
            previous_producer_id=self.producer_id,
            next_producer_id=NONE,
            timeout_ms=timeout_ms,
            last_update_ms=now_ms,
            state=self.after(TransactionEvent.INITIALIZED),
            partitions=frozenset(),
        )

    def with_partitions(
        self, partitions: frozenset[TopicPartition], version: int, now_ms: int
    ) -> "Transaction":
        ongoing = self.state is TransactionState.ONGOING
        return replace(
            self,
            state=self.after(TransactionEvent.ADDED),
            partitions=self.partitions | partitions,
            start_ms=self.start_ms if ongoing else now_ms,
            last_update_ms=now_ms,
            client_version=version,
        )

    def without(self, partitions: frozenset[TopicPartition]) -> "Transaction":
        """The marker was written to these partitions."""
        return replace(self, partitions=self.partitions - partitions)

    def fenced(self, epoch: int, last_epoch: int) -> "Transaction":
        """The state with an epoch that no client has."""
        return replace(self, epoch=epoch, last_epoch=last_epoch)

    def prepared(
        self, event: TransactionEvent, version: int, now_ms: int, next_producer_id: int = NONE
    ) -> "Transaction":
        """The end of the transaction is decided; from transaction version 2 on, in the next epoch."""
        bumps = version >= EPOCH_BUMP_VERSION
        return replace(
            self,
            state=self.after(event),
            epoch=min(self.epoch + 1, MAX_EPOCH) if bumps else self.epoch,
            last_epoch=self.epoch if bumps else self.last_epoch,
            next_producer_id=next_producer_id,
            start_ms=self.start_ms if self.state is TransactionState.ONGOING else now_ms,
            last_update_ms=now_ms,
            client_version=version,
        )

    def completed(self, now_ms: int) -> "Transaction":
        """All markers are written; the next producer id, if there is one, replaces this one."""
        done = replace(
            self,
            state=self.after(TransactionEvent.COMPLETED),
            partitions=frozenset(),
            last_update_ms=now_ms,
        )
        if self.client_version < EPOCH_BUMP_VERSION:
            return done
        if self.next_producer_id == NONE:
            return replace(done, previous_producer_id=self.producer_id)
        return replace(
            done,
            producer_id=self.next_producer_id,
            epoch=0,
            previous_producer_id=self.producer_id,
            next_producer_id=NONE,
        )

    @property
    def at_rest(self) -> bool:
        """Whether no transaction is open or being ended."""
        return self.state is TransactionState.EMPTY or self.state in COMPLETE

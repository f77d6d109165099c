"""Idempotent producers, and how each generation reacts to a broker that does not know its producer id.

Modelled on `TransactionManager.canRetry` and `handleFailedBatch` of Kafka's Java clients 2.3.1, 2.8.2 and
4.3.1, and on `RecordAccumulator.shouldStopDrainBatchesForPartition`: several batches may be in flight, but
batches are sent again one by one, in the order of their sequences.
"""

import enum
from collections.abc import Iterable
from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..protocol.messages.produce import PartitionProduceResponse
from .client import NO_BROKER
from .producer import NO_ID, NO_SEQUENCE, Batch, ModelProducer
from .producer_setting import Generation
from .production import ABOUT_SEQUENCES

_NO_OFFSET: Final = -1
_MAX_EPOCH: Final = 32_767


class Reaction(enum.Enum):
    """How a producer reacts to an error."""

    RETRY = "sends the batch again"
    RESET = "begins again at sequence 0, in the same epoch"
    BUMP = "begins again at sequence 0, in the next epoch"
    TELL = "tells its application"


def reaction(
    generation: Generation,
    error: ErrorCode,
    last_acknowledged: int,
    log_start_offset: int,
    transactional: bool = False,
    next_in_line: bool = True,
) -> Reaction:
    """How a producer reacts to an error for a batch; offsets are -1 if unknown.

    `next_in_line` is whether the batch comes directly after the last acknowledged one.
    """
    if error not in ABOUT_SEQUENCES or generation is Generation.V0_11:
        return Reaction.TELL
    if error is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER and not next_in_line:
        return Reaction.RETRY
    if error is ErrorCode.UNKNOWN_PRODUCER_ID:
        if log_start_offset == _NO_OFFSET:
            return Reaction.RETRY
        # Retention has deleted what was acknowledged.
        deleted = last_acknowledged < log_start_offset
        if deleted and (transactional or generation is Generation.V1_0):
            return Reaction.RESET
    return Reaction.TELL if transactional or generation is Generation.V1_0 else Reaction.BUMP


class IdempotentProducer(ModelProducer):
    """Has a producer id, and numbers its records with sequences."""

    idempotent = True
    _in_flight = 0
    """Batches without an answer, including those that it has given up."""
    _sequence = 0
    """The sequence of the next new batch."""
    _last_sequence = NO_SEQUENCE
    """The last acknowledged sequence."""
    _last_acknowledged = _NO_OFFSET
    """The last acknowledged offset."""

    def _take_up(self) -> None:
        if self.producer_id == NO_ID:
            self._ask_for_id()
        else:
            self._send()

    # -- sending

    def _send(self) -> None:
        """Sends all that may be sent now; `_busy` ends, unless metadata is needed first."""
        leader = self.leader_of(self.topic, self.partition).leader
        if leader == NO_BROKER:
            self.refresh(self.topic, lambda: self.later(self._take_up))
            return
        self._busy = False
        for batch in list(self._batches):
            if batch.in_flight:
                continue
            again = batch.sequence != NO_SEQUENCE
            if batch.waits or not batch.count or self._in_flight >= self.setting.in_flight:
                return
            if again and batch is not self._batches[0]:
                return
            self._write(batch, leader)

    def _write(self, batch: Batch, broker: int) -> None:
        batch.in_flight, batch.renumbered = True, False
        self._in_flight += 1
        super()._write(batch, broker)

    def _number(self, batch: Batch) -> None:
        if batch.sequence == NO_SEQUENCE:
            batch.sequence = self._sequence
            self._sequence += batch.count

    def _lost(self, batch: Batch) -> None:
        if self._landed(batch):
            self._retry(batch)

    def _answered(self, batch: Batch, found: PartitionProduceResponse) -> None:
        if found.error_code in (0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER) or self._landed(batch):
            super()._answered(batch, found)

    def _landed(self, batch: Batch) -> bool:
        """A batch is no longer in flight, and was not written; returns whether it still matters."""
        batch.in_flight = False
        self._in_flight -= 1
        if self.failed or batch.given_up:
            self._go_on()
            return False
        return True

    def _retry(self, batch: Batch, refresh: bool = True) -> None:
        batch.waits = True

        def ready() -> None:
            batch.waits = False
            self._go_on()

        if refresh:
            self.refresh(self.topic, lambda: self.later(ready))
        else:
            self.later(ready)

    def _acknowledged(self, batch: Batch, offset: int) -> None:
        wanted = self._landed(batch)
        self.production.acknowledged(self, batch.first, batch.count, offset)
        if wanted:
            self._last_sequence = max(self._last_sequence, batch.sequence + batch.count - 1)
            if offset >= 0:
                self._last_acknowledged = max(self._last_acknowledged, offset + batch.count - 1)
            self._batches.remove(batch)
            self._go_on()

    # -- ids

    def _ask_for_id(self) -> None:
        brokers = self.scene.bootstrap
        broker = brokers[self.random.randrange(0, len(brokers))]

        def answered(answer: InitProducerIdResponse | None) -> None:
            if answer is None or answer.error_code:
                self.later(self._ask_for_id)
                return
            self._last_acknowledged = _NO_OFFSET
            self._become(answer.producer_id, answer.producer_epoch)
            self._take_up()

        self.ask(broker, ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest(None, 60_000), answered, "ids")

    def _become(self, producer_id: int, epoch: int) -> None:
        self.producer_id, self.epoch = producer_id, epoch
        self._begin_again()
        if self.scene.recording:
            self.tell(f"is producer {producer_id}, epoch {epoch}")

    def _begin_again(self) -> None:
        """Starts again at sequence 0, with all batches that were sent."""
        self._sequence, self._last_sequence = 0, NO_SEQUENCE
        for batch in self._batches:
            if batch.sequence != NO_SEQUENCE:
                batch.renumbered, batch.sequence = batch.in_flight, self._sequence
                self._sequence += batch.count

    # -- errors

    def _refused(self, batch: Batch, error: ErrorCode, log_start_offset: int) -> None:
        match self._reaction(batch, error, log_start_offset):
            case Reaction.TELL:
                self._tell(batch, error)
                return
            case Reaction.RESET:
                self._begin_again()
            case Reaction.BUMP:
                self._bump()
        self._retry(batch, refresh=False)

    def _reaction(self, batch: Batch, error: ErrorCode, log_start_offset: int) -> Reaction:
        if batch.renumbered and error in ABOUT_SEQUENCES:
            return Reaction.RETRY
        return reaction(
            self.setting.generation,
            error,
            self._last_acknowledged,
            log_start_offset,
            transactional=self.transactional_id is not None,
            next_in_line=batch.sequence == self._last_sequence + 1,
        )

    def _tell(self, batch: Batch, error: ErrorCode) -> None:
        """Tells the application that a batch failed. Since nobody knows whether it was written, the next
        batch has to be accepted as it is. With a new producer id, other batches that were sent and not
        written fail too."""
        if error is ErrorCode.INVALID_PRODUCER_EPOCH and self.setting.generation in _FENCED_FOR_GOOD:
            self._fail(error)
            return
        self._batches.remove(batch)
        if self.setting.generation in _FENCED_FOR_GOOD:
            self._give_up(each for each in list(self._batches) if each.sequence != NO_SEQUENCE)
            self.producer_id = NO_ID
        else:
            self._bump()
        self.production.reported(self, error)
        self._go_on()

    def _give_up(self, dropped: Iterable[Batch]) -> None:
        """These batches fail, and the next ones take their sequences."""
        for batch in dropped:
            batch.given_up = True
            self._batches.remove(batch)
            if batch.sequence != NO_SEQUENCE:
                self._sequence = min(self._sequence, batch.sequence)

    def _bump(self) -> None:
        """An idempotent producer bumps its epoch by itself, because nobody else has its producer id
        (KIP-360)."""
        if self.epoch >= _MAX_EPOCH:
            self.producer_id = NO_ID
        else:
            self._become(self.producer_id, self.epoch + 1)


_FENCED_FOR_GOOD: Final = (Generation.V0_11, Generation.V1_0)
"""Generations for which a fenced epoch is fatal, and which get a new producer id where later ones bump the
epoch."""

"""Idempotent producers, and what each generation makes of a broker that does not know it.

After `TransactionManager.canRetry` and `handleFailedBatch` of Kafka's Java clients 2.3.1, 2.8.2 and 4.3.1,
with one batch under way.
"""

import enum
from typing import TYPE_CHECKING, Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from .producer import NO_ID, NO_SEQUENCE, Batch, Generation, ModelProducer, ProducerSetting

if TYPE_CHECKING:
    from .world import World

_NO_OFFSET: Final = -1
_MAX_EPOCH: Final = 32_767
ABOUT_SEQUENCES: Final = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)


class Reaction(enum.Enum):
    """What a producer does about an error."""

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
) -> Reaction:
    """What the next batch's refusal leads to; offsets are -1 where they are not known."""
    if error not in ABOUT_SEQUENCES or generation is Generation.V0_11:
        return Reaction.TELL
    if error is ErrorCode.UNKNOWN_PRODUCER_ID:
        if log_start_offset == _NO_OFFSET:
            return Reaction.RETRY
        # Retention took what was acknowledged.
        deleted = last_acknowledged < log_start_offset
        if deleted and (transactional or generation is Generation.V1_0):
            return Reaction.RESET
    return Reaction.TELL if transactional or generation is Generation.V1_0 else Reaction.BUMP


class IdempotentProducer(ModelProducer):
    """Has a producer id, and numbers its records by sequences."""

    idempotent = True

    def __init__(
        self,
        world: "World",
        name: str,
        topic: str,
        partition: int,
        setting: ProducerSetting,
        speaks: dict[ApiKey, int] | None = None,
    ) -> None:
        super().__init__(world, name, topic, partition, setting, speaks)
        self._sequence = 0
        self._last_acknowledged = _NO_OFFSET
        """The last offset that was acknowledged."""

    def _take_up(self) -> None:
        if self.producer_id == NO_ID:
            self._ask_for_id()
        else:
            self._send()

    def _number(self, batch: Batch) -> None:
        if batch.sequence < 0:
            batch.sequence = self._sequence

    def _acknowledged(self, batch: Batch, offset: int) -> None:
        self._sequence = batch.sequence + batch.count
        if offset >= 0:
            self._last_acknowledged = max(self._last_acknowledged, offset + batch.count - 1)
        super()._acknowledged(batch, offset)

    # -- ids

    def _ask_for_id(self) -> None:
        brokers = self.world.bootstrap
        broker = brokers[self.world.random.randrange(0, len(brokers))]

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
        if self.world.recording:
            self.tell(f"is producer {producer_id}, epoch {epoch}")

    def _begin_again(self) -> None:
        """At sequence 0."""
        self._sequence = 0
        for batch in self._batches:
            batch.sequence = NO_SEQUENCE

    # -- errors

    def _refused(self, batch: Batch, error: ErrorCode, log_start_offset: int) -> None:
        generation = self.setting.generation
        match reaction(generation, error, self._last_acknowledged, log_start_offset):
            case Reaction.RETRY:
                self._again()
            case Reaction.RESET:
                self._begin_again()
                self._again()
            case Reaction.BUMP:
                self._bump()
                self.later(self._take_up)
            case Reaction.TELL:
                self._tell(error)

    def _tell(self, error: ErrorCode) -> None:
        """The application hears that a batch failed; whether it is there or not, the next one has to be taken
        for what it is."""
        if error is ErrorCode.INVALID_PRODUCER_EPOCH and self.setting.generation in _FENCED_FOR_GOOD:
            self._fail(error)
            return
        self._batches.popleft()
        if self.setting.generation in _FENCED_FOR_GOOD:
            self.producer_id = NO_ID
        else:
            self._bump()
        self.world.producer_told(self, error)
        self._done()

    def _bump(self) -> None:
        """An idempotent producer's id is its own: it bumps the epoch itself (KIP-360)."""
        if self.epoch >= _MAX_EPOCH:
            self.producer_id = NO_ID
        else:
            self._become(self.producer_id, self.epoch + 1)


_FENCED_FOR_GOOD: Final = (Generation.V0_11, Generation.V1_0)
"""Generations for which a fenced epoch is fatal at once, and which take a new id where later ones bump."""

"""Producers as the stories describe them: what one makes of a broker that does not know it, by generation.

`0.11` is the client before the change for spurious out-of-order sequences: each such error is fatal. `1.0` is
the one after it, and before KIP-360: it holds the log start offset against the last offset that was
acknowledged. `2.5` is the one after KIP-360, which bumps its epoch (`TransactionManager.java`).
"""

import enum
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from ..protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from . import batches
from .client import LEADER_GONE, NO_BROKER, ModelClient

if TYPE_CHECKING:
    from .world import World

_SPEAKS: Final = {ApiKey.METADATA: 9, ApiKey.PRODUCE: 9, ApiKey.INIT_PRODUCER_ID: 4}
_TIMEOUT_MS: Final = 1_000
_NO_ID: Final = -1
_NEVER: Final = -1
_RETRIABLE: Final = LEADER_GONE | {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.CONCURRENT_TRANSACTIONS,
}
_MAX_EPOCH: Final = 32_767


class Generation(enum.StrEnum):
    """What a producer does when a broker does not know it."""

    PLAIN = "plain"
    """Has no producer id: a retry may write twice."""
    V0_11 = "0.11"
    """Takes each error about its sequence for a loss."""
    V1_0 = "1.0"
    """Begins its sequence again where the log starts past what was acknowledged (KIP-185)."""
    V2_5 = "2.5"
    """Bumps its epoch (KIP-360)."""


@dataclass(frozen=True, slots=True)
class ProducerSetting:
    """How a producer is set."""

    generation: Generation = Generation.V2_5
    acks: int = -1


@dataclass(slots=True)
class _Batch:
    """Records that wait to be acknowledged. `sequence` is set when it is first sent."""

    first: int
    count: int
    sequence: int = -1


class ModelProducer(ModelClient):
    """Writes to one partition, one batch under way."""

    def __init__(
        self, world: "World", name: str, topic: str, partition: int, setting: ProducerSetting
    ) -> None:
        super().__init__(world, name, _SPEAKS)
        self.topic, self.partition, self.setting = topic, partition, setting
        self.place = topic, partition
        self.idempotent = setting.generation is not Generation.PLAIN
        self.producer_id = _NO_ID
        self.epoch = 0
        self.failed = False
        self._sequence = 0
        self._last_acknowledged = _NEVER
        """The last offset that was acknowledged."""
        self._batches: deque[_Batch] = deque()
        self._sending = False

    def send(self, count: int) -> None:
        """Hands it `count` records, as one batch."""
        self._batches.append(_Batch(self.world.number(count), count))
        self._go_on()

    def _go_on(self) -> None:
        if self._sending or not self._batches or self.failed:
            return
        self._sending = True
        if self.idempotent and self.producer_id == _NO_ID:
            self._ask_for_id()
        else:
            self._send()

    def _again(self) -> None:
        self.later(self._send)

    # -- ids

    def _ask_for_id(self) -> None:
        brokers = self.world.bootstrap
        broker = brokers[self.world.random.randrange(0, len(brokers))]

        def answered(answer: InitProducerIdResponse | None) -> None:
            if answer is None or answer.error_code:
                self.later(self._ask_for_id)
                return
            self._become(answer.producer_id, answer.producer_epoch)
            self._send()

        self.ask(broker, ApiKey.INIT_PRODUCER_ID, InitProducerIdRequest(None, 60_000), answered, "ids")

    def _become(self, producer_id: int, epoch: int) -> None:
        self.producer_id, self.epoch, self._sequence = producer_id, epoch, 0
        self._last_acknowledged = _NEVER
        for batch in self._batches:
            batch.sequence = -1
        if self.world.recording:
            self.tell(f"is producer {producer_id}, epoch {epoch}")

    # -- sending

    def _send(self) -> None:
        leader = self.leader_of(self.topic, self.partition)
        if leader.leader == NO_BROKER:
            self.refresh(self.topic, self._again)
            return
        batch = self._batches[0]
        if self.idempotent and batch.sequence < 0:
            batch.sequence = self._sequence
        records = batches.make(
            batch.first,
            batch.count,
            self.cluster.now_ms,
            self.producer_id,
            self.epoch if self.idempotent else -1,
            batch.sequence,
        )
        data = [
            TopicProduceData(None, [PartitionProduceData(self.partition, memoryview(records))], self.topic)
        ]
        request = ProduceRequest(None, self.setting.acks, _TIMEOUT_MS, data)

        def answered(answer: ProduceResponse | None) -> None:
            if answer is None:
                self.refresh(self.topic, self._again)
            else:
                self._answered(batch, answer.responses[0].partition_responses[0])

        if self.world.recording:
            what = f", sequence {batch.sequence}, epoch {self.epoch}" if self.idempotent else ""
            self.tell(f"sends records {batch.first} to {batch.first + batch.count - 1}{what}")
        self.ask(leader.leader, ApiKey.PRODUCE, request, answered, "produce")

    def _answered(self, batch: _Batch, found: PartitionProduceResponse) -> None:
        error = found.error_code
        if error in _RETRIABLE:
            self.refresh(self.topic, self._again)
        elif error in (0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._acknowledged(batch, found.base_offset if not error else -1)
        elif error in (ErrorCode.UNKNOWN_PRODUCER_ID, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER):
            self._unknown(batch, ErrorCode(error), found.log_start_offset)
        else:
            self._fail(ErrorCode(error))

    def _acknowledged(self, batch: _Batch, offset: int) -> None:
        self._batches.popleft()
        self._sending = False
        self._sequence = batch.sequence + batch.count
        if offset >= 0:
            self._last_acknowledged = offset + batch.count - 1
        self.world.acknowledged(self, batch.first, batch.count, offset)
        self._go_on()

    # -- a broker that does not know it

    def _unknown(self, batch: _Batch, error: ErrorCode, log_start_offset: int) -> None:
        if self.world.recording:
            self.tell(f"is told {error.name}, log start offset {log_start_offset}")
        match self.setting.generation:
            case Generation.V2_5:
                self._bump()
            case Generation.V1_0 if error == ErrorCode.UNKNOWN_PRODUCER_ID and (
                self._last_acknowledged < log_start_offset
            ):
                # Retention took what was acknowledged: it begins again, in the same epoch.
                batch.sequence = self._sequence = 0
                self._last_acknowledged = _NEVER
                self._again()
            case _:
                self._fail(error)

    def _bump(self) -> None:
        """An idempotent producer's id is its own: it bumps the epoch itself (KIP-360)."""
        if self.epoch >= _MAX_EPOCH:
            self.producer_id = _NO_ID
            self._sending = False
            self._go_on()
            return
        self._become(self.producer_id, self.epoch + 1)
        self._again()

    def _fail(self, error: ErrorCode) -> None:
        self.failed = True
        self._sending = False
        self.world.producer_failed(self, error)

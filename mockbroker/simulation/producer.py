"""What all producers have in common, and a producer without producer id: its retries may write records
twice."""

from collections import deque
from dataclasses import dataclass
from typing import Final

from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from . import batches
from .client import LEADER_GONE, NO_BROKER, ModelClient
from .ledger import Place
from .producer_setting import Generation, ProducerSetting
from .production import Production
from .scene import Scene

NO_ID: Final = -1
NO_SEQUENCE: Final = -1
_TIMEOUT_MS: Final = 1_000
_RETRIABLE: Final = LEADER_GONE | {
    ErrorCode.NOT_ENOUGH_REPLICAS,
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
    ErrorCode.REQUEST_TIMED_OUT,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
}


SPEAKS: Final = {
    Generation.PLAIN: {ApiKey.PRODUCE: 9},
    Generation.V0_11: {ApiKey.PRODUCE: 7, ApiKey.INIT_PRODUCER_ID: 1},
    Generation.V1_0: {ApiKey.PRODUCE: 7, ApiKey.INIT_PRODUCER_ID: 1},
    Generation.V2_5: {ApiKey.PRODUCE: 9, ApiKey.INIT_PRODUCER_ID: 4},
    Generation.V4_0: {ApiKey.PRODUCE: 12, ApiKey.INIT_PRODUCER_ID: 5},
}
"""The highest versions that each generation knows."""


@dataclass(slots=True)
class Batch:
    """Records that are not acknowledged yet. `sequence` is set when they are first sent.

    A batch is `in_flight` until it is answered, then `waits` if it is to be sent again; one that is
    `given_up` is not. `renumbered` means that its answer will be for a sequence that it no longer has.
    """

    first: int
    count: int
    sequence: int = NO_SEQUENCE
    in_flight: bool = False
    waits: bool = False
    given_up: bool = False
    renumbered: bool = False


class ModelProducer(ModelClient):
    """Writes to one partition, with one batch in flight."""

    idempotent = False
    transactional_id: str | None = None
    producer_id = NO_ID
    epoch = -1
    failed = False
    _busy = False

    def __init__(
        self, scene: Scene, production: Production, name: str, place: Place, setting: ProducerSetting
    ) -> None:
        super().__init__(scene, name, {ApiKey.METADATA: 9, **self.speaks(setting.generation)})
        self.production, self.place, self.setting = production, place, setting
        self.topic, self.partition = place
        self._batches: deque[Batch] = deque()

    def speaks(self, generation: Generation) -> dict[ApiKey, int]:
        """The highest versions that it knows."""
        return SPEAKS[generation]

    def send(self, count: int) -> None:
        """The application hands it `count` records, as one batch."""
        self._batches.append(Batch(self.production.number(self, count), count))
        self._go_on()

    def _go_on(self) -> None:
        if not self._busy and self._batches and not self.failed:
            self._busy = True
            self._take_up()

    def _take_up(self) -> None:
        """Sends the first batch."""
        self._send()

    def _done(self) -> None:
        self._busy = False
        self._go_on()

    def _again(self) -> None:
        self.later(self._send)

    # -- sending

    def _send(self) -> None:
        leader = self.leader_of(self.topic, self.partition)
        if leader.leader == NO_BROKER:
            self.refresh(self.topic, self._again)
            return
        self._write(self._batches[0], leader.leader)

    def _write(self, batch: Batch, broker: int) -> None:
        self._number(batch)
        records = batches.make(
            batch.first,
            batch.count,
            self.cluster.now_ms,
            self.producer_id,
            self.epoch,
            batch.sequence,
            self.transactional_id is not None,
            self.scene.plan.compacted,
        )
        data = [
            TopicProduceData(None, [PartitionProduceData(self.partition, memoryview(records))], self.topic)
        ]
        request = ProduceRequest(self.transactional_id, self.setting.acks, _TIMEOUT_MS, data)

        def answered(answer: ProduceResponse | None) -> None:
            if answer is None:
                self._lost(batch)
            else:
                self._answered(batch, answer.responses[0].partition_responses[0])

        if self.scene.recording:
            what = f", sequence {batch.sequence}, epoch {self.epoch}" if self.idempotent else ""
            self.tell(f"sends records {batch.first} to {batch.first + batch.count - 1}{what}")
        self.ask(broker, ApiKey.PRODUCE, request, answered, "produce")

    def _number(self, batch: Batch) -> None:
        """Gives it a sequence, if it has none."""

    def _lost(self, batch: Batch) -> None:
        """The connection was lost before an answer came."""
        self._retry(batch)

    def _retry(self, batch: Batch) -> None:
        """Sends the batch again after a while, to the leader of that time."""
        self.refresh(self.topic, self._again)

    def _answered(self, batch: Batch, found: PartitionProduceResponse) -> None:
        error = found.error_code
        if error in _RETRIABLE:
            self._retry(batch)
        elif error in (0, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            self._acknowledged(batch, found.base_offset if not error else -1)
        else:
            if self.scene.recording:
                self.tell(f"is told {ErrorCode(error).name}, log start offset {found.log_start_offset}")
            self._refused(batch, ErrorCode(error), found.log_start_offset)

    def _acknowledged(self, batch: Batch, offset: int) -> None:
        self._batches.popleft()
        self.production.acknowledged(self, batch.first, batch.count, offset)
        self._done()

    def _refused(self, batch: Batch, error: ErrorCode, log_start_offset: int) -> None:
        """A batch failed with an error that only this kind of producer can handle."""
        self._fail(error)

    def _fail(self, error: ErrorCode) -> None:
        """Fails for good."""
        self.failed = True
        self._busy = False
        self.production.reported(self, error)
        self.production.ended(self)

"""What producers report, compared with what is known."""

from collections.abc import Callable
from typing import Final, Protocol

from ..protocol.errors import ErrorCode
from .ledger import Acknowledged, Place
from .producer_setting import ProducerSetting
from .scene import Scene

ABOUT_SEQUENCES: Final = (ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.UNKNOWN_PRODUCER_ID)


class Writer(Protocol):
    """A producer, as seen from here. `transactional_id` is None for one without transactions."""

    name: str
    place: Place
    setting: ProducerSetting
    idempotent: bool
    producer_id: int
    epoch: int

    @property
    def transactional_id(self) -> str | None: ...

    def transaction_coordinator(self, transactional_id: str) -> int:
        """-1 if there is none."""


class Production:
    """What all producers write. `ended` is told about a producer that can't continue."""

    def __init__(self, scene: Scene, ended: Callable[[Writer], None] = lambda _: None) -> None:
        self._scene, self._ledger, self.ended = scene, scene.ledger, ended

    def number(self, producer: Writer, count: int) -> int:
        """Reserves `count` new numbers, and returns the first."""
        writers = self._ledger.writers
        first = len(writers)
        writers += [producer.name if producer.idempotent else ""] * count
        return first

    def acknowledged(self, producer: Writer, first: int, count: int, offset: int) -> None:
        """A producer's records were acknowledged; `offset` is -1 if the answer had none."""
        if self._scene.recording:
            at = f"offset {offset}" if offset >= 0 else "an unknown offset"
            self._scene.tell(
                producer.name, f"has records {first} to {first + count - 1} acknowledged at {at}"
            )
        if producer.idempotent:
            self._ledger.once.update(range(first, first + count))
        acks = producer.setting.acks
        for index in range(count):
            at_offset = offset + index if offset >= 0 else -1
            told = Acknowledged(producer.place, at_offset, producer.name, acks)
            self._ledger.acknowledged[first + index] = told

    def reported(self, producer: Writer, error: ErrorCode) -> None:
        """A producer reports an error to its application: spurious if it means lost records, and none are
        lost."""
        if self._scene.recording:
            self._scene.tell(producer.name, f"raises {error.name}")
        place = producer.place
        if (
            error not in ABOUT_SEQUENCES
            or self._fenced(producer)
            or place in self._ledger.real_loss
            or self._scene.lost_records(self._scene.held(), producer.name)
        ):
            return
        self._scene.violated(
            "spurious-out-of-order",
            f"{producer.name} {place[0]}-{place[1]}",
            f"{producer.name} is told {error.name}, though nothing that was acknowledged is lost",
        )

    def _fenced(self, producer: Writer) -> bool:
        """Whether the coordinator has aborted the producer's transaction, because of a new instance or a
        timeout: then any error is justified."""
        if producer.transactional_id is None:
            return False
        coordinator = self._scene.cluster.brokers.get(
            producer.transaction_coordinator(producer.transactional_id)
        )
        known = dict(coordinator.transactions).get(producer.transactional_id) if coordinator else None
        return known is None or (known.producer_id, known.epoch) != (producer.producer_id, producer.epoch)

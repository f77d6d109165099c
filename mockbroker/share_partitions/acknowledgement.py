"""What members say of their records, and what that changes once it is written."""

from dataclasses import dataclass, field

from .in_flight import Delivery, StateBatch
from .states import RecordEvent, RecordState


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What a member says of its records from `first` to `last`: one type for all, or one for each."""

    first: int
    last: int
    types: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.first > self.last or len(self.types) not in {1, self.last - self.first + 1}:
            raise ValueError(f"one type for all records from {self.first} to {self.last}, or one for each")


class AcknowledgementError(Exception):
    """Nothing of the request is acknowledged; `code` is the name of Kafka's error."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class Letters:
    """Records from `first` to `last` that go to a dead letter topic before they are archived: after how many
    deliveries, and whether these are why."""

    first: int
    last: int
    count: int
    worn: bool


@dataclass(slots=True)
class Change:
    """Records that change once `batches` were written, which is at once if there are none. After that, the
    dead `letters` among them are written."""

    batches: list[StateBatch] = field(default_factory=list)
    changed: list[Delivery] = field(default_factory=list)
    letters: list[Letters] = field(default_factory=list)

    def begin(
        self,
        first: int,
        last: int,
        delivery: Delivery,
        event: RecordEvent,
        limit: int,
        *,
        takes_back: bool = False,
        sets_aside: bool = False,
    ) -> None:
        delivery.begin(event, limit, takes_back=takes_back, sets_aside=sets_aside)
        self.changed.append(delivery)
        self.batches.append(StateBatch(first, last, delivery.state, delivery.count))
        if delivery.state is RecordState.ARCHIVING:
            self.letters.append(Letters(first, last, delivery.count, event is not RecordEvent.REJECT))


def check_batch(delivery: Delivery, member: str) -> None:
    if not delivery.member:
        raise AcknowledgementError(
            "INVALID_RECORD_STATE",
            "The batch cannot be acknowledged. The batch is not in the acquired state.",
        )
    if delivery.member != member:
        raise AcknowledgementError("INVALID_RECORD_STATE", "Member is not the owner of batch record")


def check_record(delivery: Delivery, member: str) -> None:
    if delivery.state is not RecordState.ACQUIRED:
        raise AcknowledgementError(
            "INVALID_RECORD_STATE", "The offset cannot be acknowledged. The offset is not acquired."
        )
    if delivery.member != member:
        raise AcknowledgementError("INVALID_RECORD_STATE", "Member is not the owner of offset")

"""Answers whose bytes are wrong, slow, too few or out of order."""

import struct
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ...protocol.api_keys import ApiKey
from ..answers import PlaceInAnswer, changed, meant
from ..exchange import Delivery, End, Exchange
from ..match import FaultError, Match
from .action import MOST, Action, When, action, check_number

_HEAD: Final = struct.Struct(">II")
"""The beginning of an answer: its length, and its correlation id."""
_CRC_OFFSET: Final = 17
_BATCH_HEAD_BYTES: Final = 12
"""Base offset and length: what a client needs to see that there is a batch."""


@dataclass
class _OnTheWay(Action):
    """Changes the bytes of an answer, or how they are sent."""

    when = ("after",)

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        exchange.on_the_way.append(self.change)
        return True

    @abstractmethod
    def change(self, delivery: Delivery) -> None: ...


@action("half-answer")
@dataclass
class HalfAnswer(_OnTheWay):
    """Only half of the answer, or its first `bytes`, is sent; then the connection is closed."""

    bytes: int | None = None

    def check(self, match: Match) -> None:
        if self.bytes is not None:
            check_number("bytes", self.bytes)

    def change(self, delivery: Delivery) -> None:
        delivery.data = delivery.data[: len(delivery.data) // 2 if self.bytes is None else self.bytes]
        delivery.end = End.CLOSE


@action("slow-bytes")
@dataclass
class SlowBytes(_OnTheWay):
    """The answer comes in parts of `bytes`, each `ms` after the one before."""

    bytes: int
    ms: int

    def check(self, match: Match) -> None:
        check_number("bytes", self.bytes, 1)
        check_number("ms", self.ms)

    def change(self, delivery: Delivery) -> None:
        delivery.part_bytes, delivery.part_ms = self.bytes, self.ms


@action("wrong-correlation-id")
@dataclass
class WrongCorrelationId(_OnTheWay):
    """The answer's correlation id is larger than the request's, `by` that much."""

    by: int = 1
    unlike = "no broker answers with another correlation id than the request's"

    def check(self, match: Match) -> None:
        check_number("by", self.by, -MOST)

    def change(self, delivery: Delivery) -> None:
        if len(delivery.data) < _HEAD.size:
            # Another fault has truncated it.
            return
        size, correlation_id = _HEAD.unpack_from(delivery.data)
        head = _HEAD.pack(size, correlation_id + self.by & 0xFFFFFFFF)
        delivery.data = head + delivery.data[_HEAD.size :]


@action("reorder")
@dataclass
class Reorder(_OnTheWay):
    """The answer is sent after the connection's next one, or on its own if there is none within `ms`."""

    ms: int = 1000
    unlike = "a broker answers the requests of a connection in the order in which they came"

    def check(self, match: Match) -> None:
        check_number("ms", self.ms)

    def change(self, delivery: Delivery) -> None:
        delivery.swap_ms = self.ms


@dataclass
class _OfRecords(Action):
    """Changes the records of Fetch answers."""

    when = ("after",)

    def check(self, match: Match) -> None:
        if any(api is not ApiKey.FETCH for api in match.api):
            raise FaultError("only answers of api='Fetch' have records", "api")

    def apply(self, exchange: Exchange, match: Match, when: When) -> bool:
        def change(place: PlaceInAnswer, entity: Any) -> Any:
            if place.level != "partition" or not entity.records or not meant(place, match):
                return entity
            data = bytearray().join(bytes(each) for each in entity.records)
            return replace(entity, records=self.spoilt(data))

        if exchange.api is ApiKey.FETCH and exchange.has_answer:
            exchange.answer = changed(exchange.answer, exchange.call, exchange.request, change)
        return True

    @abstractmethod
    def spoilt(self, data: bytearray) -> Sequence[bytearray]: ...


@action("corrupt-crc")
@dataclass
class CorruptCrc(_OfRecords):
    """The first batch of each partition has a wrong CRC."""

    def spoilt(self, data: bytearray) -> Sequence[bytearray]:
        data[_CRC_OFFSET] ^= 0xFF
        return [data]


@action("truncated-batch")
@dataclass
class TruncatedBatch(_OfRecords):
    """The last batch of each partition is cut short, as at the end of a Fetch that is full."""

    unlike = (
        "a broker cuts a batch short only at the end of a Fetch that is full, and never the first (KIP-74)"
    )

    def spoilt(self, data: bytearray) -> Sequence[bytearray]:
        start = 0
        while (after := start + _BATCH_HEAD_BYTES + _length(data, start)) < len(data):
            start = after
        return [data[: start + (len(data) - start) // 2]]


def _length(data: bytearray, start: int) -> int:
    return int.from_bytes(data[start + 8 : start + _BATCH_HEAD_BYTES])

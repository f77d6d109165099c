"""The fields of records that coordinators write: texts, numbers and arrays of flexible versions (KIP-482)."""

import struct
from collections.abc import Sequence
from typing import Final
from uuid import UUID

from ..portions import MANY, Parts, portions
from .primitives import text_of, write_compact_string, write_uvarint

_INT16: Final = struct.Struct(">h")


def write_nullable(out: bytearray, text: str | None) -> None:
    if text is None:
        out.append(0)
    else:
        write_compact_string(out, text)


def write_ints(out: bytearray, numbers: list[int]) -> None:
    """An array of int32."""
    write_uvarint(out, len(numbers) + 1)
    out += struct.pack(f">{len(numbers)}i", *numbers)


def texts_in_parts(texts: Sequence[str]) -> Parts[bytes]:
    """An array of texts: a member may name very many topics."""
    out = bytearray()
    write_uvarint(out, len(texts) + 1)
    for some in portions(texts, MANY):
        for text in some:
            write_compact_string(out, text)
        if len(some) == MANY:
            yield
    return bytes(out)


class RecordReader:
    """Reads one record, from `at` on. ValueError if it is cut short."""

    def __init__(self, data: bytes, at: int) -> None:
        self._data, self._at = data, at

    def take(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        if size < 0 or len(found) < size:
            raise ValueError("a record of a group is cut short")
        self._at += size
        return found

    def skip(self, size: int) -> None:
        self.take(size)

    def number(self, kind: struct.Struct) -> int:
        return int(kind.unpack(self.take(kind.size))[0])

    def uvarint(self) -> int:
        found = shift = 0
        while True:
            (byte,) = self.take(1)
            found |= (byte & 0x7F) << shift
            if not byte & 0x80:
                return found
            shift += 7

    def count(self) -> int:
        return self.uvarint() - 1

    def text(self) -> str:
        return text_of(self.take(self.number(_INT16)))

    def compact(self) -> str:
        return self.nullable() or ""

    def nullable(self) -> str | None:
        size = self.count()
        return None if size < 0 else text_of(self.take(size))

    def uuid(self) -> UUID:
        return UUID(bytes=self.take(16))

    def ints(self) -> list[int]:
        size = self.count()
        return list(struct.unpack(f">{size}i", self.take(4 * size)))

    def tags(self) -> dict[int, bytes]:
        """Tagged fields."""
        return {self.uvarint(): self.take(self.uvarint()) for _ in range(self.uvarint())}

    def partitions(self, names: dict[UUID, str] | None = None) -> dict[UUID, list[int]]:
        found = {}
        for _ in range(self.count()):
            topic_id = self.uuid()
            if names is not None:
                names[topic_id] = self.compact()
            found[topic_id] = self.ints()
            self.tags()
        return found

"""Keys of the records in `__consumer_offsets` that share groups have, or streams groups."""

import enum
import struct
from collections.abc import Collection, Sequence
from typing import Final, Generic, TypeVar

from .primitives import write_string
from .record_fields import RecordReader

K = TypeVar("K", bound=enum.IntEnum)
_INT16: Final = struct.Struct(">h")


class GroupKeys(Generic[K]):
    """`kinds` are the first two bytes of a key; those that are `named` have the name of a member, or of
    something else, after the group's. Kafka sorts the tombstones of a group as `buried` says."""

    def __init__(self, kinds: type[K], named: Collection[K], buried: Sequence[K]) -> None:
        self._kinds = {int(kind): kind for kind in kinds}
        self._named, self._buried = named, buried

    def write(self, kind: K, group: str, name: str) -> bytes:
        """TextTooLongError."""
        out = bytearray(_INT16.pack(kind))
        write_string(out, group)
        if kind in self._named:
            write_string(out, name)
        return bytes(out)

    def read(self, data: bytes) -> tuple[K, str, str] | None:
        """Kind, group and name; None for a key of another kind. ValueError if it is cut short."""
        kind = self._kinds.get(_INT16.unpack_from(data)[0]) if len(data) >= _INT16.size else None
        if kind is None:
            return None
        reader = RecordReader(data, _INT16.size)
        return kind, reader.text(), reader.text() if kind in self._named else ""

    def burial_order(self, key: bytes) -> int:
        return self._buried.index(self._kinds[_INT16.unpack_from(key)[0]])

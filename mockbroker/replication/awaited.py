"""Callbacks that wait for the high watermark."""

from collections import OrderedDict
from collections.abc import Callable

from ..environment import Owner

_Callback = Callable[[], None]


class Awaited:
    """Callbacks, each with the offset that the high watermark has to reach and the request that waits; the
    offsets rise from one to the next. Each is added once, and taken out once."""

    __slots__ = ("_entries",)

    def __init__(self) -> None:
        self._entries: OrderedDict[_Callback, tuple[int, Owner | None]] | None = None

    def __len__(self) -> int:
        return len(self._entries or ())

    def add(self, offset: int, callback: _Callback, owner: Owner | None) -> None:
        # Most partitions never have a callback.
        if self._entries is None:
            self._entries = OrderedDict()
        self._entries[callback] = offset, owner

    def discard(self, callback: _Callback) -> None:
        if self._entries is not None:
            self._entries.pop(callback, None)

    def reached(self, high_watermark: int) -> list[tuple[_Callback, Owner | None]]:
        """Takes out those whose offset is reached, in order."""
        found: list[tuple[_Callback, Owner | None]] = []
        entries = self._entries
        while entries and next(iter(entries.values()))[0] <= high_watermark:
            callback, (_, owner) = entries.popitem(last=False)
            found.append((callback, owner))
        return found

    def take_all(self) -> list[tuple[_Callback, Owner | None]]:
        """Takes out all, in order."""
        entries, self._entries = self._entries, None
        return [(callback, owner) for callback, (_, owner) in (entries or {}).items()]

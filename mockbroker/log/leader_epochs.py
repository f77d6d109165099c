"""The leader-epoch cache of a replica (KIP-101, KIP-279; `LeaderEpochFileCache.java`)."""

from bisect import bisect_right

UNDEFINED = -1
"""Undefined leader epoch, and undefined end offset."""


class LeaderEpochCache:
    """Epochs and the offsets at which they start, both rising."""

    __slots__ = ("epochs", "starts")

    def __init__(self) -> None:
        self.epochs: list[int] = []
        self.starts: list[int] = []

    @property
    def latest(self) -> int:
        """The latest epoch, UNDEFINED if there is none."""
        return self.epochs[-1] if self.epochs else UNDEFINED

    def assign(self, epoch: int, start_offset: int, *, keep_empty: bool = False) -> None:
        """Enters `epoch` at `start_offset`; removes entries that this makes empty, unless they are to be
        kept. Does nothing for the epoch of an old message, which is undefined."""
        if epoch <= (self.epochs[-1] if self.epochs else UNDEFINED):
            return
        while not keep_empty and self.starts and self.starts[-1] >= start_offset:
            self.epochs.pop()
            self.starts.pop()
        self.epochs.append(epoch)
        self.starts.append(start_offset)

    def truncate_from_start(self, offset: int) -> None:
        """Drops everything below `offset`; the epoch that holds it now starts there."""
        index = bisect_right(self.starts, offset) - 1
        if index < 0:
            return
        del self.epochs[:index], self.starts[:index]
        self.starts[0] = offset

    def truncate_from_end(self, offset: int) -> None:
        """Drops epochs that start at or above `offset`."""
        while self.starts and self.starts[-1] >= offset:
            self.epochs.pop()
            self.starts.pop()

    def floor(self, epoch: int) -> tuple[int, int]:
        """The highest cached epoch at or below `epoch` and its index; (UNDEFINED, -1) if there is none."""
        index = bisect_right(self.epochs, epoch) - 1
        return (self.epochs[index], index) if index >= 0 else (UNDEFINED, -1)

    def epoch_at(self, offset: int) -> int:
        """The epoch of the record at `offset`, UNDEFINED if none is cached."""
        index = bisect_right(self.starts, offset) - 1
        return self.epochs[index] if index >= 0 else UNDEFINED


class NoEpochs(LeaderEpochCache):
    """That of a replica that remembers none (KAFKA-7897)."""

    __slots__ = ()

    def assign(self, epoch: int, start_offset: int, *, keep_empty: bool = False) -> None:
        """Does nothing."""

"""The log of metadata records, kept from the offset that the slowest broker has reached."""

from collections import deque
from typing import NamedTuple
from uuid import UUID

from .image import MetadataImage
from .records import Record


class _Entry(NamedTuple):
    written_ms: int
    record: Record


class Behind:
    """A broker that has not learned everything: its image, and the records that it has not got yet, oldest
    first."""

    def __init__(self, image: MetadataImage) -> None:
        self.image = image
        self._pending: deque[_Entry] = deque()

    def __bool__(self) -> bool:
        return bool(self._pending)

    @property
    def next_ms(self) -> int | None:
        """When the first record that it has not got yet was written."""
        return self._pending[0].written_ms if self._pending else None

    def keep(self, entry: _Entry) -> None:
        self._pending.append(entry)

    def hear(self, until_ms: int) -> list[Record]:
        """Applies what was written until then."""
        heard = []
        while self._pending and self._pending[0].written_ms <= until_ms:
            record = self._pending.popleft().record
            self.image.apply(record)
            heard.append(record)
        return heard


class MetadataLog:
    """`image` is the image at the end of the log, which is shared by brokers that have learned everything.
    `behind` has the other brokers; records are kept only for them."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self.behind: dict[int, Behind] = {}
        self.end_offset = 0

    def write(self, record: Record, now_ms: int) -> None:
        """Appends a record, which brokers that are not behind learn at once."""
        self.end_offset += 1
        self.image.apply(record)
        for each in self.behind.values():
            each.keep(_Entry(now_ms, record))

    def image_of(self, broker: int) -> MetadataImage:
        """The cluster as a broker knows it."""
        return self.behind[broker].image if broker in self.behind else self.image

    def leader_knows(self, topic_id: UUID, index: int) -> bool:
        """Whether the leader of a partition has heard that it is the leader, of this epoch or an earlier
        one."""
        leader = self.image.registered(topic_id, index).leader
        if (behind := self.behind.get(leader)) is None:
            return True
        known = behind.image.partition(topic_id, index)
        return known is not None and known.leader == leader

    def fall_behind(self, broker: int) -> Behind:
        """From now on a broker learns only what `Behind.hear` tells it."""
        found = self.behind.get(broker)
        if found is None:
            found = self.behind[broker] = Behind(self.image.snapshot())
        return found

"""What must not be in a journal, whoever joined and left, and wherever the coordinator was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from .journal import Accepted, Assigned, Committed, Committing, Journal, Read, Shared


@dataclass
class _Ownership:
    """A member has a partition. `floor` was committed before it asked where to begin."""

    floor: int
    next: int | None = None


@dataclass
class Judge:
    """`again` counts the records that were read once more, which is allowed while they are not committed."""

    journal: Journal
    again: int = 0
    _ownerships: dict[tuple[str, int], _Ownership] = field(default_factory=dict)
    _committed: dict[int, int] = field(default_factory=dict)
    _tried: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(lambda: {0}))
    _readers: defaultdict[tuple[int, int], set[str]] = field(default_factory=lambda: defaultdict(set))
    _owners: dict[tuple[int, int], str] = field(default_factory=dict)

    def violations(self) -> list[str]:
        found = [complaint for each in (self._members(), self._coordinator()) for complaint in each]
        lost = sorted(set(self.journal.written) - set(self._readers))
        return found + [f"{at} was acknowledged, and nobody read it" for at in lost]

    def _members(self) -> Iterator[str]:
        """What members saw, in this order."""
        for event in self.journal.events:
            match event:
                case Assigned(member, partitions):
                    for partition in partitions:
                        floor = self._committed.get(partition, 0)
                        self._ownerships[member, partition] = _Ownership(floor)
                case Committing(_, offsets):
                    for partition, offset in offsets.items():
                        self._tried[partition].add(offset)
                case Committed(_, offsets):
                    for partition, offset in offsets.items():
                        self._committed[partition] = max(self._committed.get(partition, 0), offset)
                case Read():
                    yield from self._record(event)

    def _record(self, read: Read) -> Iterator[str]:
        at = (read.partition, read.offset)
        ownership = self._ownerships.get((read.member, read.partition))
        if ownership is None:
            yield f"{read.member} read {at}, and was never assigned the partition"
            return
        if ownership.next is None:
            if read.offset < ownership.floor:
                yield f"{read.member} began at {at}, where {ownership.floor} was committed before"
            elif read.offset not in self._tried[read.partition]:
                yield f"{read.member} began at {at}, which nobody committed"
        elif read.offset != ownership.next:
            yield f"{read.member} read {at} where {ownership.next} was next"
        ownership.next = read.offset + 1
        if self.journal.written.get(at, read.number) != read.number:
            yield f"{at} is {self.journal.written[at]}, and {read.member} read {read.number}"
        self.again += bool(self._readers[at])
        self._readers[at].add(read.member)

    def _coordinator(self) -> Iterator[str]:
        """What the coordinators said. Which answer came first does not matter."""
        for event in self.journal.events:
            if isinstance(event, Shared):
                for partition in event.partitions:
                    owner = self._owners.setdefault((event.generation, partition), event.member_id)
                    if owner != event.member_id:
                        yield (
                            f"{owner} and {event.member_id} both have partition {partition} in generation "
                            f"{event.generation}"
                        )
        for event in self.journal.events:
            if isinstance(event, Accepted):
                for partition, offset in event.offsets.items():
                    owner = self._owners.get((event.generation, partition), "nobody")
                    if owner != event.member_id:
                        yield (
                            f"{event.member_id} committed {offset} of partition {partition} in generation "
                            f"{event.generation}, where {owner} has it"
                        )

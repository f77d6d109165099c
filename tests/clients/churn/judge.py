"""What must not be in a journal, whoever joined and left, and wherever the coordinator was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from .journal import Accepted, Asked, Assigned, Committed, Committing, Journal, Read, Shared


@dataclass
class _Ownership:
    """A member has a partition. `floor` was committed before it asked where to begin, and `behind` are lower
    offsets that may have been committed since. `kept` is where it stood if it had the partition last.

    `refused`: its last OffsetFetch was; None if it sent none. `rewound`: it began below `floor`.
    """

    floor: int
    behind: frozenset[int]
    kept: int | None
    refused: bool | None = None
    rewound: bool = False
    next: int | None = None


@dataclass
class Judge:
    """`again` counts the records that were read once more, which is allowed while they are not committed.

    `refused` counts members that began at 0 for a defect of aiokafka (0.12 to 0.14: `group_coordinator.py`,
    `_do_fetch_commit_offsets` does not look at the error of the whole group, so a refused OffsetFetch means
    "nothing committed"), and those that began at what was committed after that. `kept` counts members of
    kafka-python that went on from where they had read, without an OffsetFetch: since 3.0 they keep positions
    in an eager rebalance too. Nobody else had the partition in between, so nothing is skipped.
    """

    journal: Journal
    again: int = 0
    refused: int = 0
    kept: int = 0
    _ownerships: dict[tuple[str, int], _Ownership] = field(default_factory=dict)
    _last: dict[int, str] = field(default_factory=dict)
    _committed: dict[int, int] = field(default_factory=dict)
    _behind: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
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
                        self._assign(member, partition)
                case Asked(member, partitions, refused):
                    for partition in partitions:
                        if ownership := self._ownerships.get((member, partition)):
                            ownership.refused = refused
                case Committing(member, offsets):
                    for partition, offset in offsets.items():
                        self._tried[partition].add(offset)
                        ownership = self._ownerships.get((member, partition))
                        if ownership and ownership.rewound:
                            self._behind[partition].add(offset)
                case Committed(member, offsets):
                    for partition, offset in offsets.items():
                        self._commit(member, partition, offset)
                case Read():
                    yield from self._record(event)

    def _assign(self, member: str, partition: int) -> None:
        before = self._ownerships.get((member, partition))
        kept = before.next if before and self._last.get(partition) == member else None
        floor, behind = self._committed.get(partition, 0), frozenset(self._behind[partition])
        self._ownerships[member, partition] = _Ownership(floor, behind, kept)
        self._last[partition] = member

    def _commit(self, member: str, partition: int, offset: int) -> None:
        highest = self._committed[partition] = max(self._committed.get(partition, 0), offset)
        if offset == highest and self._last.get(partition) == member:
            self._behind[partition].clear()

    def _record(self, read: Read) -> Iterator[str]:
        at = (read.partition, read.offset)
        ownership = self._ownerships.get((read.member, read.partition))
        if ownership is None:
            yield f"{read.member} read {at}, and was never assigned the partition"
            return
        if ownership.next is None:
            yield from self._beginning(read, ownership)
        elif read.offset != ownership.next:
            yield f"{read.member} read {at} where {ownership.next} was next"
        ownership.next = read.offset + 1
        if self.journal.written.get(at, read.number) != read.number:
            yield f"{at} is {self.journal.written[at]}, and {read.member} read {read.number}"
        self.again += bool(self._readers[at])
        self._readers[at].add(read.member)

    def _beginning(self, read: Read, ownership: _Ownership) -> Iterator[str]:
        at = (read.partition, read.offset)
        if read.offset < ownership.floor:
            reset = ownership.refused and read.offset == 0 and read.member.endswith("aiokafka")
            if reset or read.offset in ownership.behind:
                ownership.rewound = True
                self.refused += 1
            else:
                yield f"{read.member} began at {at}, where {ownership.floor} was committed before"
        elif read.offset not in self._tried[read.partition]:
            keeps = ownership.refused is None and read.member.endswith("kafka-python")
            if keeps and read.offset == ownership.kept:
                self.kept += 1
            else:
                yield f"{read.member} began at {at}, which nobody committed"

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

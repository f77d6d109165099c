"""The offsets topic of a cluster, as files show it."""

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, NamedTuple

from ..errors import OptionError
from ..java_hash import positive_hash
from ..protocol.group_metadata import GroupMetadata
from ..protocol.group_metadata import read_group as read_classic_group
from ..protocol.offsets_log import NO_TOPIC_ID, Commit, CommitKey, GroupKey, read_commit, read_key
from ..protocol.record_batch import header_of
from .decoded import Key

OFFSETS: Final = "__consumer_offsets"
COUNT: Final = "offsets.topic.num.partitions"
USUAL_COUNT: Final = 50
_MOST_PARTITIONS: Final = 1000
_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")


class Segment(NamedTuple):
    """Where a segment begins, its batches, and where it comes from."""

    base_offset: int
    batches: list[bytearray]
    source: str


@dataclass(slots=True)
class Committed:
    """All offsets that were ever committed for a partition: the least, the largest, and the largest by leader
    epoch."""

    least: int
    largest: int
    by_epoch: dict[int, int] = field(default_factory=dict)

    def add(self, offset: int, leader_epoch: int) -> None:
        self.least, self.largest = min(self.least, offset), max(self.largest, offset)
        if leader_epoch >= 0:
            self.by_epoch[leader_epoch] = max(offset, self.by_epoch.get(leader_epoch, offset))

    @property
    def epochs(self) -> list[tuple[int, int]]:
        """Leader epochs, and where they start at the latest if every committed offset is valid."""
        found, start = [], self.least
        for epoch, offset in sorted(self.by_epoch.items()):
            found.append((epoch, start))
            start = max(start, offset)
        return found


@dataclass(slots=True)
class OffsetsTopic:
    """What was found. `placed` has segments by partition of the offsets topic; `unplaced` has those of which
    only a group is known that they are about, and `loose` a group and a batch for each record whose offset is
    not known either, in order. `last_ms` is the largest timestamp, -1 if there is none."""

    placed: dict[int, list[Segment]] = field(default_factory=dict)
    unplaced: list[tuple[str, Segment]] = field(default_factory=list)
    loose: list[tuple[str, bytearray]] = field(default_factory=list)
    committed: dict[tuple[str, int], Committed] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    """How many partitions each topic has at least."""
    topic_ids: dict[str, bytes] = field(default_factory=dict)
    last_ms: int = -1
    committed_ms: int = -1
    """The time of the last commit, by its record."""
    records: int = 0
    left_out: int = 0
    """Records that a dump does not show in full, such as those of consumer groups of KIP-848."""
    groups: dict[str, int | None] = field(default_factory=dict)
    """The groups, and in which partition their records are, if that is known."""
    _keys: dict[bytes, Key] = field(default_factory=dict)

    # -- while it is read

    def add(self, partition: int, segment: Segment) -> None:
        self.placed.setdefault(partition, []).append(segment)

    def saw(self, key: bytes | None, value: bytes | None, partition: int | None) -> None:
        """Takes note of a record, which may be one that can't be read."""
        self.records += 1
        try:
            about = self._keys.get(key or b"") or self._saw_key(key or b"", partition)
            if value is None:
                return
            if isinstance(about, CommitKey):
                self._saw_commit(about, read_commit(value))
            elif isinstance(about, GroupKey) and about.type == "classic":
                self._saw_group(read_classic_group(value))
        except ValueError:
            # A broker has to cope with it, too.
            return

    def _saw_key(self, data: bytes, partition: int | None) -> Key:
        key = self._keys[data] = read_key(data)
        if isinstance(key, CommitKey | GroupKey):
            self.groups[key.group] = partition
        if isinstance(key, CommitKey):
            self._has(key.topic, key.partition)
        return key

    def _saw_commit(self, key: CommitKey, commit: Commit) -> None:
        if commit.topic_id != NO_TOPIC_ID:
            self.topic_ids[key.topic] = commit.topic_id
        self.committed_ms = max(self.committed_ms, commit.commit_ms)
        if commit.offset < 0:
            return
        place = key.topic, key.partition
        if place not in self.committed:
            self.committed[place] = Committed(commit.offset, commit.offset)
        self.committed[place].add(commit.offset, commit.leader_epoch)

    def _saw_group(self, group: GroupMetadata) -> None:
        if group.protocol_type != "consumer":
            return
        for member in group.members:
            for topic, index in _assigned(member.assignment):
                self._has(topic, index)

    def _has(self, topic: str, partition: int) -> None:
        self.sizes[topic] = max(self.sizes.get(topic, 0), partition + 1)

    @property
    def end_ms(self) -> int:
        """The time of its end, -1 if it is not known: messages of magic 0 have no timestamp."""
        return self.last_ms if self.last_ms >= 0 else self.committed_ms

    # -- where its records belong

    def partition_count(self, given: int | None) -> int:
        """How many partitions the offsets topic has: as `given`, or else such that each group is where its
        records are. OptionError."""
        least = max(self.placed, default=-1) + 1
        if given is not None:
            if given < least:
                raise OptionError(f"{COUNT} is {given}, but there are records of {OFFSETS}-{least - 1}")
            return given
        hashes = [
            (positive_hash(group), partition)
            for group, partition in self.groups.items()
            if partition is not None
        ]
        for count in chain([USUAL_COUNT], range(max(least, 1), _MOST_PARTITIONS + 1)):
            if count >= least and all(value % count == partition for value, partition in hashes):
                return count
        raise OptionError(
            f"no number of partitions up to {_MOST_PARTITIONS} puts all groups where their records are: give "
            f"that of the cluster, --config {COUNT}=NUMBER"
        )

    def logs(self, count: int) -> Mapping[int, list[Segment]]:
        """The segments of each partition in order, if there are `count` partitions. OptionError."""
        found = {partition: list(each) for partition, each in self.placed.items()}
        for group, segment in self.unplaced:
            found.setdefault(positive_hash(group) % count, []).append(segment)
        for partition, each in found.items():
            each.sort(key=lambda segment: segment.base_offset)
            _check_order(partition, each)
        for group, batch in self.loose:
            (segment,) = found.setdefault(positive_hash(group) % count, [Segment(0, [], "")])
            # The CRC does not cover the base offset.
            struct.pack_into(">q", batch, 0, len(segment.batches))
            segment.batches.append(batch)
        return found


def _check_order(partition: int, found: Sequence[Segment]) -> None:
    """OptionError if offsets don't rise, as where several replicas are given."""
    end, before = 0, ""
    for segment in found:
        for batch in segment.batches:
            header = header_of(batch)
            if header.base_offset < max(end, segment.base_offset):
                raise OptionError(
                    f"{segment.source} has offset {header.base_offset} of {OFFSETS}-{partition} after "
                    f"{end - 1} in {before or segment.source}: give one log for each partition, as one "
                    "broker has it"
                )
            end, before = header.base_offset + header.last_offset_delta + 1, segment.source


def _assigned(data: bytes) -> Iterator[tuple[str, int]]:
    """The partitions in an assignment (`ConsumerProtocolAssignment.json`), as far as it can be read."""
    try:
        (topics,) = _INT32.unpack_from(data, 2)
        at = 6
        for _ in range(topics):
            (size,) = _INT16.unpack_from(data, at)
            topic = data[at + 2 : at + 2 + size].decode()
            at += 2 + size
            (count,) = _INT32.unpack_from(data, at)
            indexes = struct.unpack_from(f">{count}i", data, at + 4)
            at += 4 + 4 * count
            yield from ((topic, index) for index in indexes)
    except (struct.error, UnicodeDecodeError):
        return

"""What a group coordinator writes to `__consumer_offsets`, and how it reads that
(`GroupMetadataManager.scala` up to 3.9, `GroupCoordinatorRecordHelpers.java` since 4.0)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ..policies import Policies
from ..policies.offsets.loaded_offsets import loaded_offsets
from ..policies.offsets.raced_transactional_commit import raced_transactional_commit
from ..protocol.group_metadata import GroupMetadata, write_group
from ..protocol.offsets_log import Commit, commit_key, commit_value, group_key, is_commit_key, read_commit
from ..protocol.releases import Release, parse
from .offsets import CommittedOffset, Key

Pairs = list[tuple[bytes, bytes | None]]
"""Keys and values; None is a tombstone."""

_WITH_EXPIRY: Final = 1
"""The version of a committed offset that has a time at which it expires."""
_COMMITS: Final = (("4.1", 4), ("2.1", 3), ("0.11", _WITH_EXPIRY))
_GROUPS: Final = (("2.3", 3), ("2.1", 2), ("0.11", 1))
_NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class Layout:
    """What a release writes, and how it reads that. `minus_one_expires` is whether the expiration time -1,
    which means that there is none, is taken for a time in the past (KAFKA-8069).

    With `keeps_groups`, as since 4.0, a committed offset begins a group, which only its own tombstone ends,
    and the tombstone of an offset is also one for those of open transactions (`OffsetMetadataManager`).
    Sequence numbers then begin with 0 in all batches although there is no producer, before that only in
    those of committed offsets (`MemoryRecords.builder`). `with_times` is whether assignments of consumer
    groups have times and epochs, as since 4.3. `with_hashes` is whether groups have the hash of their topics,
    as since 4.1, and not the topics themselves. `marker_counts` is whether a committed transaction replaces
    offsets that were committed plainly after its own.
    """

    commit_version: int
    group_version: int
    minus_one_expires: bool
    keeps_groups: bool
    with_times: bool
    with_hashes: bool
    marker_counts: bool

    @classmethod
    def of(cls, release: Release, policies: Policies) -> "Layout":
        expires = policies[loaded_offsets] == "expire-at-once"
        commits = _WITH_EXPIRY if expires else _since(_COMMITS, release)
        return cls(
            commits,
            _since(_GROUPS, release),
            expires,
            parse("4.0") <= release,
            parse("4.3") <= release,
            parse("4.1") <= release,
            policies[raced_transactional_commit].in_log,
        )

    def commits(self, group_id: str, offsets: Mapping[Key, CommittedOffset], most: int) -> Pairs | None:
        """None if they have more than `most` bytes."""
        pairs: Pairs = []
        size = 0
        for where, each in offsets.items():
            key, value = commit_key(group_id, *where), self._value(each)
            size += len(key) + len(value)
            if size > most:
                return None
            pairs.append((key, value))
        return pairs

    def group(self, group_id: str, metadata: GroupMetadata) -> Pairs:
        return [(group_key(group_id), write_group(metadata, self.group_version))]

    def base_sequence(self, pairs: Pairs) -> int:
        """Of a batch with these records; -1 for none."""
        key, value = pairs[0]
        return 0 if self.keeps_groups or (value is not None and is_commit_key(key)) else -1

    def offset_of(self, value: bytes, at: int) -> CommittedOffset:
        """The committed offset whose record is at offset `at` of the log. ValueError if it can't be read."""
        read = read_commit(value)
        expire_ms = None
        if read.expire_ms != _NEVER or (self.minus_one_expires and value[1] == _WITH_EXPIRY):
            expire_ms = read.expire_ms
        return CommittedOffset(
            read.offset, read.leader_epoch, read.metadata, read.commit_ms, expire_ms, read.topic_id, at
        )

    def _value(self, each: CommittedOffset) -> bytes:
        if each.expire_ms is None:
            version, expire_ms = self.commit_version, _NEVER
        else:
            version, expire_ms = _WITH_EXPIRY, each.expire_ms
        commit = Commit(
            each.offset, each.leader_epoch, each.metadata, each.commit_ms, expire_ms, each.topic_id
        )
        return commit_value(commit, version)


def differences(written: dict[bytes, bytes], present: Iterable[tuple[bytes, bytes | None]]) -> Pairs:
    """What is not in `written`, the values written last by key, as it is at present; afterwards it is."""
    pairs: Pairs = []
    for key, value in present:
        if written.get(key) == value:
            continue
        pairs.append((key, value))
        if value is None:
            del written[key]
        else:
            written[key] = value
    return pairs


def tombstones(group_id: str, offsets: Iterable[Key]) -> Pairs:
    """For committed offsets."""
    return [(commit_key(group_id, *key), None) for key in offsets]


def _since(versions: Iterable[tuple[str, int]], release: Release) -> int:
    return next(version for since, version in versions if parse(since) <= release)

"""The offsets topics of LinkedIn's two rewinds, byte by byte, and one of a group that an operator reset."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mockbroker.protocol.batch_writing import key_values
from mockbroker.protocol.group_metadata import GroupMetadata, MemberMetadata, write_group
from mockbroker.protocol.offsets_log import Commit, commit_key, commit_value, group_key

from .readers.segments import segment
from .rows import DAY, SECOND, START_MS

Record = tuple[bytes, bytes | None]
Batch = tuple[int, Sequence[Record]]
MONTH = 31 * DAY
_UNPARSABLE = b"\0\11" + bytes(8)
"""A value of a version that no release has, as a change of the format may leave it."""


def commit(group: str, offset: int, after_ms: int, partition: int = 0) -> Record:
    value = commit_value(Commit(offset, 0, "", START_MS + after_ms), 3)
    return commit_key(group, "orders", partition), value


def tombstone(group: str, partition: int = 0) -> Record:
    return commit_key(group, "orders", partition), None


def generation(group: str, number: int, after_ms: int, members: int = 1) -> Record:
    known = [
        MemberMetadata(f"m-{each}", None, "m", "/127.0.0.1", 1000, 1000, b"", b"") for each in range(members)
    ]
    made = GroupMetadata("consumer", number, "range", "m-0", START_MS + after_ms, known)
    return group_key(group), write_group(made, 3)


def stopped_load(folder: Path) -> Path:
    """The load ends at a record after the offset of a month ago, and the group goes on from there."""
    mirror = "mirror"
    return _segment(
        folder,
        7,
        [
            (0, [generation(mirror, 1, 0)]),
            (SECOND, [commit(mirror, 6_811_737, SECOND)]),
            (DAY, [(commit_key("other", "orders", 0), _UNPARSABLE)]),
            (MONTH, [commit(mirror, 9_000_000, MONTH)]),
            (MONTH + SECOND, [commit(mirror, 9_000_500, MONTH + SECOND)]),
            (MONTH + 2 * SECOND, [generation(mirror, 2, MONTH + 2 * SECOND)]),
            (MONTH + 9 * SECOND, [commit(mirror, 6_812_400, MONTH + 9 * SECOND)]),
        ],
    )


def cleanup_during_load(folder: Path) -> Path:
    """The cleanup takes the old offsets for the last ones; nothing was compacted for a month."""
    mirror = "other-mirror"
    return _segment(
        folder,
        8,
        [
            (0, [generation(mirror, 1, 0)]),
            (SECOND, [commit(mirror, 500, SECOND), commit(mirror, 700, SECOND, 1)]),
            (MONTH, [commit(mirror, 9_000, MONTH), commit(mirror, 9_100, MONTH, 1)]),
            (MONTH + 17 * 60 * SECOND, [tombstone(mirror), tombstone(mirror, 1)]),
            (MONTH + 20 * 60 * SECOND, [commit(mirror, 9_900, MONTH + 20 * 60 * SECOND)]),
        ],
    )


def operators_reset(folder: Path) -> Path:
    reset = "reset-by-hand"
    return _segment(
        folder,
        9,
        [
            (0, [generation(reset, 1, 0), commit(reset, 500, 0)]),
            (MONTH, [commit(reset, 9_000, MONTH)]),
            (MONTH + SECOND, [generation(reset, 2, MONTH + SECOND, members=0)]),
            (MONTH + 2 * SECOND, [commit(reset, 500, MONTH + 2 * SECOND)]),
            (MONTH + 3 * SECOND, [generation(reset, 3, MONTH + 3 * SECOND)]),
            (MONTH + 4 * SECOND, [commit(reset, 600, MONTH + 4 * SECOND)]),
        ],
    )


def _segment(folder: Path, partition: int, batches: Sequence[Batch]) -> Path:
    data, offset = b"", 0
    for after_ms, records in batches:
        batch = key_values(records, START_MS + after_ms)
        batch[:8] = offset.to_bytes(8)
        data, offset = data + bytes(batch), offset + len(records)
    return segment(folder, data, f"__consumer_offsets-{partition}")

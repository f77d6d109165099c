"""Commits of offsets, which are valid once they are replicated."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ..protocol.errors import ErrorCode
from .group_metrics import GroupMetrics
from .group_shard import GroupShard, commit_error
from .offsets import CommittedOffset, Key
from .transaction_rules import ProducerIdAndEpoch

if TYPE_CHECKING:
    from .kinds import Group

E = ErrorCode
Done = Callable[[ErrorCode], None]


def commit(
    shard: GroupShard,
    group: "Group",
    offsets: Mapping[Key, CommittedOffset],
    done: Done,
    metrics: GroupMetrics,
    producer: ProducerIdAndEpoch | None = None,
) -> None:
    """Commits offsets that were checked, as part of a transaction if there is a producer.

    COORDINATOR_NOT_AVAILABLE while too few replicas are in sync, NOT_COORDINATOR, REQUEST_TIMED_OUT;
    INVALID_COMMIT_OFFSET_SIZE, since 4.0 UNKNOWN_SERVER_ERROR, for more than fits into a batch.

    Since 4.0 offsets count as committed before they are written (`OffsetMetadataManager.commitOffset`).
    """
    if not offsets:
        done(E.NONE)
        return
    awaits = shard.awaits
    pairs = shard.layout.commits(group.id, offsets, shard.most_bytes)
    if pairs is None:
        done(commit_error(E.MESSAGE_TOO_LARGE, awaits=awaits))
        return
    at = shard.next_offset
    for each in offsets.values():
        each.at = at
    kept = group.offsets
    if producer is not None:
        kept.commit_open(producer.id, offsets)

    def valid() -> None:
        if producer is None:
            kept.commit(offsets)

    def answered(error: ErrorCode) -> None:
        if waits:
            kept.end_wait(offsets)
        if error and producer is not None and (not awaits or error is E.MESSAGE_TOO_LARGE):
            kept.drop_open(producer.id, offsets)
        if not error and not awaits:
            metrics.offset_commits += len(offsets)
        done(commit_error(error, awaits=awaits) if error else error)

    if awaits:
        metrics.offset_commits += len(offsets)
    waits = False
    if not shard.write(pairs, valid, answered, producer):
        waits = True
        kept.wait(offsets)

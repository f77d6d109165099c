"""Who may commit and fetch the offsets of a streams group (`StreamsGroup.java`)."""

from collections.abc import Iterable
from typing import Final

from ...protocol.errors import ErrorCode
from ..members import Claim
from ..offsets import Key
from .group import StreamsGroup
from .member import StreamsMember

E = ErrorCode
WITH_EPOCHS: Final = 9
"""The version of OffsetCommit from which on it has member epochs."""


def check(
    group: StreamsGroup, claim: Claim, version: int, partitions: Iterable[Key], *, lasting: bool
) -> ErrorCode:
    """The error if this member may not commit for these partitions now (`validateOffsetCommit`). `lasting` is
    whether an epoch that is over will do for tasks that the member had by then."""
    epoch = claim.generation
    if epoch < 0 and group.is_empty:
        return E.NONE
    member = group.members.get(claim.member_id)
    if member is None:
        return E.UNKNOWN_MEMBER_ID
    if version < WITH_EPOCHS:
        return E.UNSUPPORTED_VERSION
    if epoch == member.epoch:
        return E.NONE
    if lasting and epoch < member.epoch and _had(group, member, epoch, partitions):
        return E.NONE
    return E.STALE_MEMBER_EPOCH


def _had(group: StreamsGroup, member: StreamsMember, epoch: int, partitions: Iterable[Key]) -> bool:
    for topic, index in partitions:
        subtopology = group.readers.get(topic)
        since = None if subtopology is None else member.since(subtopology, index)
        if since is None or since > epoch:
            return False
    return True


def check_fetch(group: StreamsGroup, epoch: int, member_id: str | None) -> ErrorCode:
    """The error if this member may not fetch offsets now (`validateOffsetFetch`)."""
    if member_id is None and epoch < 0:
        return E.NONE
    if member_id is None:
        # Real brokers look for a member without an id, and fail.
        return E.UNKNOWN_SERVER_ERROR
    member = group.members.get(member_id)
    if member is None:
        return E.UNKNOWN_MEMBER_ID
    return E.NONE if epoch == member.epoch else E.STALE_MEMBER_EPOCH

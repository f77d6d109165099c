"""Sets the offsets of groups by hand, as Kafka's admin client does."""

from concurrent.futures import Future
from typing import TYPE_CHECKING, Annotated, TypedDict

from ..contents import groups as contents
from ..errors import ConflictError, OptionError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from ..protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from .asking import ask, check
from .errors import RefusedError
from .groups import GroupId
from .records import done
from .registry import operation
from .target import Target

if TYPE_CHECKING:
    from ..cluster.broker import Broker

_BY_NAME = 9
"""The last version of OffsetCommit that names topics."""


class GroupOffset(TypedDict):
    """Where a group goes on in a partition."""

    group_id: str
    topic: str
    partition: int
    offset: int


@operation("groups alter-offset", "POST", "/groups/{group}/offset")
async def alter_offset(
    target: Target,
    group: GroupId,
    topic: Annotated[str, "A topic's name."],
    partition: Annotated[int, "A partition's index."],
    offset: Annotated[int, "The next offset that the group reads."],
) -> GroupOffset:
    """Sets where a group without members goes on, as kafka-consumer-groups.sh and kafka-share-groups.sh do
    with --reset-offsets. If the group has members, that is refused."""
    await done(begin_alter_offset(target, group, topic, partition, offset))
    return {"group_id": group, "topic": topic, "partition": partition, "offset": offset}


def begin_alter_offset(target: Target, group: str, topic: str, partition: int, offset: int) -> "Future[None]":
    """A future that is done once it is written. A share group begins anew there (AlterShareGroupOffsets); any
    other group, which need not be there yet, commits the offset (OffsetCommit). NotThereError for a topic or
    a partition; RefusedError, now or from the future, with Kafka's error."""
    if offset < 0:
        raise OptionError(f"offset is {offset}: give 0 or more")
    target.partition(topic, partition)
    refused = f"the offset of the group {group!r} in {topic}-{partition} stays as it was"
    broker = _coordinator(target, group, refused)
    found = contents.groups(target.cluster).get(group)
    if found is not None and found.type == "share":
        return _share(target, broker, group, (topic, partition, offset), refused)

    def answered(answer: OffsetCommitResponse) -> None:
        [[code]] = [each.partitions for each in answer.topics]
        why = default_message(ErrorCode(code.error_code))
        if code.error_code == ErrorCode.UNKNOWN_MEMBER_ID:
            why = f"{why} Only a group without members takes offsets from others."
        check(code.error_code, why, refused)

    part = OffsetCommitRequestPartition(partition, offset, committed_metadata="")
    request = OffsetCommitRequest(group, topics=[OffsetCommitRequestTopic(None, [part], topic)])
    return ask(target.cluster, broker, ApiKey.OFFSET_COMMIT, request, answered, _BY_NAME)


def _share(
    target: Target, broker: "Broker", group: str, place: tuple[str, int, int], refused: str
) -> "Future[None]":
    topic, partition, offset = place

    def answered(answer: AlterShareGroupOffsetsResponse) -> None:
        check(answer.error_code, answer.error_message, refused)
        for each in (part for topic in answer.responses for part in topic.partitions):
            check(each.error_code, each.error_message, refused)
        if not answer.responses:
            raise ConflictError(
                f"{refused}: brokers of {target.cluster.release} ignore AlterShareGroupOffsets"
            )

    part = AlterShareGroupOffsetsRequestPartition(partition, offset)
    request = AlterShareGroupOffsetsRequest(group, [AlterShareGroupOffsetsRequestTopic(topic, [part])])
    return ask(target.cluster, broker, ApiKey.ALTER_SHARE_GROUP_OFFSETS, request, answered)


def _coordinator(target: Target, group: str, refused: str) -> "Broker":
    id_ = target.cluster.internal_topics.coordinator(group)
    broker = None if id_ is None else target.cluster.brokers.get(id_)
    if broker is None or not broker.online:
        raise RefusedError("COORDINATOR_NOT_AVAILABLE", f"{refused}: its coordinator is not there")
    return broker

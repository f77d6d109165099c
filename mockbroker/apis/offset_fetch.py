"""OffsetFetch (9): what groups committed (KIP-447, KIP-709, KIP-848)."""

from collections.abc import Collection, Generator, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ..cluster.call import Call
from ..coordinators.offsets import Key
from ..coordinators.reply import Reply
from ..outcome import NEVER, Steps
from ..policies.offsets.fetch_of_no_groups import fetch_of_no_groups
from ..policies.offsets.oldest_offset_requests import oldest_offset_requests
from ..policies.offsets.repeated_partitions import repeated_partitions
from ..portions import PORTION, portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from .registry import handles

if TYPE_CHECKING:
    from ..coordinators.kinds import Group

E = ErrorCode


@handles(
    ApiKey.OFFSET_FETCH,
    changes=False,
    usual_level="group",
    source="""KafkaApis.handleOffsetFetchRequest, GroupCoordinatorService.fetchOffsets,
        OffsetMetadataManager.fetchOffsets (UNSTABLE_OFFSET_COMMIT, KIP-447),
        ConsumerGroup.validateOffsetFetch, OffsetFetchResponse.Builder: partitions have a group's error in
        v1, the top in v2 to v7, the group since v8""",
    top_retry="NOT_COORDINATOR v2-7, COORDINATOR_NOT_AVAILABLE v2-7, COORDINATOR_LOAD_IN_PROGRESS v2-7",
    top="INVALID_GROUP_ID v2-7, GROUP_AUTHORIZATION_FAILED v2-7",
    group_retry="NOT_COORDINATOR v8+, COORDINATOR_NOT_AVAILABLE v8+, COORDINATOR_LOAD_IN_PROGRESS v8+",
    group="""INVALID_GROUP_ID v8+, GROUP_AUTHORIZATION_FAILED v8+, UNKNOWN_MEMBER_ID v9+, STALE_MEMBER_EPOCH
        v9+, ILLEGAL_GENERATION v9+, GROUP_ID_NOT_FOUND v9+, UNSUPPORTED_VERSION v8""",
    partition_retry="""NOT_COORDINATOR v1, COORDINATOR_NOT_AVAILABLE v1, COORDINATOR_LOAD_IN_PROGRESS v1,
        UNSTABLE_OFFSET_COMMIT v7+, UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_TOPIC_ID v10+""",
    partition="""UNSUPPORTED_VERSION v0, INVALID_GROUP_ID v1, GROUP_AUTHORIZATION_FAILED v1,
        TOPIC_AUTHORIZATION_FAILED""",
)
def offset_fetch(call: Call, request: OffsetFetchRequest) -> Steps:
    if not request.groups and call.policies[fetch_of_no_groups] == "silence":
        return NEVER
    if not call.version:
        return (yield from _from_zookeeper(call, request.groups[0]))
    if request.require_stable:
        return (yield from _settled(call, request.groups))
    return (yield from _answer(call, request.groups))


def _from_zookeeper(call: Call, asked: OffsetFetchRequestGroup) -> Steps:
    group, topics = asked.group_id, []
    unsupported = call.policies[oldest_offset_requests] == "unsupported"
    for topic in asked.topics or ():
        found: list[OffsetFetchResponsePartitions] = []
        for few in portions(topic.partition_indexes):
            for index in few:
                offset = call.cluster.zookeeper_offsets.get((group, topic.name, index))
                error = E.NONE if offset is not None else E.UNKNOWN_TOPIC_OR_PARTITION
                if unsupported:
                    error = E.UNSUPPORTED_VERSION
                elif not group and call.partition(topic.name, index) is not None:
                    error = E.UNKNOWN_SERVER_ERROR
                found.append(
                    OffsetFetchResponsePartitions(index, -1 if offset is None else offset, -1, "", error)
                )
            yield
        topics.append(OffsetFetchResponseTopics(None, found, topic.name))
    if unsupported:
        topics = _once(topics)
    return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group, topics)])


def _settled(call: Call, groups: list[OffsetFetchRequestGroup]) -> Steps:
    """Since 4.0 what was written before has to be replicated first; if that fails, older clients would not
    know the error (`GroupCoordinatorService.handleOffsetFetchException`)."""
    reply: Reply[OffsetFetchResponse] = Reply(call)
    settled: dict[int, ErrorCode] = {}

    def done(number: int, error: ErrorCode) -> None:
        settled[number] = error
        if len(settled) == len(groups):
            answer = call.in_parts(_answer(call, groups, settled))
            if isinstance(answer, OffsetFetchResponse):
                reply.complete(answer)

    for few in portions(range(len(groups))):
        for number in few:
            call.broker.groups.settle(groups[number].group_id, partial(done, number))
        yield
    if not groups:
        reply.complete(OffsetFetchResponse())
    return reply.outcome()


def _answer(
    call: Call, groups: list[OffsetFetchRequestGroup], settled: Mapping[int, ErrorCode] | None = None
) -> Steps:
    """`settled` has the error of each group if offsets have to be stable."""
    answered = []
    for number, asked in enumerate(groups):
        if settled is not None and settled[number]:
            answered.append(_refused(call.version, asked, E.NOT_COORDINATOR))
        else:
            answered.append((yield from _group(call, asked, require_stable=settled is not None)))
        if number % PORTION == PORTION - 1:
            yield
    return OffsetFetchResponse(groups=answered)


def _group(call: Call, asked: OffsetFetchRequestGroup, *, require_stable: bool) -> Steps:
    """Neither an unknown group nor an unknown partition is an error: nothing was committed."""
    groups = call.broker.groups
    if error := groups.refuses(asked.group_id, may_be_empty=True):
        return _refused(call.version, asked, error)
    group = groups.groups.get(asked.group_id)
    if group is not None:
        error = groups.kind(group).check_fetch(group, asked.member_epoch, asked.member_id)
    if error:
        return _refused(call.version, asked, error)
    unstable: Collection[Key] = ()
    if group is not None and require_stable:
        # Since 4.0 a commit that is not replicated yet does not make an offset unstable.
        unstable = group.offsets.unstable() if groups.shards.awaits else group.offsets.unsettled()
    if asked.topics is None:
        topics = [] if group is None else (yield from _all(call, group, unstable))
        return OffsetFetchResponseGroup(asked.group_id, topics)
    found, unknown = [], []
    for topic in asked.topics:
        name = topic.name
        if call.version >= 10:
            known = None if topic.topic_id is None else call.cluster.topic_ids.get(topic.topic_id)
            if known is None:
                unknown.append(_failed(topic, E.UNKNOWN_TOPIC_ID))
                continue
            name = known.name
        partitions: list[OffsetFetchResponsePartitions] = []
        for few in portions(topic.partition_indexes):
            some = [_partition(group, (name, index), unstable) for index in few]
            for each in some:
                if each.committed_offset < 0 and not each.error_code:
                    call.cluster.notes.no_offset(call.client_id, asked.group_id, name, each.partition_index)
            partitions += some
            yield
        found.append(OffsetFetchResponseTopics(topic.topic_id, partitions, name))
    if call.policies[repeated_partitions] == "once":
        found = _once(found)
    return OffsetFetchResponseGroup(asked.group_id, found + unknown)


def _once(topics: list[OffsetFetchResponseTopics]) -> list[OffsetFetchResponseTopics]:
    """Every topic and partition once, and only topics with partitions."""
    unique: dict[str, dict[int, OffsetFetchResponsePartitions]] = {}
    for topic in topics:
        for partition in topic.partitions:
            unique.setdefault(topic.name, {})[partition.partition_index] = partition
    return [OffsetFetchResponseTopics(None, list(found.values()), name) for name, found in unique.items()]


def _all(
    call: Call, group: "Group", unstable: Collection[Key]
) -> Generator[None, None, list[OffsetFetchResponseTopics]]:
    """Everything that was committed; v10 and later can't name a topic that no longer has an id."""
    topics: dict[str, OffsetFetchResponseTopics] = {}
    call.count(len(group.offsets.committed))
    for few in portions(list(group.offsets.committed)):
        for name, index in few:
            if (name, index) not in group.offsets.committed:
                continue
            if name not in topics:
                topic = call.cluster.topics.get(name)
                topics[name] = OffsetFetchResponseTopics(topic.id if topic else None, [], name)
            topics[name].partitions.append(_partition(group, (name, index), unstable))
        yield
    found: Iterable[OffsetFetchResponseTopics] = topics.values()
    return [topic for topic in found if call.version < 10 or topic.topic_id is not None]


def _partition(group: "Group | None", key: Key, unstable: Collection[Key]) -> OffsetFetchResponsePartitions:
    if group is not None:
        if key in unstable:
            return OffsetFetchResponsePartitions(key[1], -1, -1, "", E.UNSTABLE_OFFSET_COMMIT)
        committed = group.offsets.committed.get(key)
        if committed is not None:
            return OffsetFetchResponsePartitions(
                key[1], committed.offset, committed.leader_epoch, committed.metadata, E.NONE
            )
    return OffsetFetchResponsePartitions(key[1], -1, -1, "", E.NONE)


def _refused(version: int, asked: OffsetFetchRequestGroup, error: E) -> OffsetFetchResponseGroup:
    """In v1 each partition carries the group's error."""
    if version >= 2:
        return OffsetFetchResponseGroup(asked.group_id, [], error)
    return OffsetFetchResponseGroup(asked.group_id, [_failed(topic, error) for topic in asked.topics or ()])


def _failed(topic: OffsetFetchRequestTopics, error: E) -> OffsetFetchResponseTopics:
    partitions = [
        OffsetFetchResponsePartitions(index, -1, -1, "", error) for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic.topic_id, partitions, topic.name)

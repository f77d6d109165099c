"""Requests for groups."""

from collections.abc import Generator
from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribedGroup,
    ConsumerGroupDescribeRequest,
)
from ..protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ..protocol.messages.describe_groups import DescribeGroupsRequest
from ..protocol.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse
from ..protocol.messages.list_groups import ListGroupsResponse
from ..protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopics,
)
from ..protocol.messages.sync_group import SyncGroupRequest, SyncGroupResponse
from .refusing import CODES, each, leaving_out, left_to_handler, parted, refused, topic_named
from .verdict import Judging, Verdict

GROUP: Final = ResourceType.GROUP
_TOPIC: Final = ResourceType.TOPIC
_KINDS: Final = {0: GROUP, 1: ResourceType.TRANSACTIONAL_ID}
_SHARE: Final = 2
"""By type of coordinator."""
_MESSAGES: Final = {
    GROUP: "Group authorization failed.",
    ResourceType.TRANSACTIONAL_ID: "Transactional Id authorization failed.",
}
_PROTOCOL_SINCE: Final = 5
HIDDEN: Final = "The group has described topic(s) that the client is not authorized to describe."


def committing(api: ApiKey, operation: Operation) -> Any:
    """Needs an operation on the group, and READ on each topic."""
    topics = each(api, Operation.READ, _TOPIC, "topics", topic_named)

    def rule(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
        if not asker.may(operation, GROUP, request.group_id):
            return refused(call, api, request, GROUP)
        return topics(asker, call, request)

    return rule


def sync(asker: Asker, call: Call, request: SyncGroupRequest) -> Verdict | Judging:
    """Needs READ on the group. Without a protocol, that is the error since v5."""
    if asker.may(Operation.READ, GROUP, request.group_id):
        return Verdict(request)
    if call.version < _PROTOCOL_SINCE or (request.protocol_type and request.protocol_name):
        return refused(call, ApiKey.SYNC_GROUP, request, GROUP)
    return Verdict(request, SyncGroupResponse(error_code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL))


def find_coordinator(asker: Asker, call: Call, request: FindCoordinatorRequest) -> Judging:
    """Needs DESCRIBE on each key (`KafkaApis.getCoordinator`)."""
    kind = _KINDS.get(request.key_type)
    if kind is None:
        return Verdict(request)
    allowed, others = yield from parted(
        call,
        request.coordinator_keys,
        lambda _, key: key,
        lambda key: asker.may(Operation.DESCRIBE, kind, key),
    )
    if not others:
        return Verdict(request)
    message = _MESSAGES[kind] if call.version < 4 else ""
    refusal = [Coordinator(key, -1, "", -1, CODES[kind], message) for key in others]
    told = FindCoordinatorResponse(coordinators=refusal)
    return left_to_handler(request, "coordinator_keys", allowed, told)


def list_groups(asker: Asker, call: Call, request: Any) -> Verdict:
    """With DESCRIBE on the cluster all groups, else those that the client may describe."""
    if asker.may(Operation.DESCRIBE, ResourceType.CLUSTER, quietly=True):
        return Verdict(request)

    def then(answer: ListGroupsResponse) -> Generator[None, None, ListGroupsResponse]:
        groups = []
        for portion in portions(answer.groups):
            groups += [one for one in portion if asker.sees(GROUP, one.group_id)]
            yield
        return replace(answer, groups=groups)

    return Verdict(request, then=then)


def describe(asker: Asker, call: Call, request: DescribeGroupsRequest) -> Judging:
    """DescribeGroups."""
    verdict = yield from describing(ApiKey.DESCRIBE_GROUPS, "groups", asker, call, request)
    return with_operations(asker, request.include_authorized_operations, verdict)


def describe_consumer_groups(asker: Asker, call: Call, request: ConsumerGroupDescribeRequest) -> Judging:
    """ConsumerGroupDescribe, which refuses groups with topics that the client may not describe."""
    if not call.broker.groups.consumers.served:
        return Verdict(request)
    verdict = yield from describing(ApiKey.CONSUMER_GROUP_DESCRIBE, "group_ids", asker, call, request)
    if verdict.answer is not None:
        return verdict

    def shown(answer: Any) -> Any:
        return replace(answer, groups=[_hidden(asker, one) for one in answer.groups])

    return with_operations(asker, request.include_authorized_operations, verdict).after(shown)


def describing(api: ApiKey, entries: str, asker: Asker, call: Call, request: Any) -> Judging:
    allowed, others = yield from parted(
        call,
        getattr(request, entries),
        lambda _, name: name,
        lambda name: asker.may(Operation.DESCRIBE, GROUP, name),
    )
    return (yield from leaving_out(call, api, request, entries, allowed, others, GROUP))


def with_operations(asker: Asker, asked: bool, verdict: Verdict) -> Verdict:
    if not asked or verdict.answer is not None:
        return verdict

    def told(answer: Any) -> Any:
        groups = [
            one
            if one.error_code
            else replace(
                one,
                authorized_operations=asker.operations(GROUP, one.group_id, one.authorized_operations),
            )
            for one in answer.groups
        ]
        return replace(answer, groups=groups)

    return verdict.after(told)


def _hidden(asker: Asker, group: ConsumerGroupDescribedGroup) -> ConsumerGroupDescribedGroup:
    topics = {
        topic.topic_name
        for member in group.members
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    }
    if all(asker.may(Operation.DESCRIBE, _TOPIC, each) for each in topics):
        return group
    return ConsumerGroupDescribedGroup(CODES[_TOPIC], HIDDEN, group.group_id)


def consumer_heartbeat(asker: Asker, call: Call, request: ConsumerGroupHeartbeatRequest) -> Judging:
    """ConsumerGroupHeartbeat, refused also for one topic that the client may not describe."""
    if not call.broker.groups.consumers.served:
        return Verdict(request)
    if not asker.may(Operation.READ, GROUP, request.group_id):
        return (yield from refused(call, ApiKey.CONSUMER_GROUP_HEARTBEAT, request, GROUP))
    for portion in portions(request.subscribed_topic_names or ()):
        if not all(asker.may(Operation.DESCRIBE, _TOPIC, name) for name in portion):
            return Verdict(request, ConsumerGroupHeartbeatResponse(error_code=CODES[_TOPIC]))
        yield
    return Verdict(request)


# -- OffsetFetch


def offset_fetch(asker: Asker, call: Call, request: OffsetFetchRequest) -> Judging:
    """Needs DESCRIBE on each group and topic; of all topics the client gets those that it may describe
    (`KafkaApis.handleOffsetFetchRequest`)."""
    allowed: list[OffsetFetchRequestGroup] = []
    others: list[OffsetFetchRequestGroup] = []
    hidden: dict[int, list[Any]] = {}
    for group in request.groups:
        if not asker.may(Operation.DESCRIBE, GROUP, group.group_id):
            others.append(group)
            continue
        if group.topics is None:
            allowed.append(group)
            continue
        shown, refusing = yield from parted(
            call, group.topics, topic_named, lambda name: asker.may(Operation.DESCRIBE, _TOPIC, name)
        )
        if refusing:
            hidden[len(allowed)] = refusing
        allowed.append(replace(group, topics=shown) if refusing else group)
        yield
    verdict = yield from leaving_out(call, ApiKey.OFFSET_FETCH, request, "groups", allowed, others, GROUP)
    if verdict.answer is not None:
        return verdict

    def told(answer: OffsetFetchResponse) -> OffsetFetchResponse:
        groups = [
            _of_group(asker, group, asked, hidden.get(index, ()))
            for index, (group, asked) in enumerate(zip(answer.groups, allowed, strict=True))
        ]
        return replace(answer, groups=groups)

    return Verdict(replace(request, groups=allowed), then=verdict.then).after(told)


def _of_group(
    asker: Asker, group: OffsetFetchResponseGroup, asked: OffsetFetchRequestGroup, hidden: Any
) -> OffsetFetchResponseGroup:
    if group.error_code:
        return group
    if asked.topics is None:
        topics = [one for one in group.topics if asker.sees(_TOPIC, one.name)]
        return replace(group, topics=topics)
    return replace(group, topics=[*group.topics, *map(_refused_topic, hidden)])


def _refused_topic(topic: Any) -> OffsetFetchResponseTopics:
    code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    partitions = [
        OffsetFetchResponsePartitions(index, -1, metadata="", error_code=code)
        for index in topic.partition_indexes
    ]
    return OffsetFetchResponseTopics(topic.topic_id, partitions, topic.name)

"""Requests for share groups (KIP-932)."""

from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..portions import portions
from ..protocol.api_keys import ApiKey
from ..protocol.errors import default_message
from ..protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from ..protocol.messages.share_group_describe import DescribedGroup, ShareGroupDescribeRequest
from ..protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from .groups import HIDDEN, describing, with_operations
from .refusing import CODES, each, leaving_out, parted, refused
from .verdict import Judging, Rule, Verdict

_GROUP: Final = ResourceType.GROUP
_TOPIC: Final = ResourceType.TOPIC


def heartbeat(asker: Asker, call: Call, request: ShareGroupHeartbeatRequest) -> Judging:
    """ShareGroupHeartbeat, refused also for one topic that the client may not describe."""
    if not call.broker.groups.shares.served:
        return Verdict(request)
    if not asker.may(Operation.READ, _GROUP, request.group_id):
        return (yield from refused(call, ApiKey.SHARE_GROUP_HEARTBEAT, request, _GROUP))
    for portion in portions(request.subscribed_topic_names or ()):
        if not all(asker.may(Operation.DESCRIBE, _TOPIC, name) for name in portion):
            return Verdict(request, ShareGroupHeartbeatResponse(error_code=CODES[_TOPIC]))
        yield
    return Verdict(request)


def describe(asker: Asker, call: Call, request: ShareGroupDescribeRequest) -> Judging:
    """ShareGroupDescribe, which refuses groups with topics that the client may not describe."""
    if not call.broker.groups.shares.served:
        return Verdict(request)
    verdict = yield from describing(ApiKey.SHARE_GROUP_DESCRIBE, "group_ids", asker, call, request)
    if verdict.answer is not None:
        return verdict

    def shown(answer: Any) -> Any:
        return replace(answer, groups=[_hidden(asker, one) for one in answer.groups])

    return with_operations(asker, request.include_authorized_operations, verdict).after(shown)


def _hidden(asker: Asker, group: DescribedGroup) -> DescribedGroup:
    topics = {topic.topic_name for member in group.members for topic in member.assignment.topic_partitions}
    if all(asker.may(Operation.DESCRIBE, _TOPIC, name) for name in topics):
        return group
    return DescribedGroup(CODES[_TOPIC], HIDDEN, group.group_id)


def reading(api: ApiKey) -> Rule:
    """Needs READ on the group; the handler asks for each topic, because a session remembers topics that the
    request does not name."""

    def rule(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
        served = call.broker.groups.shares.served
        if not served or request.group_id is None or asker.may(Operation.READ, _GROUP, request.group_id):
            return Verdict(request)
        return refused(call, api, request, _GROUP)

    return rule


def changing_offsets(api: ApiKey, operation: Operation) -> Rule:
    """Needs an operation on the group, and READ on each topic."""
    message = default_message(CODES[_TOPIC])
    topics = each(api, Operation.READ, _TOPIC, "topics", lambda _, topic: topic.topic_name, message)

    def rule(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
        if not call.broker.groups.shares.served:
            return Verdict(request)
        if not asker.may(operation, _GROUP, request.group_id):
            return refused(call, api, request, _GROUP)
        return topics(asker, call, request)

    return rule


def describe_offsets(asker: Asker, call: Call, request: DescribeShareGroupOffsetsRequest) -> Judging:
    """Needs DESCRIBE on each group and topic; of all topics the client gets those that it may describe."""
    if not call.broker.groups.shares.served:
        return Verdict(request)
    allowed: list[DescribeShareGroupOffsetsRequestGroup] = []
    others: list[DescribeShareGroupOffsetsRequestGroup] = []
    hidden: dict[int, list[Any]] = {}
    for group in request.groups:
        if not asker.may(Operation.DESCRIBE, _GROUP, group.group_id):
            others.append(group)
            continue
        if group.topics is not None:
            shown, refusing = yield from parted(
                call,
                group.topics,
                lambda _, topic: str(topic.topic_name),
                lambda name: asker.may(Operation.DESCRIBE, _TOPIC, name),
            )
            if refusing:
                hidden[len(allowed)] = refusing
                group = replace(group, topics=shown)
        allowed.append(group)
        yield
    api = ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS
    verdict = yield from leaving_out(call, api, request, "groups", allowed, others, _GROUP)
    if verdict.answer is not None:
        return verdict

    def told(answer: DescribeShareGroupOffsetsResponse) -> DescribeShareGroupOffsetsResponse:
        groups = [
            _of_group(asker, group, asked, hidden.get(index, []))
            for index, (group, asked) in enumerate(zip(answer.groups, allowed, strict=True))
        ]
        return replace(answer, groups=groups)

    return Verdict(replace(request, groups=allowed), then=verdict.then).after(told)


def _of_group(
    asker: Asker,
    group: DescribeShareGroupOffsetsResponseGroup,
    asked: DescribeShareGroupOffsetsRequestGroup,
    hidden: list[Any],
) -> DescribeShareGroupOffsetsResponseGroup:
    if group.error_code:
        return group
    if asked.topics is None:
        topics = [one for one in group.topics if asker.sees(_TOPIC, one.topic_name)]
        return replace(group, topics=topics)
    code = CODES[_TOPIC]
    refusals = [
        DescribeShareGroupOffsetsResponseTopic(
            topic.topic_name,
            None,
            [
                DescribeShareGroupOffsetsResponsePartition(
                    index, -1, error_code=code, error_message=default_message(code)
                )
                for index in topic.partitions
            ],
        )
        for topic in hidden
    ]
    return replace(group, topics=[*group.topics, *refusals])

"""ShareGroupDescribe (77): the state, members and assignments of share groups (KIP-932)."""

from typing import Final

from ..cluster.call import Call
from ..coordinators.share.group import ShareGroup, ShareMember
from ..outcome import Steps
from ..policies.groups.group_operations import group_operations
from ..portions import Pace
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode, default_message
from ..protocol.messages.share_group_describe import (
    Assignment,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
    TopicPartitions,
)
from .registry import handles

E = ErrorCode
_PARTITIONS: Final = 16
"""So many partitions take as long as another member."""
_TOLD: Final = (E.NOT_COORDINATOR, E.COORDINATOR_NOT_AVAILABLE, E.COORDINATOR_LOAD_IN_PROGRESS)
"""Errors that are given with their texts."""


@handles(
    ApiKey.SHARE_GROUP_DESCRIBE,
    changes=False,
    source="KafkaApis.handleShareGroupDescribe, GroupCoordinatorService.shareGroupDescribe",
    group_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    group="""INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED,
        GROUP_AUTHORIZATION_FAILED""",
)
def share_group_describe(call: Call, request: ShareGroupDescribeRequest) -> Steps:
    """Without an authorizer, all operations on groups are authorized. A group that is named twice is
    described twice."""
    answer, pace = ShareGroupDescribeResponse(), Pace()
    for group_id in request.group_ids:
        described, group = _describe(call, group_id)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = call.policies[group_operations]
        answer.groups.append(described)
        if pace.enough():
            yield
        for member in list(group.members.values()) if group is not None else ():
            described.members.append(shown := _member(call, member))
            partitions = sum(len(topic.partitions) for topic in shown.assignment.topic_partitions)
            call.count(1 + partitions)
            if pace.enough(2 + partitions // _PARTITIONS):
                yield
    return answer


def _describe(call: Call, group_id: str) -> tuple[DescribedGroup, ShareGroup | None]:
    """Without its members."""
    groups = call.broker.groups
    error = groups.refuses(group_id) if groups.shares.served else E.UNSUPPORTED_VERSION
    if error:
        text = default_message(error) if error in _TOLD else None
        return DescribedGroup(error_code=error, error_message=text, group_id=group_id), None
    try:
        group = groups.shares.existing(group_id)
    except ApiError as missing:
        return DescribedGroup(error_code=missing.code, error_message=missing.message, group_id=group_id), None
    described = DescribedGroup(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.protocol,
    )
    return described, group


def _member(call: Call, member: ShareMember) -> Member:
    """Without topics that are gone."""
    names = call.cluster.topic_ids
    return Member(
        member.id,
        member.rack_id,
        member.epoch,
        member.client_id,
        member.client_host,
        list(member.topics.ordered),
        Assignment(
            [
                TopicPartitions(topic, names[topic].name, sorted(partitions))
                for topic, partitions in member.assigned.items()
                if topic in names
            ]
        ),
    )

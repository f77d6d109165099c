"""ConsumerGroupDescribe (69): the state, members and assignments of consumer groups (KIP-848)."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final
from uuid import UUID

from ..cluster.call import Call
from ..coordinators.consumer.group import ConsumerGroup
from ..coordinators.consumer.member import ConsumerMember
from ..coordinators.consumer.settings import assignors
from ..outcome import Steps
from ..policies.groups.described_revocations import described_revocations
from ..policies.groups.group_operations import group_operations
from ..portions import Pace
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeAssignment,
    ConsumerGroupDescribedGroup,
    ConsumerGroupDescribeMember,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    ConsumerGroupDescribeTopicPartitions,
)
from .registry import handles

E = ErrorCode
_CLASSIC, _CONSUMER = 0, 1
"""The types of members, by the protocol that they use."""
_PARTITIONS: Final = 16
"""So many partitions take as long as another member."""
_Partitions = Mapping[UUID, Collection[int]]


@handles(
    ApiKey.CONSUMER_GROUP_DESCRIBE,
    changes=False,
    source="KafkaApis.handleConsumerGroupDescribe, GroupCoordinatorService.consumerGroupDescribe",
    group_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    group="""INVALID_GROUP_ID, GROUP_ID_NOT_FOUND, UNSUPPORTED_VERSION, TOPIC_AUTHORIZATION_FAILED,
        GROUP_AUTHORIZATION_FAILED""",
)
def consumer_group_describe(call: Call, request: ConsumerGroupDescribeRequest) -> Steps:
    """Without an authorizer, all operations on groups are authorized. A group that is named twice is
    described twice."""
    answer, pace = ConsumerGroupDescribeResponse(), Pace()
    for group_id in request.group_ids:
        described = _describe(call, group_id)
        if request.include_authorized_operations and not described.error_code:
            described.authorized_operations = call.policies[group_operations]
        answer.groups.append(described)
        if pace.enough():
            yield
        group = None if described.error_code else call.broker.groups.consumer(group_id)
        for member in list(group.members.values()) if group is not None else ():
            assert group is not None
            described.members.append(shown := _member(call, group, member))
            partitions = _size(shown.assignment) + _size(shown.target_assignment)
            call.count(1 + partitions)
            if pace.enough(2 + partitions // _PARTITIONS):
                yield
    return answer


def _size(assignment: ConsumerGroupDescribeAssignment) -> int:
    return sum(len(topic.partitions) for topic in assignment.topic_partitions)


def _describe(call: Call, group_id: str) -> ConsumerGroupDescribedGroup:
    """Without its members."""
    groups = call.broker.groups
    if not groups.consumers.served:
        return ConsumerGroupDescribedGroup(error_code=E.UNSUPPORTED_VERSION, group_id=group_id)
    if error := groups.refuses(group_id):
        return ConsumerGroupDescribedGroup(error_code=error, group_id=group_id)
    group = groups.groups.get(group_id)
    if group is None or group.type != "consumer":
        why = "not found" if group is None or group.unwritten else "is not a consumer group"
        return ConsumerGroupDescribedGroup(
            error_code=E.GROUP_ID_NOT_FOUND, error_message=f"Group {group_id} {why}.", group_id=group_id
        )
    return ConsumerGroupDescribedGroup(
        group_id=group_id,
        group_state=group.state,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.preferred_assignor(assignors(call.environment.configs)[0]),
    )


def _member(call: Call, group: ConsumerGroup, member: ConsumerMember) -> ConsumerGroupDescribeMember:
    revocations = call.policies[described_revocations] == "shown"
    return ConsumerGroupDescribeMember(
        member.id,
        member.instance_id,
        member.rack_id,
        member.epoch,
        member.client_id,
        member.client_host,
        list(member.topics.ordered),
        member.regex,
        _assignment(call, member.assigned, member.revoking if revocations else {}),
        _assignment(call, group.target_of(member.id)),
        _CONSUMER if member.classic is None else _CLASSIC,
    )


def _assignment(
    call: Call, given: _Partitions, revoking: _Partitions = MappingProxyType({})
) -> ConsumerGroupDescribeAssignment:
    """Without topics that are gone; what is to be given up comes last."""
    names = call.cluster.topic_ids
    return ConsumerGroupDescribeAssignment(
        [
            ConsumerGroupDescribeTopicPartitions(
                topic, names[topic].name, sorted(given.get(topic, ())) + sorted(revoking.get(topic, ()))
            )
            for topic in dict.fromkeys((*given, *revoking))
            if topic in names
        ]
    )

"""ConsumerGroupHeartbeat (68): members join, learn their assignment, and leave (KIP-848)."""

from ..cluster.call import Call
from ..coordinators.consumer.coordinating import Beat
from ..coordinators.consumer.member import partitions_of
from ..coordinators.consumer.requests import check
from ..coordinators.consumer.settings import heartbeat_ms
from ..coordinators.groups import GroupCoordinator
from ..outcome import Steps
from ..protocol.api_error import ApiError
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseAssignment,
    ConsumerGroupHeartbeatTopicPartitions,
)
from .registry import handles

E = ErrorCode


@handles(
    ApiKey.CONSUMER_GROUP_HEARTBEAT,
    changes=True,
    source="""KafkaApis.handleConsumerGroupHeartbeat, GroupCoordinatorService.consumerGroupHeartbeat,
        GroupMetadataManager.consumerGroupHeartbeat""",
    top_retry="NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS",
    top="""INVALID_REQUEST, UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNSUPPORTED_ASSIGNOR,
        UNRELEASED_INSTANCE_ID, FENCED_INSTANCE_ID, GROUP_MAX_SIZE_REACHED, GROUP_ID_NOT_FOUND,
        UNSUPPORTED_VERSION, INVALID_REGULAR_EXPRESSION v1+, TOPIC_AUTHORIZATION_FAILED v1+,
        GROUP_AUTHORIZATION_FAILED""",
)
def consumer_group_heartbeat(call: Call, request: ConsumerGroupHeartbeatRequest) -> object:
    """Answered once everything that was written before is replicated. UNSUPPORTED_VERSION unless the protocol
    is among `group.coordinator.rebalance.protocols`."""
    groups = call.broker.groups
    if not groups.consumers.served:
        return ConsumerGroupHeartbeatResponse(error_code=E.UNSUPPORTED_VERSION)
    return call.in_parts(_beat(call, request, groups))


def _beat(call: Call, request: ConsumerGroupHeartbeatRequest, groups: GroupCoordinator) -> Steps:
    """What is decided is decided in the last part."""
    try:
        check(request, call, groups.consumers.planning.assignors)
        names = yield from groups.prepared(request.group_id, request.subscribed_topic_names)
        if error := groups.refuses(request.group_id):
            return ConsumerGroupHeartbeatResponse(error_code=error)
        beat = groups.consumers.beat(request, names, call)
    except ApiError as error:
        return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    answer = _answer(call, request, beat)
    return groups.once_settled(
        call, request.group_id, answer, lambda late: ConsumerGroupHeartbeatResponse(error_code=late)
    )


def _answer(call: Call, request: ConsumerGroupHeartbeatRequest, beat: Beat) -> ConsumerGroupHeartbeatResponse:
    member = beat.member
    if member is None:
        return ConsumerGroupHeartbeatResponse(member_id=request.member_id, member_epoch=request.member_epoch)
    assignment = None
    if beat.assigned:
        found = partitions_of(member.assigned)
        assignment = ConsumerGroupHeartbeatResponseAssignment(
            [
                ConsumerGroupHeartbeatTopicPartitions(topic, sorted(partitions))
                for topic, partitions in found.items()
            ]
        )
    return ConsumerGroupHeartbeatResponse(
        member_id=member.id,
        member_epoch=member.epoch,
        heartbeat_interval_ms=heartbeat_ms(call.environment.configs, request.group_id),
        assignment=assignment,
    )

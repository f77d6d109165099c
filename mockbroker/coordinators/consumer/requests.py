"""What is wrong with a ConsumerGroupHeartbeat by itself (`throwIfConsumerGroupHeartbeatRequestIsInvalid`)."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from ...policies.groups.heartbeat_checks import heartbeat_checks
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from ..home import Request
from .member import JOINING, LEAVING, LEAVING_FOR_A_WHILE, Assignment

E = ErrorCode
_OWN_IDS: Final = 1
"""From this version on members draw their own ids (KIP-1082)."""


def check(request: ConsumerGroupHeartbeatRequest, call: Request, assignors: Sequence[str]) -> None:
    """ApiError INVALID_REQUEST, UNSUPPORTED_ASSIGNOR."""
    epoch, strict = request.member_epoch, call.policies[heartbeat_checks] == "strict"
    needs_an_id = epoch > 0 or epoch == LEAVING or (strict and epoch == LEAVING_FOR_A_WHILE)
    if (call.version >= _OWN_IDS or needs_an_id) and not request.member_id.strip():
        raise ApiError(E.INVALID_REQUEST, "MemberId can't be empty.")
    texts = {"GroupId": request.group_id, "InstanceId": request.instance_id, "RackId": request.rack_id}
    for name, text in texts.items():
        if text is not None and not text.strip():
            raise ApiError(E.INVALID_REQUEST, f"{name} can't be empty.")
    if epoch == JOINING:
        _check_joining(request, strict=strict)
    elif epoch == LEAVING_FOR_A_WHILE and request.instance_id is None:
        raise ApiError(E.INVALID_REQUEST, "InstanceId can't be null.")
    elif epoch < LEAVING_FOR_A_WHILE:
        raise ApiError(E.INVALID_REQUEST, "MemberEpoch is invalid.")
    asked = request.server_assignor
    if asked is not None and asked not in assignors:
        known = ", ".join(assignors)
        raise ApiError(
            E.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {asked} is not supported. Supported assignors: {known}.",
        )


def _check_joining(request: ConsumerGroupHeartbeatRequest, *, strict: bool) -> None:
    if request.rebalance_timeout_ms == -1:
        raise ApiError(E.INVALID_REQUEST, "RebalanceTimeoutMs must be provided in first request.")
    if request.topic_partitions is None or request.topic_partitions:
        raise ApiError(E.INVALID_REQUEST, "TopicPartitions must be empty when (re-)joining.")
    if strict and not request.subscribed_topic_names:
        raise ApiError(E.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        raise ApiError(
            E.INVALID_REQUEST,
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        )


def says_all(request: ConsumerGroupHeartbeatRequest) -> bool:
    """Whether the answer has the assignment although that has not changed."""
    subscribed = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.rebalance_timeout_ms != -1 and subscribed and request.topic_partitions is not None


def owned_of(request: ConsumerGroupHeartbeatRequest) -> Assignment | None:
    """What the member says that it has."""
    if request.topic_partitions is None:
        return None
    found: dict[UUID, frozenset[int]] = {}
    for each in request.topic_partitions:
        if each.topic_id is not None:
            found[each.topic_id] = found.get(each.topic_id, frozenset()) | frozenset(each.partitions)
    return found

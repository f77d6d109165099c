"""What a ShareGroupHeartbeat has to be like (`GroupCoordinatorService.java`)."""

from typing import Final

from ...policies.share_groups.share_member_id import share_member_id
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from ..home import Request
from .group import JOINING, LEAVING

E = ErrorCode
LONGEST_MEMBER_ID: Final = 36


def is_member_id(member_id: str | None) -> bool:
    """Whether a member can be called that."""
    return bool(member_id) and len((member_id or "").encode("utf-16-le")) // 2 <= LONGEST_MEMBER_ID


def check(request: ShareGroupHeartbeatRequest, call: Request) -> None:
    """ApiError INVALID_REQUEST."""
    if call.policies[share_member_id].too_long and not is_member_id(request.member_id):
        raise ApiError(E.INVALID_REQUEST, None)
    for text, name in (
        (request.member_id, "MemberId"),
        (request.group_id, "GroupId"),
        (request.rack_id, "RackId"),
    ):
        if text is not None and not text.strip():
            raise ApiError(E.INVALID_REQUEST, f"{name} can't be empty.")
    if request.member_epoch == JOINING:
        if not request.subscribed_topic_names:
            raise ApiError(E.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    elif request.member_epoch < LEAVING:
        raise ApiError(E.INVALID_REQUEST, "MemberEpoch is invalid.")

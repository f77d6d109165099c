"""`unreadable-member`: the answer to a member of the classic protocol that joins a consumer group with a
subscription that can't be read.

JoinGroup answers UNKNOWN_SERVER_ERROR up to 4.3, and INCONSISTENT_GROUP_PROTOCOL since 4.4.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

unreadable_member: Final = Behaviour[ErrorCode](
    name="unreadable-member",
    summary="what JoinGroup answers if a consumer group can't read a subscription",
    answers={
        "server-error": ErrorCode.UNKNOWN_SERVER_ERROR,
        "inconsistent-protocol": ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    },
    history=(("0.11", "server-error"), ("4.4", "inconsistent-protocol")),
    ids=("KIP-848",),
)

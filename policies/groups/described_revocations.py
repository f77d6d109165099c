"""`described-revocations`: whether ConsumerGroupDescribe shows partitions that a member has yet to give up.

They are no longer assigned to the member, but nobody else has them before it says that it gave them up. Up to
4.2 a client sees them in no member's assignment, since 4.3 in that of the member
(`ConsumerGroupMember.asConsumerGroupDescribeMember`).
"""

from typing import Final, Literal

from ..behaviour import Switch

described_revocations: Final = Switch[Literal["left-out", "shown"]](
    name="described-revocations",
    summary="whether ConsumerGroupDescribe shows partitions that a member has yet to give up",
    answers={"left-out": False, "shown": True},
    history=(("0.11", "left-out"), ("4.3", "shown")),
    ids=("KAFKA-20431",),
)

"""`joining-again`: a member of a consumer group or share group that is known, and joins again with epoch 0.

A client does so after it was fenced, or when the answer to its first heartbeat was lost. Up to 4.1 the
coordinator answers FENCED_MEMBER_EPOCH unless the member's previous epoch was 0: the client tries again until
its session is over. Since 4.2 the member is taken in.
"""

from typing import Final, Literal

from ..behaviour import Switch

joining_again: Final = Switch[Literal["fenced", "accepted"]](
    name="joining-again",
    summary="whether a known member of a consumer group may join again with epoch 0",
    answers={"fenced": False, "accepted": True},
    history=(("0.11", "fenced"), ("4.2", "accepted")),
    ids=("KIP-848", "KAFKA-19233"),
)

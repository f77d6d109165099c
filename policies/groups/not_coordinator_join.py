"""`not-coordinator-join`: the member id in a JoinGroup answer with NOT_COORDINATOR (KIP-848).

Up to 3.9 it is the id that the client sent; since 4.0 there is none. Clients keep their id in any case.
"""

from typing import Final, Literal

from ..behaviour import Switch

not_coordinator_join: Final = Switch[Literal["member-id", "no-member-id"]](
    name="not-coordinator-join",
    summary="whether NOT_COORDINATOR to JoinGroup comes with the member id that was sent",
    answers={"member-id": True, "no-member-id": False},
    history=(("0.11", "member-id"), ("4.0", "no-member-id")),
    ids=("KIP-848",),
)

"""`described-assignments`: DescribeGroups for a group that rebalances.

Up to 3.9 a client sees assignments only while the group is stable; since 4.0 it sees the last assignment of
each member.
"""

from typing import Final, Literal

from ..behaviour import Switch

described_assignments: Final = Switch[Literal["stable-only", "always"]](
    name="described-assignments",
    summary="whether DescribeGroups shows assignments of groups that are not stable",
    answers={"stable-only": False, "always": True},
    history=(("0.11", "stable-only"), ("4.0", "always")),
    ids=("KIP-848",),
)

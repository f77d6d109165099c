"""`share-group-with-colons`: FindCoordinator for share partitions of a group whose id has colons.

The key is `group:topic id:partition`. Up to 4.2 such a group gets INVALID_REQUEST, so that its members
never get records (`refused`). Since 4.3 it has a coordinator like any other (`found`).
"""

from typing import Final, Literal

from ..behaviour import Switch

share_group_with_colons: Final = Switch[Literal["refused", "found"]](
    name="share-group-with-colons",
    summary="whether share groups may have colons in their ids",
    answers={"refused": False, "found": True},
    history=(("0.11", "refused"), ("4.3", "found")),
    ids=("KIP-932",),
)

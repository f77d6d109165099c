"""`commit-to-unknown-group`: a member of a generation commits to a group that does not exist (KIP-848).

A client sees ILLEGAL_GENERATION from the coordinator up to 3.9; since 4.0, with OffsetCommit v9 and later,
GROUP_ID_NOT_FOUND.
"""

from collections.abc import Callable
from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

Answer = Callable[[int], ErrorCode]
"""(version of OffsetCommit) -> error of every partition."""


def illegal_generation(version: int) -> ErrorCode:
    return ErrorCode.ILLEGAL_GENERATION


def group_id_not_found(version: int) -> ErrorCode:
    return ErrorCode.GROUP_ID_NOT_FOUND if version >= 9 else ErrorCode.ILLEGAL_GENERATION


commit_to_unknown_group: Final = Behaviour[Answer](
    name="commit-to-unknown-group",
    summary="a member of a generation commits offsets to a group that does not exist",
    answers={"illegal-generation": illegal_generation, "group-id-not-found": group_id_not_found},
    history=(("0.11", "illegal-generation"), ("4.0", "group-id-not-found")),
    ids=("KIP-848",),
)

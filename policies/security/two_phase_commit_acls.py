"""`two-phase-commit-acls`: ACLs for two-phase commits (KIP-939).

Since 4.1 an ACL may have the operation TWO_PHASE_COMMIT (15). Earlier releases do not know it: a client gets
INVALID_REQUEST.
"""

from typing import Final, Literal

from ..behaviour import Switch

two_phase_commit_acls: Final = Switch[Literal["unknown", "known"]](
    name="two-phase-commit-acls",
    summary="whether ACLs may have the operation TWO_PHASE_COMMIT",
    answers={"unknown": False, "known": True},
    history=(("0.11", "unknown"), ("4.1", "known")),
    ids=("KIP-939",),
)

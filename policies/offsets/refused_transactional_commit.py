"""`refused-transactional-commit`: a refused TxnOffsetCommit of a group that does not exist (KIP-848).

Up to 3.9 the group begins before anything is checked: ListGroups shows it as empty even if the transaction is
unknown, and a client that sends a generation gets UNKNOWN_MEMBER_ID. Since 4.0 no group begins, and that
client gets ILLEGAL_GENERATION.
"""

from typing import Final, Literal

from ..behaviour import Switch

refused_transactional_commit: Final = Switch[Literal["begins-group", "no-group"]](
    name="refused-transactional-commit",
    summary="whether a group begins with offsets of a transaction that are refused",
    answers={"begins-group": True, "no-group": False},
    history=(("0.11", "begins-group"), ("4.0", "no-group")),
    ids=("KIP-848",),
)

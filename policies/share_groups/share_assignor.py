"""`share-assignor`: how the assignor `simple` shares partitions out among the members of a share group.

In 4.1 each member gets the partition that the hash of its id says, and the others are dealt out, so that
some members have several while others share one (`by-hash`). Since 4.2 members have equally many
partitions, give or take one, and partitions equally many members (`evenly`).
"""

from typing import Final, Literal

from ..behaviour import Switch

share_assignor: Final = Switch[Literal["by-hash", "evenly"]](
    name="share-assignor",
    summary="whether partitions of share groups are shared out by the hash of member ids, or evenly",
    answers={"by-hash": False, "evenly": True},
    history=(("0.11", "by-hash"), ("4.2", "evenly")),
    ids=("KIP-932",),
)

"""`listed-partitions`: ListOffsets names a topic or a partition twice, or a topic without partitions.

Up to 3.9 the answer has topics and partitions as the client asked for them. Since 4.0, where it is made from
a map (`ReplicaManager.fetchOffset`), it has each only once, and no topic without partitions.
"""

from typing import Final, Literal

from ..behaviour import Switch

listed_partitions: Final = Switch[Literal["as-asked", "each-once"]](
    name="listed-partitions",
    summary="whether ListOffsets answers topics and partitions as they were asked for, or each once",
    answers={"as-asked": False, "each-once": True},
    history=(("0.11", "as-asked"), ("4.0", "each-once")),
    ids=("KIP-1075",),
)

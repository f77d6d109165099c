"""`release-beside-others`: what becomes of records behind another member's when a session ends (KAFKA-19953).

A member that has acquired several records of one batch may have another's between its own. In 4.1 a broker
lets go only those in front of the other's: the rest stays locked until the locks end. Since 4.2 it lets go
all.
"""

from typing import Final, Literal

from ..behaviour import Switch

release_beside_others: Final = Switch[Literal["stops", "goes-on"]](
    name="release-beside-others",
    summary="whether the end of a share session lets go records behind those of another member",
    answers={"stops": True, "goes-on": False},
    history=(("0.11", "stops"), ("4.2", "goes-on")),
    ids=("KAFKA-19953",),
    fixed="goes-on",
)

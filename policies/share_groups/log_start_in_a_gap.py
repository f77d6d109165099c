"""`log-start-in-a-gap`: what a share group gets once records are deleted that it has to get again.

A leader may read a state that knows nothing of the first records, because they were acquired and nobody has
acknowledged them. If some of them are deleted before they are delivered again, brokers up to 4.4 go on
reading at the first one, which is out of range, and deliver nothing more of the partition (`stops`). With
`goes-on` they read at the log start offset: `SharePartition.updateCacheAndOffsets` would have to move the
beginning of its window of gaps.
"""

from typing import Final, Literal

from ..behaviour import Switch

log_start_in_a_gap: Final = Switch[Literal["stops", "goes-on"]](
    name="log-start-in-a-gap",
    summary="whether a share group reads on once records are deleted that a new leader has to deliver again",
    answers={"stops": False, "goes-on": True},
    history=(("0.11", "stops"),),
    ids=("KIP-932",),
    fixed="goes-on",
)

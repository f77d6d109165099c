"""`commit-below-min-isr`: OffsetCommit while the ISR of `__consumer_offsets` is below `min.insync.replicas`.

A client gets COORDINATOR_NOT_AVAILABLE either way. Up to 3.9 it gets it at once, and nothing is committed.
Since 4.0 the coordinator writes first, and waits for `offsets.commit.timeout.ms` before it gives that answer;
what it wrote counts as committed as soon as the ISR has grown again.
"""

from typing import Final, Literal

from ..behaviour import Switch

commit_below_min_isr: Final = Switch[Literal["refused", "awaited"]](
    name="commit-below-min-isr",
    summary="OffsetCommit while too few replicas are in sync",
    answers={"refused": True, "awaited": False},
    history=(("0.11", "refused"), ("4.0", "awaited")),
    ids=("KIP-848",),
)

"""`deposed-coordinator`: what becomes of a commit that waits while another broker becomes the coordinator
(KAFKA-20634).

The deposed coordinator has written the commit, and none of its followers has it. It follows the new leader:
its log is truncated, and the commit is lost. With `refuses` the client gets NOT_COORDINATOR, and commits
again. With `acknowledges` the deposed coordinator goes on listening to the high watermark of its log until it
has let go of the group. If the log then has as many records as when the commit was written, all of them
others, the client is told that its offset is committed. Later OffsetFetch gives an older offset, or none. If
the log has more records than the deposed coordinator had written in all, its check fails, and the commit is
refused.

Brokers of 4.0 to 4.3.0 do this if they fetch faster than they let go of groups, a race of milliseconds; so no
release has this answer. Here the broker always fetches faster.
"""

from typing import Final, Literal

from ..behaviour import Switch

deposed_coordinator: Final = Switch[Literal["refuses", "acknowledges"]](
    name="deposed-coordinator",
    summary="whether a coordinator that was deposed acknowledges commits that are lost",
    answers={"refuses": False, "acknowledges": True},
    history=(("0.11", "refuses"),),
    ids=("KAFKA-20634",),
)

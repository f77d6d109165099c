"""`fetch-below-log-start`: Fetch v12 below the log start offset, with a last fetched epoch that diverges
(KAFKA-12996).

A client gets OFFSET_OUT_OF_RANGE. With `diverging-epoch`, as in 2.7.0, 2.7.1 and 2.8.0, it gets no error, but
the diverging epoch and a log start offset above the position that it asked for; a follower took that for a
failure of its own, and stopped. If the epoch does not diverge, the offset is out of range either way. The
releases here stand for their last patches, which all have the fix.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_below_log_start: Final = Switch[Literal["offset-out-of-range", "diverging-epoch"]](
    name="fetch-below-log-start",
    summary="a Fetch below the log start offset whose last fetched epoch diverges",
    answers={"offset-out-of-range": False, "diverging-epoch": True},
    history=(("0.11", "offset-out-of-range"),),
    ids=("KAFKA-12996",),
)

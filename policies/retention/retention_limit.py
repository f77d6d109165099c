"""`retention-limit`: how far retention deletes segments (KAFKA-5634).

The log start offset is never above the high watermark. With `log-end-offset`, as in 0.11.0.0, it may be while
a follower lags: the earliest offset that ListOffsets answers is above the latest one, a consumer that resets
to it finds nothing, and a consumer at the high watermark is out of range. The release 0.11 here stands for
0.11.0.3, which has the fix.
"""

from typing import Final, Literal

from ..behaviour import Switch

retention_limit: Final = Switch[Literal["high-watermark", "log-end-offset"]](
    name="retention-limit",
    summary="whether retention may delete segments above the high watermark",
    answers={"high-watermark": False, "log-end-offset": True},
    history=(("0.11", "high-watermark"),),
    ids=("KAFKA-5634",),
)

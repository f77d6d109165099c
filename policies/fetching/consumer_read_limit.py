"""`consumer-read-limit`: up to where a consumer reads (KAFKA-9835).

A client sees records below the high watermark only. With `log-end-offset` a Fetch that finds some of those
also brings what was appended above them, so that a consumer may have read records that a new leader lacks:
its next position is past the high watermark that the same answer tells. Up to 2.5.0 this befell a Fetch that
read the end of the log while another thread appended, which here never happens by itself: only by choice.
"""

from typing import Final, Literal

from ..behaviour import Switch

consumer_read_limit: Final = Switch[Literal["high-watermark", "log-end-offset"]](
    name="consumer-read-limit",
    summary="whether a consumer that reads up to the high watermark is given what lies above it too",
    answers={"high-watermark": False, "log-end-offset": True},
    history=(("0.11", "high-watermark"),),
    ids=("KAFKA-9835",),
)

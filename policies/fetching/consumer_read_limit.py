"""`consumer-read-limit`: up to where a consumer reads (KAFKA-9835).

A client sees only records below the high watermark. With `log-end-offset` a Fetch that finds such records
also returns those that were appended above them, so a consumer may have read records that a new leader lacks:
its next position is past the high watermark in the same answer. Up to 2.5.0 this could happen when a Fetch
read the end of the log while another thread appended to it. Here that never happens by itself, so no release
has this answer.
"""

from typing import Final, Literal

from ..behaviour import Switch

consumer_read_limit: Final = Switch[Literal["high-watermark", "log-end-offset"]](
    name="consumer-read-limit",
    summary="whether a consumer that reads up to the high watermark also gets records above it",
    answers={"high-watermark": False, "log-end-offset": True},
    history=(("0.11", "high-watermark"),),
    ids=("KAFKA-9835",),
)

"""`fetch-log-start-offset`: which log start offset a leader tells a follower (KAFKA-7104).

With `of-read` it is that of the moment when the records are read. With `live`, as up to 1.1.0, it is that of
the moment when the answer is made, like the high watermark: if records are deleted between the two, a
follower out of the ISR is told a log start offset beyond the records that come with it. For slow followers
(`MockCluster.slow_follower`) there is time between the two.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_log_start_offset: Final = Switch[Literal["of-read", "live"]](
    name="fetch-log-start-offset",
    summary="whether a follower is told the log start offset of the read or a later one",
    answers={"of-read": False, "live": True},
    history=(("0.11", "live"), ("1.0", "of-read")),
    ids=("KAFKA-7104",),
    fixed="of-read",
)

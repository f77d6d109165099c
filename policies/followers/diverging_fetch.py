"""`diverging-fetch`: a follower's fetch that is answered with a diverging epoch (KAFKA-13141).

With `ignored` the leader does not take the follower's offset for progress. With `counted`, as in 2.7.0, 2.7.1
and 2.8.0, it does: the high watermark may advance past what the follower has, and acknowledged records are
lost with the leader.
"""

from typing import Final, Literal

from ..behaviour import Switch

diverging_fetch: Final = Switch[Literal["ignored", "counted"]](
    name="diverging-fetch",
    summary="whether a follower's fetch offset counts although its log diverges there",
    answers={"ignored": False, "counted": True},
    history=(("0.11", "ignored"),),
    ids=("KAFKA-13141",),
    fixed="ignored",
)

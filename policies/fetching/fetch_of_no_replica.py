"""`fetch-of-no-replica`: a follower fetches that is no replica as far as the leader knows (KAFKA-13837).

Up to 3.2 it gets no error and no records, whatever there is. Since 3.3 it gets UNKNOWN_LEADER_EPOCH if it
sends a leader epoch, and tries again, as it may have heard of a reassignment before the leader; without one,
NOT_LEADER_OR_FOLLOWER.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_of_no_replica: Final = Switch[Literal["no-records", "refused"]](
    name="fetch-of-no-replica",
    summary="what a follower gets that is no replica",
    answers={"no-records": False, "refused": True},
    history=(("0.11", "no-records"), ("3.3", "refused")),
    ids=("KAFKA-13837",),
)

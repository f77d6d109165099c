"""`fetch-of-no-replica`: a Fetch of a follower that, as far as the leader knows, is not a replica
(KAFKA-13837).

Up to 3.2 it gets no error and no records, whatever the log holds. Since 3.3 it gets UNKNOWN_LEADER_EPOCH if
it sends a leader epoch, and tries again, since it may have learned of a reassignment before the leader;
without a leader epoch it gets NOT_LEADER_OR_FOLLOWER.
"""

from typing import Final, Literal

from ..behaviour import Switch

fetch_of_no_replica: Final = Switch[Literal["no-records", "refused"]](
    name="fetch-of-no-replica",
    summary="what a follower that is not a replica gets from Fetch",
    answers={"no-records": False, "refused": True},
    history=(("0.11", "no-records"), ("3.3", "refused")),
    ids=("KAFKA-13837",),
)

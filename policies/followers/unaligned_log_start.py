"""`unaligned-log-start`: a follower without records begins inside a batch (KAFKA-6975).

DeleteRecords may leave the log start offset in the middle of a batch. A replica that has to begin there (a
new one, or one that was away meanwhile) is sent the whole batch. With `accepted` it is soon in sync. With
`refused`, as on 0.11, the replica stops fetching at that batch: it never enters the ISR, a reassignment
leaves the partition under-replicated, and with too few other replicas acks=all fails. On 0.11.0.3 this stops
all partitions that the broker fetches from that leader, until it restarts; here it stops only this one.
"""

from typing import Final, Literal

from ..behaviour import Switch

unaligned_log_start: Final = Switch[Literal["refused", "accepted"]](
    name="unaligned-log-start",
    summary="whether a follower can begin with a batch that starts below the log start offset",
    answers={"refused": True, "accepted": False},
    history=(("0.11", "refused"), ("1.0", "accepted")),
    ids=("KAFKA-6975",),
)

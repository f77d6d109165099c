"""`unaligned-log-start`: a follower without records begins inside a batch (KAFKA-6975).

DeleteRecords may leave the log start offset in the middle of a batch. A replica that has to begin there (a
new one, or one that was away meanwhile) is sent the whole batch. A client sees it in sync soon with
`accepted`. With `refused`, as on 0.11, the replica stops fetching at that batch: it never shows up in the
ISR, a reassignment leaves the partition under-replicated, and with too few others acks=all fails. On 0.11.0.3
all partitions that it copies from that leader stand still with it, until it starts again; here only this one.
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

"""`log-start-in-a-batch`: what a share group acquires if the log start lies in a batch that nobody has read.

While an earlier batch is in flight, brokers up to 4.4 acquire such a batch from its beginning (`all`), also
what was deleted. If members get no more than they ask for (`share.acquire.mode=record_limit`), deleted
records are left to be read, which is out of range: nothing more of the partition is delivered. With `there`
only what the log still has is acquired: `SharePartition.acquire` would have to begin at the start offset,
as it does if no batch is in flight.
"""

from typing import Final, Literal

from ..behaviour import Switch

log_start_in_a_batch: Final = Switch[Literal["all", "there"]](
    name="log-start-in-a-batch",
    summary="whether a share group acquires deleted records of a batch in which the log start lies",
    answers={"all": False, "there": True},
    history=(("0.11", "all"),),
    ids=("KIP-1206",),
    fixed="there",
)

"""`pending-offset-expiry`: an offset has expired while an open transaction has a newer one of its partition.

With `waits` it stays until the transaction has ended. With `removed` it expires, and its tombstone is written
after the offset of the transaction. Since 4.0 a coordinator that loads such a log takes the tombstone for one
of both: once the coordinator has moved, OffsetFetch answers -1, although the transaction was committed. That
happened with Redpanda (CORE-16998). Up to 3.9 brokers answer `removed` too, but the tombstone does not count
for the offset of the transaction.
"""

from typing import Final, Literal

from ..behaviour import Switch

pending_offset_expiry: Final = Switch[Literal["removed", "waits"]](
    name="pending-offset-expiry",
    summary="whether an offset expires while an open transaction has a newer one",
    answers={"removed": False, "waits": True},
    history=(("0.11", "removed"), ("4.0", "waits")),
    ids=("KIP-848",),
)

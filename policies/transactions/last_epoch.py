"""`last-epoch`: whether a producer's previous epoch outlives its coordinator (KIP-360).

A client that sends InitProducerId again, because it got no answer, gives its previous epoch. With
`in-memory`, as every release does, the coordinator that takes over in between does not know it and answers
PRODUCER_FENCED; with `persisted`, as KIP-360 wrote, the epoch stands in `__transaction_state` and the
client gets the answer it missed.

Fenced so, a producer of Java 2.8 or 4.4 or of librdkafka is done for, though there is no other; otherwise it
goes on. Java 4.4 does not ask where EndTxn bumps the epoch (`epoch-bump`), librdkafka and Java 2.8 do.
"""

from typing import Final, Literal

from ..behaviour import Switch

last_epoch: Final = Switch[Literal["in-memory", "persisted"]](
    name="last-epoch",
    summary="whether the last epoch of a producer is kept in the transaction log",
    answers={"in-memory": False, "persisted": True},
    history=(("0.11", "in-memory"),),
    ids=("KIP-360",),
    fixed="persisted",
)

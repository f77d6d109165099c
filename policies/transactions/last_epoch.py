"""`last-epoch`: whether a producer's previous epoch outlives its coordinator (KIP-360).

A client that sends InitProducerId again because it got no answer gives its previous epoch. With `in-memory`,
as in every release, a coordinator that has taken over in between does not know that epoch, and answers
PRODUCER_FENCED. With `persisted`, as described in KIP-360, the epoch is kept in `__transaction_state`, and
the client gets the answer that it missed.

A producer of Java 2.8 or 4.4 or of librdkafka that is fenced in this way can't be used any more, although
there is no other producer; with `persisted` it goes on. Java 4.4 does not send this InitProducerId if EndTxn
bumps the epoch (`epoch-bump`); librdkafka and Java 2.8 do.
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

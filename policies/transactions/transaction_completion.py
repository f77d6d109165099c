"""`transaction-completion`: whether markers are written once a transaction's end is decided (KAFKA-9777,
KAFKA-16352).

With `hangs` the coordinator forgets to send the markers, as brokers before 2.6, and again before 3.8,
sometimes did because of a race: EndTxn succeeds, but then a client gets CONCURRENT_TRANSACTIONS for ever, and
read_committed consumers wait at the last stable offset, until the coordinator moves. No release does this
every time.
"""

from typing import Final, Literal

from ..behaviour import Switch

transaction_completion: Final = Switch[Literal["completes", "hangs"]](
    name="transaction-completion",
    summary="whether markers follow once the end of a transaction is decided",
    answers={"completes": True, "hangs": False},
    history=(("0.11", "completes"),),
    ids=("KAFKA-9777", "KAFKA-16352"),
)

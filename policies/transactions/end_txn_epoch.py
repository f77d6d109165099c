"""`end-txn-epoch`: which producer epochs may end a transaction.

Up to 2.5 a client that sends EndTxn with an epoch above the current one is answered as if it had sent the
current one. Since 2.6 the epoch has to be exact; otherwise the answer is INVALID_PRODUCER_EPOCH or
PRODUCER_FENCED.
"""

from typing import Final, Literal

from ..behaviour import Switch

end_txn_epoch: Final = Switch[Literal["not-lower", "exact"]](
    name="end-txn-epoch",
    summary="whether EndTxn has to carry the current producer epoch exactly",
    answers={"not-lower": False, "exact": True},
    history=(("0.11", "not-lower"), ("2.6", "exact")),
)

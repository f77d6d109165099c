"""`end-txn-epoch`: which producer epochs may end a transaction.

With `not-lower` the coordinator goes by the state alone if EndTxn has an epoch above the current one: the
answer is NONE if the transaction has ended in that way. If it is ongoing, the coordinator prepares its end,
but then fails: the answer is INVALID_PRODUCER_EPOCH, and what follows gets CONCURRENT_TRANSACTIONS until
another coordinator has loaded the transaction, and sent its markers. With `exact` any other epoch gets
INVALID_PRODUCER_EPOCH or PRODUCER_FENCED, and nothing happens (`TransactionMetadata.completeTransitionTo`).
"""

from typing import Final, Literal

from ..behaviour import Switch

end_txn_epoch: Final = Switch[Literal["not-lower", "exact"]](
    name="end-txn-epoch",
    summary="whether EndTxn has to carry the current producer epoch exactly",
    answers={"not-lower": False, "exact": True},
    history=(("0.11", "not-lower"), ("2.6", "exact")),
)

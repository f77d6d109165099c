"""`epoch-bump`: when a transactional producer gets a new epoch (KIP-98, KIP-360, KIP-890).

With `by-new-instance`, up to 2.4, InitProducerId bumps it whatever was sent, so a client that lost its
sequences can only go on without. With `on-request`, since 2.5, a client that gives producer id and epoch gets
the next epoch, the same answer if it asks again, and is fenced when another instance was faster. With
`per-transaction`, since 4.0, EndTxn v5 also bumps it and answers the new one, so that late requests of one
transaction can't hit the next; ApiVersions tells so by `transaction.version` 2.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class EpochBump(NamedTuple):
    """Whether producer id and epoch in InitProducerId are heeded, and whether EndTxn v5 bumps."""

    on_request: bool
    per_transaction: bool


epoch_bump: Final = Behaviour[EpochBump](
    name="epoch-bump",
    summary="what makes the coordinator bump a producer's epoch",
    answers={
        "by-new-instance": EpochBump(False, False),
        "on-request": EpochBump(True, False),
        "per-transaction": EpochBump(True, True),
    },
    history=(("0.11", "by-new-instance"), ("2.5", "on-request"), ("4.0", "per-transaction")),
    ids=("KIP-98", "KIP-360", "KAFKA-8710", "KIP-890"),
)

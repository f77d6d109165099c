"""`epoch-bump`: when a transactional producer gets a new epoch (KIP-98, KIP-360, KIP-890).

With `by-new-instance`, up to 2.4, InitProducerId bumps the epoch whatever it carries, so a client that lost
its sequences can't ask for a bump of its own epoch. With `on-request`, since 2.5, a client that gives its
producer id and epoch gets the next epoch, gets the same answer if it asks again, and is fenced if another
instance was faster. With `per-transaction`, since 4.0, EndTxn v5 bumps the epoch too and answers the new one,
so late requests of one transaction can't affect the next; ApiVersions announces this by `transaction.version`
2.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class EpochBump(NamedTuple):
    """Whether InitProducerId regards the producer id and epoch that it is sent, and whether EndTxn v5
    bumps."""

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

"""`transaction-verification`: whether the leader checks that a partition was added to the transaction
(KIP-890).

Up to 3.5 it does not: a late batch begins a transaction that no marker ends, and read_committed consumers
wait for ever. Since 3.6 the leader asks the coordinator before the first batch (`batches`), since 3.7 also
before offsets are committed (`batches-and-offsets`): the client gets INVALID_TXN_STATE if the partition was
not added, and NOT_ENOUGH_REPLICAS while the coordinator can't say. Since 3.8 newer clients (Produce v11,
TxnOffsetCommit v4) get TRANSACTION_ABORTABLE instead (`abortable`). Since 4.0 the newest clients (Produce
v12, TxnOffsetCommit v5) add partitions by writing to them (`added`).
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour

_NEVER: Final = 1 << 15


class Verification(NamedTuple):
    """Whether offsets are verified like batches; whether an open transaction of another epoch counts as the
    producer's own; and since which versions a client understands TRANSACTION_ABORTABLE, and adds partitions
    by writing."""

    offsets: bool = True
    any_epoch: bool = True
    produce_abortable: int = _NEVER
    produce_adds: int = _NEVER
    offsets_abortable: int = _NEVER
    offsets_add: int = _NEVER


transaction_verification: Final = Behaviour[Verification | None](
    name="transaction-verification",
    summary="whether the coordinator is asked before the first batch of a transaction is appended",
    answers={
        "none": None,
        "batches": Verification(offsets=False),
        "batches-and-offsets": Verification(),
        "abortable": Verification(produce_abortable=11, offsets_abortable=4),
        "added": Verification(True, False, 11, 12, 4, 5),
    },
    history=(
        ("0.11", "none"),
        ("3.6", "batches"),
        ("3.7", "batches-and-offsets"),
        ("3.8", "abortable"),
        ("4.0", "added"),
    ),
    ids=("KIP-890", "KAFKA-14402"),
)

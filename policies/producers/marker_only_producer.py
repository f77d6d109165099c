"""`marker-only-producer`: a producer whose epoch is known only from a transaction marker (KAFKA-7298).

The log of a transactional client may hold nothing but a marker, after all its records were deleted. Then its
next sequence gets OUT_OF_ORDER_SEQUENCE_NUMBER, and it gives up. From 2.0.1 to 2.4 it gets
UNKNOWN_PRODUCER_ID, from which it recovers; since 2.5, where producer state outlives the records, it gets
OUT_OF_ORDER_SEQUENCE_NUMBER again (KIP-360).
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

marker_only_producer: Final = Behaviour[ErrorCode](
    name="marker-only-producer",
    summary="a sequence other than 0 when the producer's epoch is known only from a marker",
    answers={
        "out-of-order-sequence-number": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        "unknown-producer-id": ErrorCode.UNKNOWN_PRODUCER_ID,
    },
    history=(
        ("0.11", "out-of-order-sequence-number"),
        ("2.0", "unknown-producer-id"),
        ("2.5", "out-of-order-sequence-number"),
    ),
    ids=("KAFKA-7298", "KIP-360"),
)

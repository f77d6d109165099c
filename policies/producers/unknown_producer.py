"""`unknown-producer`: an idempotent batch whose producer the partition does not know, sequence not 0.

A client gets OUT_OF_ORDER_SEQUENCE_NUMBER on 0.11 and UNKNOWN_PRODUCER_ID on 1.0 to 2.4 (KAFKA-5793). Since
2.5 its batch is simply accepted (KIP-360): if an unclean election lost the only records that the producer had
written, nobody learns of it. KAFKA-19880 proposes UNKNOWN_PRODUCER_ID again.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

unknown_producer: Final = Behaviour[ErrorCode](
    name="unknown-producer",
    summary="a producer id that the partition does not know, with a sequence other than 0",
    answers={
        "out-of-order-sequence-number": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        "unknown-producer-id": ErrorCode.UNKNOWN_PRODUCER_ID,
        "accepted": ErrorCode.NONE,
    },
    history=(("0.11", "out-of-order-sequence-number"), ("1.0", "unknown-producer-id"), ("2.5", "accepted")),
    ids=("KAFKA-5793", "KIP-360", "KAFKA-19880"),
    fixed="unknown-producer-id",
)

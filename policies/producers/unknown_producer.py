"""`unknown-producer`: an idempotent batch whose producer the partition does not know, sequence not 0.

A client sees OUT_OF_ORDER_SEQUENCE_NUMBER from 0.11, UNKNOWN_PRODUCER_ID from 1.0 to 2.4 (KAFKA-5793), and is
simply accepted since 2.5 (KIP-360): if an unclean election took the only records that the producer had
written, nobody hears of it. KAFKA-19880 proposes UNKNOWN_PRODUCER_ID again.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

unknown_producer: Final = Behaviour[ErrorCode](
    name="unknown-producer",
    summary="a producer id the partition does not know, with a sequence other than 0",
    answers={
        "out-of-order-sequence-number": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        "unknown-producer-id": ErrorCode.UNKNOWN_PRODUCER_ID,
        "accepted": ErrorCode.NONE,
    },
    history=(("0.11", "out-of-order-sequence-number"), ("1.0", "unknown-producer-id"), ("2.5", "accepted")),
    ids=("KAFKA-5793", "KIP-360", "KAFKA-19880"),
    fixed="unknown-producer-id",
)

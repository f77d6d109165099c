"""`stale-duplicate`: a duplicate of a batch that is no longer among the remembered ones (KIP-185).

A client that sends such a batch again gets OUT_OF_ORDER_SEQUENCE_NUMBER, as if records were lost. KIP-185
proposes DUPLICATE_SEQUENCE_NUMBER, which tells it that the batch was appended; no release ever sent that.
"""

from typing import Final

from ...protocol.errors import ErrorCode
from ..behaviour import Behaviour

stale_duplicate: Final = Behaviour[ErrorCode](
    name="stale-duplicate",
    summary="a duplicate of a batch that is not remembered any more",
    answers={
        "out-of-order-sequence-number": ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        "duplicate-sequence-number": ErrorCode.DUPLICATE_SEQUENCE_NUMBER,
    },
    history=(("0.11", "out-of-order-sequence-number"),),
    ids=("KIP-185", "KAFKA-5793"),
    fixed="duplicate-sequence-number",
)

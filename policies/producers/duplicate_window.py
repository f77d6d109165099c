"""`duplicate-window`: how many last batches of a producer are remembered to recognise duplicates
(KAFKA-5494).

A client that sends a batch again gets the base offset at which it was first appended, if it is the producer's
last batch (0.11) or one of its last five (since 1.0). For older ones it gets OUT_OF_ORDER_SEQUENCE_NUMBER.
"""

from typing import Final

from ..behaviour import Behaviour

duplicate_window: Final = Behaviour[int](
    name="duplicate-window",
    summary="how many of a producer's last batches are remembered to recognise duplicates",
    answers={"1": 1, "5": 5},
    history=(("0.11", "1"), ("1.0", "5")),
    ids=("KAFKA-5494",),
)

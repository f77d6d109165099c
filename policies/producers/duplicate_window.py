"""`duplicate-window`: of how many last batches per producer a duplicate is recognised (KAFKA-5494).

A client that sends a batch again gets its old base offset for the last batch on 0.11, for the last five since
1.0; older ones are OUT_OF_ORDER_SEQUENCE_NUMBER.
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

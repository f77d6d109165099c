"""`adding-sequence`: a batch adds its partition to a transaction (Produce v12), the partition does not know
its producer, and its sequence is not 0 (KAFKA-18202).

A producer that bumps its epoch with each transaction begins at 0 in each partition, so records before this
one are missing. With `any`, up to 4.0, the batch is appended, and the loss stays hidden. With `zero`, since
4.1, the client gets OUT_OF_ORDER_SEQUENCE_NUMBER and has to abort.
"""

from typing import Final, Literal

from ..behaviour import Switch

adding_sequence: Final = Switch[Literal["any", "zero"]](
    name="adding-sequence",
    summary="whether the batch that adds its partition to a transaction may have any sequence",
    answers={"any": False, "zero": True},
    history=(("0.11", "any"), ("4.1", "zero")),
    ids=("KAFKA-18202", "KIP-890"),
)

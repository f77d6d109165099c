"""`verified-sequence`: which batch of a producer may be the first after verification (KAFKA-14920).

A client sends several batches at once, and the verification of the first fails with a retriable error. With
`any`, the second is appended, and then the first always gets OUT_OF_ORDER_SEQUENCE_NUMBER. With `lowest`, as
in every release that verifies, the second is refused until the first has been appended.
"""

from typing import Final, Literal

from ..behaviour import Switch

verified_sequence: Final = Switch[Literal["any", "lowest"]](
    name="verified-sequence",
    summary="whether the lowest sequence that was seen has to be appended first",
    answers={"any": False, "lowest": True},
    history=(("0.11", "lowest"),),
    ids=("KAFKA-14904", "KAFKA-14920"),
)

"""`message-sets`: what a set of messages of magic 0 and 1 may have (KAFKA-8106, KIP-467).

Up to 2.3 it may have several compressed messages, and messages of both formats; what is wrong with one, or
with a record of a batch, gets CORRUPT_MESSAGE. Since 2.4 it has one compressed message, or others, all of one
format, and what contradicts that gets INVALID_RECORD.
"""

from typing import Final, Literal

from ..behaviour import Switch

message_sets: Final = Switch[Literal["mixed", "uniform"]](
    name="message-sets",
    summary="whether a set of old messages may have several compressed ones, and both formats",
    answers={"mixed": True, "uniform": False},
    history=(("0.11", "mixed"), ("2.4", "uniform")),
    ids=("KAFKA-8106", "KIP-467"),
)

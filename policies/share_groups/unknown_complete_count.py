"""`unknown-complete-count`: what WriteShareGroupState does without the number of records that are done.

Up to 4.3 that number is unknown from then on (`replaces`), and a client that asks for the lag of the group
gets -1. Since 4.4 the number that was known stays (`kept`).
"""

from typing import Final, Literal

from ..behaviour import Switch

unknown_complete_count: Final = Switch[Literal["replaces", "kept"]](
    name="unknown-complete-count",
    summary="whether a write without the number of records that are done makes that number unknown",
    answers={"replaces": False, "kept": True},
    history=(("0.11", "replaces"), ("4.4", "kept")),
    ids=("KIP-1226",),
)

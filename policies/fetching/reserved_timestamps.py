"""`reserved-timestamps`: timestamps below -2 in ListOffsets of version 0 (KAFKA-16480).

Up to 3.8 they are looked up, and nothing is that old. Since 3.9 they get UNSUPPORTED_VERSION.
"""

from typing import Final, Literal

from ..behaviour import Switch

reserved_timestamps: Final = Switch[Literal["looked-up", "refused"]](
    name="reserved-timestamps",
    summary="whether ListOffsets version 0 refuses timestamps that have no meaning in it",
    answers={"looked-up": False, "refused": True},
    history=(("0.11", "looked-up"), ("3.9", "refused")),
    ids=("KAFKA-16480",),
)

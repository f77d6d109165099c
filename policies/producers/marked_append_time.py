"""`marked-append-time`: messages of magic 1 whose producer says that a broker has set their timestamp
(KIP-937).

Up to 3.5 they get INVALID_TIMESTAMP. Since 3.6 they do where brokers set timestamps, and where a timestamp is
missing; others are appended.
"""

from typing import Final, Literal

from ..behaviour import Switch

marked_append_time: Final = Switch[Literal["refused", "tolerated"]](
    name="marked-append-time",
    summary="whether messages of a producer may say that a broker has set their timestamp",
    answers={"refused": False, "tolerated": True},
    history=(("0.11", "refused"), ("3.6", "tolerated")),
    ids=("KIP-937",),
)

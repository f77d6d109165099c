"""`last-stable-offset`: whether a Fetch with read_uncommitted is told the last stable offset (KIP-98).

Up to 2.0 such a client gets -1. Since 2.1 it gets the offset at which the first open transaction begins, or
the high watermark if no transaction is open below it.
"""

from typing import Final, Literal

from ..behaviour import Switch

last_stable_offset: Final = Switch[Literal["to-read-committed", "always"]](
    name="last-stable-offset",
    summary="whether a Fetch with read_uncommitted is told the last stable offset",
    answers={"to-read-committed": False, "always": True},
    history=(("0.11", "to-read-committed"), ("2.1", "always")),
    ids=("KIP-98",),
)

"""`last-stable-offset`: whether a Fetch with read_uncommitted is told the last stable offset (KIP-98).

Such a client sees -1 up to 2.0, and since 2.1 where the first open transaction begins, or the high watermark.
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

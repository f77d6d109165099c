"""`down-conversion`: the size of records that are converted for a Fetch of an old version (KIP-283).

Up to 1.1 a broker converts all records before it answers. Since 2.0 it converts them while it sends the
answer, whose size it has to announce before: records that have become larger are cut off, and where they have
become smaller, the beginning of a message follows that is too large for any consumer, which ignores it. With
`never-empty` there is also such a beginning, of 12 bytes, where there is nothing to read.
"""

from typing import Final

from ..behaviour import Behaviour

down_conversion: Final = Behaviour[int | None](
    name="down-conversion",
    summary="whether records that are converted for an old Fetch have as many bytes as before",
    answers={"exact": None, "never-empty": 12, "padded": 0},
    history=(("0.11", "exact"), ("2.0", "never-empty"), ("3.0", "padded")),
    ids=("KIP-283",),
)

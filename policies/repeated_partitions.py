"""`repeated-partitions`: OffsetCommit or OffsetFetch names a partition twice.

Up to 3.9 a client finds it once in the answer, and a topic without partitions not at all; since 4.0 the
answer has whatever was asked, as often as it was asked.
"""

from typing import Final

from .behaviour import Behaviour

BEHAVIOUR: Final = Behaviour[bool](
    name="repeated-partitions",
    summary="whether OffsetCommit and OffsetFetch answer a partition that is named twice once",
    answers={"once": True, "each": False},
    history=(("0.11", "once"), ("4.0", "each")),
    ids=("KIP-848",),
)

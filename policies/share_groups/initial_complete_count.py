"""`initial-complete-count`: how many records of a share partition are done when its state is initialized.

Up to 4.2 that is not known (-1), so that DescribeShareGroupOffsets has no lag before the first record was
acknowledged. Since 4.3 none are (0).
"""

from typing import Final

from ..behaviour import Behaviour

initial_complete_count: Final = Behaviour[int](
    name="initial-complete-count",
    summary="how many records of a share partition count as done when its state is initialized",
    answers={"unknown": -1, "none": 0},
    history=(("0.11", "unknown"), ("4.3", "none")),
    ids=("KIP-1226",),
)

"""`initial-complete-count`: how many records of a share partition are done when its state is initialized.

Up to 4.2 that is not known (-1), so that DescribeShareGroupOffsets has no lag before the first record was
acknowledged (`unknown`). Since 4.3 none are (0), if it is known where the group begins (`none`); until then,
-1.
"""

from collections.abc import Callable
from typing import Final

from ...protocol.share_state_log import UNKNOWN
from ..behaviour import Behaviour

Answer = Callable[[int], int]
"""The number for the offset at which the group begins."""


def _unknown(start_offset: int) -> int:
    return UNKNOWN


def _none(start_offset: int) -> int:
    return UNKNOWN if start_offset == UNKNOWN else 0


initial_complete_count: Final = Behaviour[Answer](
    name="initial-complete-count",
    summary="how many records of a share partition count as done when its state is initialized",
    answers={"unknown": _unknown, "none": _none},
    history=(("0.11", "unknown"), ("4.3", "none")),
    ids=("KIP-1226",),
)

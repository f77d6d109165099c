"""`epoch-below-first`: a leader epoch below the first cached one is asked for (KAFKA-7415).

Since 2.0.1 a client gets the epoch that it asked for, with the start offset of the first cached one; before
that it got (-1, -1).
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[int, int, int], tuple[int, int]]
"""(requested epoch, start offset of the first cached epoch, log end offset) -> (leader epoch, end offset)."""


def requested_epoch(requested: int, first_start: int, log_end_offset: int) -> tuple[int, int]:
    return requested, first_start


def undefined(requested: int, first_start: int, log_end_offset: int) -> tuple[int, int]:
    return -1, -1


def log_end_offset(requested: int, first_start: int, log_end_offset: int) -> tuple[int, int]:
    return requested, log_end_offset


epoch_below_first: Final = Behaviour[Answer](
    name="epoch-below-first",
    summary="OffsetForLeaderEpoch asked for an epoch below the first cached one",
    answers={"requested-epoch": requested_epoch, "undefined": undefined, "log-end-offset": log_end_offset},
    history=(("0.11", "undefined"), ("2.0", "requested-epoch")),
    ids=("KAFKA-7415",),
)

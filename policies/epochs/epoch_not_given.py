"""`epoch-not-given`: epoch -1 is asked for (KAFKA-6857).

A client gets (-1, -1). With `latest-epoch`, as before 0.11.0.3, 1.0.2 and 1.1.1, -1 is looked up like any
other epoch: until something is written, no epoch is known, so -1 counts as the latest one, and the answer is
the log end offset. With `log-end-offset` that is the answer in any case. The releases here stand for patches
that have the fix.
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[int, int], tuple[int, int]]
"""(latest cached epoch, log end offset) -> (leader epoch, end offset)."""


def undefined(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
    return -1, -1


def latest_epoch(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
    return -1, log_end_offset if latest_epoch == -1 else -1


def log_end_offset(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
    return -1, log_end_offset


epoch_not_given: Final = Behaviour[Answer](
    name="epoch-not-given",
    summary="OffsetForLeaderEpoch asked for epoch -1",
    answers={"undefined": undefined, "latest-epoch": latest_epoch, "log-end-offset": log_end_offset},
    history=(("0.11", "undefined"),),
    ids=("KAFKA-6857",),
)

"""`undefined-epoch`: a leader epoch above all that the leader knows is asked for (KAFKA-19902).

With `undefined`, as in Kafka, OffsetForLeaderEpoch answers (-1, -1), and a consumer resets its position. With
`log-end-offset`, as KAFKA-19902 proposes, it answers the largest cached epoch and the log end offset, and the
consumer truncates its position or goes on.
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[int, int], tuple[int, int]]
"""(latest cached epoch, log end offset) -> (leader epoch, end offset)."""


def undefined(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
    return -1, -1


def log_end_offset(latest_epoch: int, log_end_offset: int) -> tuple[int, int]:
    return latest_epoch, log_end_offset


undefined_epoch: Final = Behaviour[Answer](
    name="undefined-epoch",
    summary="OffsetForLeaderEpoch asked for an epoch above all cached ones",
    answers={"undefined": undefined, "log-end-offset": log_end_offset},
    history=(("0.11", "undefined"),),
    ids=("KAFKA-19902",),
    fixed="log-end-offset",
)

"""`epoch-not-given`: epoch -1 is asked for (KAFKA-6857).

A client sees (-1, -1), as every release measured answers; `log-end-offset` is what the report describes for
releases before 1.0.2, 1.1.1 and 2.0.0.
"""

from collections.abc import Callable
from typing import Final

from .behaviour import Behaviour

Answer = Callable[[int], tuple[int, int]]
"""(log end offset) -> (leader epoch, end offset)."""


def undefined(log_end_offset: int) -> tuple[int, int]:
    return -1, -1


def log_end_offset(log_end_offset: int) -> tuple[int, int]:
    return -1, log_end_offset


BEHAVIOUR: Final = Behaviour[Answer](
    name="epoch-not-given",
    summary="OffsetForLeaderEpoch asked for epoch -1",
    answers={"undefined": undefined, "log-end-offset": log_end_offset},
    history=(("0.11", "undefined"),),
    ids=("KAFKA-6857",),
)

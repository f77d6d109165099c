"""`fetch-past-end`: a Fetch at an offset that is in the log but beyond what the client may read yet.

This happens while the high watermark lags behind, or with read_committed the last stable offset. Up to 3.7
the Fetch waits as it does for any data. Since 3.8 it gets an empty answer at once; since 4.0 it does so only
if the batch that holds the offset begins beyond that limit, so it waits if the offset lies within the first
batch that it may not read.
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[int, int, int], bool]
"""(fetch offset, base offset of its batch, end of what may be read) -> whether it is answered at once."""


def waits(offset: int, batch_base: int, end: int) -> bool:
    return False


def at_once(offset: int, batch_base: int, end: int) -> bool:
    return offset > end


def at_once_past_batch(offset: int, batch_base: int, end: int) -> bool:
    return batch_base > end


fetch_past_end: Final = Behaviour[Answer](
    name="fetch-past-end",
    summary="a Fetch at an offset beyond what the client may read yet",
    answers={"waits": waits, "at-once": at_once, "at-once-past-batch": at_once_past_batch},
    history=(("0.11", "waits"), ("3.8", "at-once"), ("4.0", "at-once-past-batch")),
)

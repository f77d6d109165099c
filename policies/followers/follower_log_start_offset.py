"""`follower-log-start-offset`: a leader tells a follower a log start offset past its high watermark.

With `fails`, as in Kafka to this day, the follower can't move its log start offset there, and its fetcher
dies. With `bounded`, as KAFKA-7104 proposes in addition to its fix, it moves it to its own log end offset;
its next fetch is then out of range, and it begins again at the leader's log start offset.
"""

from collections.abc import Callable
from typing import Final

from ..behaviour import Behaviour

Answer = Callable[[int, int], int | None]
"""(leader's log start offset, own high watermark, which is at most the log end offset) -> the new log start
offset, None if there can be none."""


def fails(leaders_start: int, high_watermark: int) -> int | None:
    return leaders_start if leaders_start <= high_watermark else None


def bounded(leaders_start: int, high_watermark: int) -> int | None:
    return min(leaders_start, high_watermark)


follower_log_start_offset: Final = Behaviour[Answer](
    name="follower-log-start-offset",
    summary="a follower is told a log start offset past its own high watermark",
    answers={"fails": fails, "bounded": bounded},
    history=(("0.11", "fails"),),
    ids=("KAFKA-7104",),
    fixed="bounded",
)

"""`empty-epochs`: a log is cut at its end, where a leader epoch begins that wrote nothing (KAFKA-10706).

With `dropped` that epoch is removed. With `kept`, as up to 2.6.0, it stays, and a follower that truncates by
`epoch` (see `follower-truncation`) asks its leader about it for ever: it is stuck, and leaves the ISR.
"""

from typing import Final, Literal

from ..behaviour import Switch

empty_epochs: Final = Switch[Literal["dropped", "kept"]](
    name="empty-epochs",
    summary="whether truncating a log at its end drops a leader epoch in which nothing was written",
    answers={"dropped": False, "kept": True},
    history=(("0.11", "kept"), ("2.6", "dropped")),
    ids=("KAFKA-10706",),
    fixed="dropped",
)

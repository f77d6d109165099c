"""`marker-timestamp`: whether a transaction marker counts as activity of its producer (KAFKA-9144).

With `ignored`, a producer of which the log has only markers expires at the next check, and with it the
coordinator epoch that fences old coordinators. The last stable offset may then be held back by a transaction
that nobody ends, and read_committed consumers wait there. Since 2.4.1 the marker's timestamp is `kept`.
"""

from typing import Final, Literal

from ..behaviour import Switch

marker_timestamp: Final = Switch[Literal["ignored", "kept"]](
    name="marker-timestamp",
    summary="whether a marker renews its producer, so that it expires later",
    answers={"ignored": False, "kept": True},
    history=(("0.11", "ignored"), ("2.4", "kept")),
    ids=("KAFKA-9144",),
)

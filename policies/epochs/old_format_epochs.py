"""`old-format-epochs`: whether leaders and followers remember leader epochs of topics whose records are kept
in a format from before 0.11, which has none (KAFKA-7897).

With `forgotten` OffsetForLeaderEpoch is answered (-1, -1) for such a topic, a follower truncates its log to
the high watermark, and when the format is raised the next batch begins the first epoch that is known. Brokers
of 2.0.1 and 2.3.1 were asked; that 2.1.1 forgets them is known from its source (`Log.scala`).
"""

from typing import Final, Literal

from ..behaviour import Switch

old_format_epochs: Final = Switch[Literal["kept", "forgotten"]](
    name="old-format-epochs",
    summary="whether leader epochs are remembered where message formats are older than 0.11",
    answers={"kept": True, "forgotten": False},
    history=(("0.11", "kept"), ("2.1", "forgotten")),
    ids=("KAFKA-7897",),
)

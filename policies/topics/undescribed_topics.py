"""`undescribed-topics`: DescribeLogDirs names some topics, and the broker has others (KAFKA-16807).

From 2.6 to 3.6 a client that asks for one topic sees all that have a replica on the broker, the others
without partitions. Before and since they are left out, as is a topic of which no partition that was asked for
is there.
"""

from typing import Final, Literal

from ..behaviour import Switch

undescribed_topics: Final = Switch[Literal["left-out", "without-partitions"]](
    name="undescribed-topics",
    summary="whether DescribeLogDirs answers topics that it was not asked for",
    answers={"left-out": False, "without-partitions": True},
    history=(("0.11", "left-out"), ("2.6", "without-partitions"), ("3.7", "left-out")),
    ids=("KAFKA-16807",),
)

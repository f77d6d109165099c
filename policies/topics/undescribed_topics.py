"""`undescribed-topics`: DescribeLogDirs names some topics, and the broker has others (KAFKA-16807).

From 2.6 to 3.6 a client that asks for one topic gets all topics with a replica on the broker, the others
without partitions. Before and since, these are left out, and so is a topic if none of the requested
partitions exist.
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

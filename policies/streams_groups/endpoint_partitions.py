"""`endpoint-partitions`: for which partitions of a topic a member of a streams group can be asked, where the
topic has fewer partitions than its subtopology has tasks.

Up to 4.3 as many as it has tasks, from the first of its tasks on, whether the topic has these partitions or
not (`as-many`). Since 4.4 those of its tasks that the topic has; warm-up tasks count as standby tasks
(`those-there`).
"""

from typing import Final, Literal

from ..behaviour import Switch

endpoint_partitions: Final = Switch[Literal["as-many", "those-there"]](
    name="endpoint-partitions",
    summary="which partitions of a small topic belong to an endpoint of a streams group",
    answers={"as-many": False, "those-there": True},
    history=(("0.11", "as-many"), ("4.4", "those-there")),
    ids=("KIP-1071",),
)

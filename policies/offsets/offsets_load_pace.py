"""`offsets-load-pace`: how long a coordinator takes to load its partitions of `__consumer_offsets`.

Meanwhile its groups get COORDINATOR_LOAD_IN_PROGRESS. With `fast` no time passes in the cluster. With `slow`
each partition is read at ten records a second, as if nothing had compacted it for a long time: 10,000 records
take 17 minutes.
"""

from typing import Final, Literal

from ..behaviour import Switch

offsets_load_pace: Final = Switch[Literal["fast", "slow"]](
    name="offsets-load-pace",
    summary="how long a coordinator takes to load committed offsets and groups",
    answers={"fast": False, "slow": True},
    history=(("0.11", "fast"),),
)

"""`replicas-of-new-partitions`: how many replicas new partitions of a topic get (KAFKA-12471).

After a reassignment the partitions of a topic may have different numbers of replicas. With ZooKeeper new ones
get as many as partition 0 has. A KRaft controller takes the number from whichever partition comes first in a
hash table: clients see other numbers, and INVALID_REPLICA_ASSIGNMENT for assignments that ZooKeeper would
accept.
"""

from typing import Final, Literal

from ..behaviour import Switch

replicas_of_new_partitions: Final = Switch[Literal["as-partition-0", "as-first-in-table"]](
    name="replicas-of-new-partitions",
    summary="which partition says how many replicas new ones get",
    answers={"as-partition-0": True, "as-first-in-table": False},
    history=(("0.11", "as-partition-0"), ("3.3", "as-first-in-table")),
    ids=("KAFKA-12471",),
)

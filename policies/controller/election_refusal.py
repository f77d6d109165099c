"""`election-refusal`: what ElectLeaders answers for partitions for which no leader is elected (KIP-460).

A client sees the controller's text in the error messages: with ZooKeeper it names the strategy that failed.
"""

from typing import Final, NamedTuple

from ..behaviour import Behaviour


class Words(NamedTuple):
    """Messages for a topic or partition that does not exist, and for when the preferred replica, or any
    replica, can't lead; with the fields `topic` and `partition`."""

    unknown_topic: str
    unknown_partition: str
    preferred: str
    eligible: str


_FAILED: Final = "Failed to elect leader for partition {topic}-{partition} under strategy "

election_refusal: Final = Behaviour[Words](
    name="election-refusal",
    summary="what ElectLeaders answers for partitions for which no leader is elected",
    answers={
        "strategy": Words(
            unknown_topic="The partition does not exist.",
            unknown_partition="The partition does not exist.",
            preferred=_FAILED + "PreferredReplicaPartitionLeaderElectionStrategy",
            eligible=_FAILED + "OfflinePartitionLeaderElectionStrategy(true)",
        ),
        "plain": Words(
            unknown_topic="No such topic as {topic}",
            unknown_partition="No such partition as {topic}-{partition}",
            preferred="The preferred leader was not available.",
            eligible="Eligible topic partition leaders are not available.",
        ),
    },
    history=(("0.11", "strategy"), ("3.3", "plain")),
    ids=("KIP-460",),
)

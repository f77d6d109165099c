"""Which replica a consumer should read from (KIP-392; `RackAwareReplicaSelector.java`)."""

from typing import Final

from ..policies.fetching.preferred_replica import preferred_replica
from .replica import Replica

RACK_AWARE: Final = "org.apache.kafka.common.replica.RackAwareReplicaSelector"


def select(partition: Replica, rack: str, offset: int) -> int | None:
    """The follower to which its leader sends a consumer in `rack`, None if the consumer should read from the
    leader.

    Of the followers in that rack that have `offset`, as far as the leader knows, it is the one that lags
    least.
    """
    if not rack or partition.environment.configs.broker_text("replica.selector.class") != RACK_AWARE:
        return None
    host = partition.host
    if host.rack_of(partition.leader) == rack:
        return None
    may_be_preferred = partition.policies[preferred_replica]
    candidates = [
        each
        for each in partition.followers.values()
        if host.rack_of(each.broker) == rack
        and each.start_offset <= offset <= each.end_offset
        and may_be_preferred(each.broker in partition.isr, host.is_fenced(each.broker))
    ]
    best = max(candidates, key=lambda each: (each.end_offset, each.caught_up_ms, each.broker), default=None)
    return None if best is None else best.broker

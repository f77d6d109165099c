"""Eligible leader replicas: those that left an ISR below `min.insync.replicas`, and have lost nothing since
(KIP-966, `PartitionChangeBuilder.java`)."""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from ..metadata.image import PartitionRegistration
from ..policies.controller.eligible_leader_replicas import eligible_leader_replicas
from ..protocol.releases import facts
from .partition import ControlledPartition

FEATURE: Final = "eligible.leader.replicas.version"


def tracked(partition: ControlledPartition) -> bool:
    """Whether the controller tracks them; then the ISR may become empty. The feature decides once somebody
    has set it to another level than that which clusters of the release begin with."""
    environment = partition.state.environment
    level = partition.state.image.features.get(FEATURE, 0)
    if level != facts(environment.release).finalized_features.get(FEATURE, (0, 0))[0]:
        return level > 0
    return environment.policies[eligible_leader_replicas] == "tracked"


def after(
    partition: ControlledPartition,
    before: PartitionRegistration,
    isr: Collection[int],
    unclean_shutdown: int | None,
) -> list[int]:
    """The eligible replicas of a partition whose ISR becomes `isr`. A broker that was killed may have lost
    records."""
    if not tracked(partition):
        return []
    candidates = {*before.eligible_leader_replicas, *before.isr}.difference(isr, (unclean_shutdown,))
    if not candidates or len(isr) >= _min_insync_replicas(partition):
        return []
    return sorted(candidates)


def forget(partitions: Iterable[ControlledPartition]) -> None:
    """The topic's `min.insync.replicas` was set (`ReplicationControlManager.replay` of ClearElrRecord)."""
    for partition in partitions:
        before = partition.registered
        if before.eligible_leader_replicas or before.last_known_elr:
            partition.change(eligible_leader_replicas=(), last_known_elr=())


def last_known(
    partition: ControlledPartition, before: PartitionRegistration, leader: int | None
) -> Sequence[int]:
    """The last leader of a partition without leader, which may lead again if nobody else can, even if it was
    killed. `leader` is None if the change names none, -1 if the partition loses its leader."""
    if leader is None or not tracked(partition):
        return before.last_known_elr
    if leader >= 0:
        return ()
    return before.last_known_elr or (before.leader,)


def _min_insync_replicas(partition: ControlledPartition) -> int:
    """The setting, but no more than the topic's first partition has replicas."""
    first = partition.state.image.registered(partition.topic_id, 0)
    return min(partition.settings.min_insync_replicas, len(first.replicas))

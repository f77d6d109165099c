"""Reassignments: replicas move to other brokers while the partition is served (KIP-455,
`ReplicationControlManager.java`; with ZooKeeper `KafkaController.scala`)."""

from collections.abc import Sequence
from typing import Final

from ..metadata.records import NO_LEADER, PartitionChangeRecord
from ..policies.epochs.reassignment_epoch import reassignment_epoch
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from .partition import ControlledPartition
from .partition_change import Election, PartitionChange
from .topic_creation import check_brokers

BEGAN: Final = "it was reassigned"
"""Why a leader changed."""


def under_way(partition: ControlledPartition) -> bool:
    """Whether replicas are being added or removed."""
    registered = partition.registered
    return bool(registered.adding_replicas or registered.removing_replicas)


def original_replicas(partition: ControlledPartition) -> list[int]:
    """The replicas that the partition has again if the reassignment is cancelled."""
    return [each for each in partition.replicas if each not in partition.adding_replicas]


def replication_factor(partition: ControlledPartition) -> int:
    """How many replicas there are, or will be once the reassignment in progress has ended."""
    return len({*partition.replicas, *partition.adding_replicas} - {*partition.removing_replicas})


def begin(partition: ControlledPartition, target: Sequence[int]) -> None:
    """Moves the partition to the brokers of `target`, in that order. New replicas copy the log first, and
    those to be removed stay until then. It ends at once if nothing has to be copied.

    It replaces a reassignment in progress. ApiError INVALID_REPLICA_ASSIGNMENT.
    """
    check_brokers(partition.state, target)
    make(partition, records(partition, target))


def make(partition: ControlledPartition, changes: Sequence[PartitionChangeRecord]) -> None:
    """Writes the changes one after the other; ends the reassignment at once if nothing has to be copied."""
    with partition.reasons.because(BEGAN):
        partition.write(changes)
    complete(partition)


def records(partition: ControlledPartition, target: Sequence[int] | None) -> list[PartitionChangeRecord]:
    """The records that begin a reassignment or, without `target`, cancel one. ApiError as for `cancel`."""
    if target is None:
        return _cancelling(partition)
    if partition.policies[reassignment_epoch].at_each_step:
        return _in_steps(partition, target)
    change = PartitionChange(partition)
    removing = sorted(set(partition.replicas) - set(target))
    change.replicas = [*target, *removing]
    change.removing = removing or change.removing
    change.adding = sorted(set(target) - set(partition.replicas)) or change.adding
    change.election = Election.ONLINE
    return change.records()


def cancel(partition: ControlledPartition) -> None:
    """Removes the replicas that were being added. ApiError: NO_REASSIGNMENT_IN_PROGRESS, or
    INVALID_REPLICA_ASSIGNMENT if only new replicas are in sync.
    """
    with partition.reasons.because("its reassignment was cancelled"):
        partition.write(_cancelling(partition))


def _cancelling(partition: ControlledPartition) -> list[PartitionChangeRecord]:
    if not under_way(partition):
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    replicas = original_replicas(partition)
    if partition.policies[reassignment_epoch].at_each_step:
        return _in_steps(partition, replicas)
    change = PartitionChange(partition)
    change.isr = [each for each in partition.isr if each not in partition.adding_replicas]
    if not change.isr:
        if change.election is not Election.UNCLEAN:
            raise ApiError(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {partition.topic_name}:{partition.index} because "
                "it would require an unclean leader election.",
            )
        change.isr = replicas[:1]
    change.replicas, change.adding, change.removing = replicas, (), ()
    return change.records()


def resume(partition: ControlledPartition, broker: int) -> None:
    """A broker is back: with ZooKeeper, a reassignment to it repeats its first step."""
    target = [each for each in partition.replicas if each not in partition.removing_replicas]
    steps = partition.policies[reassignment_epoch].at_each_step
    if steps and under_way(partition) and broker in target and partition.leader != NO_LEADER:
        partition.bump_epoch()


def complete(partition: ControlledPartition) -> None:
    """Ends the reassignment in progress once the new replicas are in sync."""
    if not partition.deleted and under_way(partition):
        PartitionChange(partition).make()


def _in_steps(partition: ControlledPartition, target: Sequence[int]) -> list[PartitionChangeRecord]:
    """As with ZooKeeper: replicas that are no longer wanted are removed one by one
    (`onPartitionReassignment`)."""
    origin = original_replicas(partition)
    replicas = list(dict.fromkeys([*target, *origin]))
    change = PartitionChange(partition)
    change.isr = [each for each in partition.isr if each in replicas]
    change.replicas = replicas
    change.adding = [each for each in replicas if each not in origin]
    change.removing = [each for each in replicas if each not in target]
    change.steps = 1 + len(partition.isr) - len(change.isr)
    return change.records()

"""Elections that are asked for, and their results (KIP-183, KIP-460)."""

from ..metadata.records import NO_LEADER
from ..policies.controller.election_refusal import election_refusal
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from .partition import ControlledPartition, partitions
from .partition_change import Election, PartitionChange
from .state import ControllerState

_NOT_NEEDED = "Leader election not needed for topic partition."


def elect(partition: ControlledPartition) -> None:
    """Elects a leader from those that may lead, if the partition has none."""
    if partition.leader == NO_LEADER:
        PartitionChange(partition).make()


def elect_where_none_leads(state: ControllerState) -> None:
    """Elects leaders for all partitions that have none and can have one."""
    for partition in partitions(state, lambda registered: registered.leader == NO_LEADER):
        elect(partition)


def elect_preferred(partition: ControlledPartition) -> None:
    """Makes the first replica the leader. ApiError ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE."""
    if partition.leader == partition.replicas[0]:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, _NOT_NEEDED)
    if not _elects(partition, Election.PREFERRED):
        words = partition.policies[election_refusal].preferred
        raise ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, _about(partition, words))


def elect_unclean(partition: ControlledPartition) -> None:
    """Makes any replica that is online the leader of a partition without leader. ApiError
    ELECTION_NOT_NEEDED, ELIGIBLE_LEADERS_NOT_AVAILABLE."""
    if partition.leader != NO_LEADER:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, _NOT_NEEDED)
    if not _elects(partition, Election.UNCLEAN):
        words = partition.policies[election_refusal].eligible
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, _about(partition, words))


def _elects(partition: ControlledPartition, election: Election) -> bool:
    """Whether something changed."""
    change = PartitionChange(partition)
    change.election = election
    with partition.reasons.because(f"{election.name.lower()} election"):
        return change.make()


def _about(partition: ControlledPartition, words: str) -> str:
    return words.format(topic=partition.topic_name, partition=partition.index)


def move_leader(partition: ControlledPartition, to: int | None = None) -> bool:
    """Makes `next_leader` the leader. False, and nothing is changed, if there is none."""
    broker = next_leader(partition, to)
    if broker is None:
        return False
    with partition.reasons.because("it was moved"):
        partition.lead(broker)
    return True


def next_leader(partition: ControlledPartition, to: int | None = None) -> int | None:
    """`to`, or the next replica after the leader, if it may lead; None if none in the ISR could."""
    replicas = partition.replicas
    start = replicas.index(partition.leader) + 1 if partition.leader in replicas else 0
    candidates = [*replicas[start:], *replicas[:start]] if to is None else [to]
    for broker in candidates:
        if broker == partition.leader or broker not in partition.isr:
            continue
        if partition.state.may_lead(broker):
            return broker
    return None


def why_none_leads(partition: ControlledPartition, to: int | None = None) -> str:
    """Why there is no `next_leader`, for people."""
    name = f"{partition.topic_name}-{partition.index}"
    who = f"broker {to} can't" if to is not None else "no other broker can"
    why = f"broker {partition.leader} leads, the ISR is {partition.isr}"
    if len(partition.replicas) == 1:
        why = (
            f"broker {partition.replicas[0]} has its only replica; topics that are created by use get "
            "default.replication.factor of them"
        )
    return f"{who} become leader of {name}: {why}"

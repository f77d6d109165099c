"""What the controller decides: who leads, which brokers are there, where replicas lie
(`ReplicationControlManager.java`)."""

from typing import TYPE_CHECKING

from ..metadata.records import NO_LEADER, BrokerRegistrationChangeRecord, PartitionRecord
from ..policies.controller.broker_session import broker_session
from ..policies.controller.election_refusal import election_refusal
from ..policies.epochs.isr_shrink_epoch import isr_shrink_epoch
from ..policies.epochs.restart_epoch import restart_epoch
from ..protocol.api_error import ApiError
from ..protocol.errors import ErrorCode
from ..replication.states import FollowerEvent
from . import eligible, news, reassignments, topic_creation
from .liveness import Liveness
from .partition_change import Election, PartitionChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..replication.peers import Asking
    from .cluster import Cluster
    from .topic import Topic
    from .topic_partition import TopicPartition


_NOT_NEEDED = "Leader election not needed for topic partition."


def create_partition(topic: "Topic", index: int, replicas: "Sequence[int]") -> None:
    """Registers the next partition of a topic: brokers that are fenced don't lead it, and are not in sync."""
    cluster = topic.cluster
    isr = [broker for broker in replicas if not cluster.brokers[broker].fenced]
    leader = isr[0] if isr else NO_LEADER
    cluster.write(PartitionRecord(topic.id, index, replicas, isr or list(replicas), leader))


def stop_broker(cluster: "Cluster", broker: int) -> None:
    """Shuts a broker down: it leaves every ISR that has another member, and others lead its partitions."""
    if cluster.brokers[broker].online:
        cluster.brokers[broker].replicas.stop_fetching()
        _controlled_shutdown(cluster, broker)
    alone = len(cluster.brokers) == 1 and not cluster.environment.policies[restart_epoch].after_stop
    if _go_offline(cluster, broker, Liveness.STOPPED) and not alone:
        fence(cluster, broker)


def _controlled_shutdown(cluster: "Cluster", broker: int) -> None:
    """Others lead where one in sync can, before the broker is down."""
    for partition in _partitions_on(cluster, broker):
        others = [each for each in partition.isr if each != broker]
        if partition.leader == broker and any(cluster.brokers[each].electable for each in others):
            _leave(partition, broker)


def kill_broker(cluster: "Cluster", broker: int) -> None:
    """Ends a broker that tells nobody: nobody else leads its partitions until its session is over.

    A cluster's only broker is its controller too: nothing is decided before it is back.
    """
    if _go_offline(cluster, broker, Liveness.KILLED) and len(cluster.brokers) > 1:
        lose_contact(cluster, broker)


def start_broker(cluster: "Cluster", broker: int) -> None:
    """Brings a broker back with the logs it had: it follows, or leads what nobody else may.

    One that was killed comes back once its session is over: no other can register until then. Nor can one
    that does not reach the controller.
    """
    found = cluster.brokers[broker]
    match found.liveness:
        case Liveness.KILLED if not found.fenced and len(cluster.brokers) > 1:
            found.liveness = Liveness.RETURNING
        case Liveness.STOPPED | Liveness.KILLED if not found.hears_controller:
            found.liveness = Liveness.RETURNING
        case Liveness.STOPPED | Liveness.KILLED:
            _come_online(cluster, broker)


def _go_offline(cluster: "Cluster", broker: int, liveness: Liveness) -> bool:
    """False when it was down already."""
    found = cluster.brokers[broker]
    if not found.online:
        if found.liveness is Liveness.RETURNING:
            found.liveness = Liveness.KILLED
        return False
    found.replicas.close()
    found.liveness, found.closed_logs = liveness, liveness is Liveness.STOPPED
    found.groups.halt()
    cluster.broker_changes += 1
    return True


def lose_contact(cluster: "Cluster", broker: int) -> None:
    """The controller hears no more from a broker, which it fences once the session is over."""
    found = cluster.brokers[broker]
    if found.session is None and not found.fenced:
        environment = cluster.environment
        session_ms = environment.configs.broker_int(environment.policies[broker_session])
        found.session = environment.after(session_ms, lambda: _end_session(cluster, broker))


def _end_session(cluster: "Cluster", broker: int) -> None:
    fence(cluster, broker)
    register(cluster, broker)


def register(cluster: "Cluster", broker: int) -> None:
    """Lets a broker that waits come back, once it reaches the controller and its old session is over."""
    found = cluster.brokers[broker]
    if found.liveness is Liveness.RETURNING and found.fenced and found.hears_controller:
        _come_online(cluster, broker)


def fence(cluster: "Cluster", broker: int) -> None:
    """The controller takes leadership and its places in the ISR from a broker."""
    _register_as(cluster, broker, fenced=True)
    cluster.brokers[broker].cancel_session()
    cluster.active_controller.fenced(broker)
    for partition in _partitions_on(cluster, broker):
        if broker in partition.isr or broker == partition.leader:
            _leave(partition, broker)


def _leave(partition: "TopicPartition", broker: int) -> None:
    """A broker leads no more, and is in sync no more."""
    change = PartitionChange(partition)
    change.isr = [each for each in partition.isr if each != broker]
    change.shrink_bumps_epoch = partition.policies[isr_shrink_epoch].offline
    change.make()


def alter_isr(cluster: "Cluster", by: "Asking", isr: "Sequence[int]") -> bool:
    """A leader asks for another ISR; False when it is not the leader any more, or has not heard what the
    partition is now (`ReplicationControlManager.validateAlterPartitionData`)."""
    topic = cluster.topic_ids.get(by.topic.id)
    if topic is None:
        return False
    partition = topic.partitions[by.index]
    registered = partition.registered
    if registered.leader != by.broker or registered.leader_epoch != by.leader_epoch:
        return False
    if registered.partition_epoch != by.partition_epoch:
        return False
    change = PartitionChange(partition)
    change.isr = isr
    change.shrink_bumps_epoch = partition.policies[isr_shrink_epoch].lagging
    if not set(isr) <= set(partition.isr) and reassignments.under_way(partition):
        # It does not end now: who leads may change then, and the follower is in the midst of its fetch.
        change.completes = False
        partition.environment.wait(0, lambda: reassignments.complete(partition), owned=False)
    change.make()
    cluster.brokers[by.broker].replicas.update(topic, by.index, partition.registered)
    return True


def unfence(cluster: "Cluster", broker: int) -> None:
    """The controller hears of a broker again."""
    _register_as(cluster, broker, fenced=False)


def _register_as(cluster: "Cluster", broker: int, *, fenced: bool) -> None:
    if cluster.brokers[broker].fenced is not fenced:
        cluster.brokers[broker].fenced = fenced
        cluster.write(BrokerRegistrationChangeRecord(broker, fenced=fenced))


def _come_online(cluster: "Cluster", broker: int) -> None:
    found = cluster.brokers[broker]
    if not found.closed_logs:
        _register_after_kill(cluster, broker)
    found.liveness = Liveness.RUNNING
    found.replicas.reopen(clean=found.closed_logs)
    found.forget_sessions()
    cluster.broker_changes += 1
    news.catch_up(cluster, broker)
    unfence(cluster, broker)
    cluster.active_controller.appear()
    for partition in _partitions_on(cluster, broker):
        begun = partition.begun(broker)
        if partition.leader == broker:
            if not found.closed_logs and cluster.environment.policies[restart_epoch].after_kill:
                partition.lose_leader()
            elif begun is not None:
                begun.lead()
            if partition.topic.internal:
                cluster.leadership_changed(found, partition.topic.id, partition.index)
        if partition.leader == NO_LEADER:
            elect(partition)
        reassignments.resume(partition, broker)
        if begun is not None and begun.fetcher is not None:
            begun.fetcher.on(FollowerEvent.START)
    cluster.settle()


def _register_after_kill(cluster: "Cluster", broker: int) -> None:
    """It may have lost records: it is no longer eligible to lead (KIP-966)."""
    for partition in _partitions_on(cluster, broker):
        if eligible.tracked(partition) and broker in (*partition.isr, *partition.eligible_leader_replicas):
            change = PartitionChange(partition)
            change.isr = [each for each in partition.isr if each != broker]
            change.unclean_shutdown = broker
            change.make()


def elect(partition: "TopicPartition") -> None:
    """Elects a leader of those that may lead, if the partition has none."""
    PartitionChange(partition).make()


def elect_preferred(cluster: "Cluster", partition: "TopicPartition") -> None:
    """Makes the first replica the leader. ApiError ELECTION_NOT_NEEDED, PREFERRED_LEADER_NOT_AVAILABLE."""
    if partition.leader == partition.replicas[0]:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, _NOT_NEEDED)
    change = PartitionChange(partition)
    change.election = Election.PREFERRED
    if not change.make():
        words = partition.policies[election_refusal].preferred
        raise ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, _about(partition, words))


def elect_unclean(cluster: "Cluster", partition: "TopicPartition") -> None:
    """Gives a partition without leader any that is online. ApiError ELECTION_NOT_NEEDED,
    ELIGIBLE_LEADERS_NOT_AVAILABLE."""
    if partition.leader != NO_LEADER:
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED, _NOT_NEEDED)
    change = PartitionChange(partition)
    change.election = Election.UNCLEAN
    if not change.make():
        words = partition.policies[election_refusal].eligible
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE, _about(partition, words))


def _about(partition: "TopicPartition", words: str) -> str:
    return words.format(topic=partition.topic.name, partition=partition.index)


def move_leader(cluster: "Cluster", partition: "TopicPartition", to: int | None = None) -> bool:
    """Gives the partition to `next_leader`. False, and nothing is changed, when there is none."""
    broker = next_leader(cluster, partition, to)
    if broker is None:
        return False
    partition.lead(broker)
    return True


def next_leader(cluster: "Cluster", partition: "TopicPartition", to: int | None = None) -> int | None:
    """`to`, or the next replica after the leader, if it may lead: None when none in the ISR could."""
    replicas = partition.replicas
    start = replicas.index(partition.leader) + 1 if partition.leader in replicas else 0
    candidates = [*replicas[start:], *replicas[:start]] if to is None else [to]
    for broker in candidates:
        if broker == partition.leader or broker not in partition.isr:
            continue
        if cluster.brokers[broker].electable:
            return broker
    return None


def why_none_leads(partition: "TopicPartition", to: int | None = None) -> str:
    """Why there is no `next_leader`, for a person."""
    name = f"{partition.topic.name}-{partition.index}"
    who = f"broker {to} can't" if to is not None else "no other broker can"
    why = f"broker {partition.leader} leads, the ISR is {partition.isr}"
    if len(partition.replicas) == 1:
        why = (
            f"broker {partition.replicas[0]} has its only replica; topics that are created by use get "
            "default.replication.factor of them"
        )
    return f"{who} become leader of {name}: {why}"


def reassign(cluster: "Cluster", partition: "TopicPartition", replicas: "Sequence[int]") -> None:
    """Moves a partition to `replicas`. ApiError INVALID_REPLICA_ASSIGNMENT."""
    topic_creation.check_brokers(cluster, replicas)
    reassignments.begin(partition, replicas)


def _partitions_on(cluster: "Cluster", broker: int) -> "Iterator[TopicPartition]":
    return (partition for partition in cluster.partitions() if broker in partition.replicas)

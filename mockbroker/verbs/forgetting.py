"""What brokers forget, by the way in which they forget it themselves when its time is over."""

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.topic import TopicPartition
from .parameters import SomeProducer
from .subjects import BROKER, MEMBER, PARTITION, TRANSACTION, CoordinatedTransaction, GroupMember
from .verb import verb


def _needs_no_heartbeat(cluster: Cluster, member: GroupMember) -> str:
    if member.found.may_be_silent:
        return f"member {member.found.id} waits for its coordinator, and meanwhile its session does not end"
    return ""


@verb("evict-member", MEMBER, unless=_needs_no_heartbeat)
def evict_member(cluster: Cluster, member: GroupMember) -> None:
    """Ends the session of a group's member, as if it had sent no heartbeat for too long: the group rebalances
    without it."""
    member.coordinator.groups.end_session(member.group, member.found.id)


def _none_expires(cluster: Cluster, partition: TopicPartition, producer_id: SomeProducer = None) -> str:
    known, idle = set[int](), set[int]()
    for replica in partition.hosted:
        known.update(replica.log.producers.entries)
        idle.update(replica.log.producers.idle())
    place = f"{partition.topic.name}-{partition.index}"
    if producer_id is None:
        if idle:
            return ""
        return (
            f"{place} knows no producer" if not known else f"all producers of {place} have a transaction open"
        )
    if producer_id in idle:
        return ""
    if producer_id in known:
        return f"producer {producer_id} has a transaction open in {place}"
    return f"{place} does not know producer {producer_id}"


@verb("expire-producer", PARTITION, unless=_none_expires)
def expire_producer(cluster: Cluster, partition: TopicPartition, producer_id: SomeProducer = None) -> None:
    """Makes a partition forget a producer's sequence numbers, or those of all producers, on all replicas, as
    if it had written nothing there for `producer.id.expiration.ms`."""
    for replica in partition.hosted:
        producers = replica.log.producers
        producers.forget(each for each in producers.idle() if producer_id in (None, each))


def _is_open(cluster: Cluster, transaction: CoordinatedTransaction) -> str:
    coordinator, name = transaction.coordinator, transaction.transactional_id
    if coordinator.transactions.may_expire(name):
        return ""
    return f"a transaction of {name!r} is open or being ended: until it is over, the id does not expire"


@verb("expire-transactional-id", TRANSACTION, unless=_is_open)
def expire_transactional_id(cluster: Cluster, transaction: CoordinatedTransaction) -> None:
    """Makes the coordinator forget a transactional id, as if it had not been used for
    `transactional.id.expiration.ms`."""
    transaction.coordinator.transactions.expire(transaction.transactional_id)


def _has_no_sessions(cluster: Cluster, broker: Broker) -> str:
    return "" if broker.sessions.sessions else f"broker {broker.id} has no fetch sessions"


@verb("drop-fetch-sessions", BROKER, unless=_has_no_sessions)
def drop_fetch_sessions(cluster: Cluster, broker: Broker) -> None:
    """Makes a broker forget its fetch sessions, as if others had needed their slots: clients have to begin
    new ones (FETCH_SESSION_ID_NOT_FOUND)."""
    broker.sessions.clear()

"""What verbs act on, and how users name it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..cluster.endpoint import Endpoint
from ..cluster.topic import TopicPartition
from ..errors import NotThereError
from ..nearest import among, nearest
from ..replication.peers import Fetching
from .finding import find_broker, find_partition
from .parameters import (
    BrokerId,
    GroupId,
    ListenerName,
    MemberName,
    PartitionIndex,
    TopicName,
    TransactionalId,
    UserName,
)
from .signatures import Parameter, parameters

if TYPE_CHECKING:
    from ..coordinators.classic.member import ClassicMember
    from ..coordinators.consumer.member import ConsumerMember
    from ..coordinators.share.group import ShareMember
    from ..coordinators.streams.member import StreamsMember

S = TypeVar("S")


@dataclass(frozen=True)
class Subject(Generic[S]):
    """`find` is given a cluster and the `keys` that name the subject, and raises NotThereError."""

    name: str
    find: Callable[..., S]

    @cached_property
    def keys(self) -> dict[str, Parameter]:
        """The parameters that name it."""
        return parameters(self.find, behind=1)

    def named(self, cluster: Cluster, keys: dict[str, Any]) -> S:
        """The subject that `keys` name. NotThereError."""
        return self.find(cluster, **keys)


class Following(NamedTuple):
    """A follower, and the partition that it follows."""

    partition: TopicPartition
    follower: Fetching


class GroupMember(NamedTuple):
    """A member, its group, and the broker that coordinates it."""

    coordinator: Broker
    group: str
    found: "ClassicMember | ConsumerMember | ShareMember | StreamsMember"


class SharingGroup(NamedTuple):
    """A share group, and the broker that coordinates it."""

    coordinator: Broker
    name: str


class CoordinatedTransaction(NamedTuple):
    """A transactional id, and the broker that coordinates it."""

    coordinator: Broker
    transactional_id: str


def _broker(cluster: Cluster, broker: BrokerId) -> Broker:
    return find_broker(cluster, broker)


def _partition(cluster: Cluster, topic: TopicName, partition: PartitionIndex) -> TopicPartition:
    return find_partition(cluster, topic, partition)


def _follower(cluster: Cluster, topic: TopicName, partition: PartitionIndex, broker: BrokerId) -> Following:
    found = find_partition(cluster, topic, partition)
    find_broker(cluster, broker)
    if broker in found.followers:
        return Following(found, found.followers[broker])
    why = among(found.followers)
    if not found.followers:
        why = ", which has one replica: topics that are created by use get default.replication.factor of them"
    raise NotThereError(f"broker {broker} is no follower of {topic}-{partition}{why}")


def _group(cluster: Cluster, group: GroupId) -> TopicPartition:
    return cluster.offsets_partition(group)


def _transactional_id(cluster: Cluster, transactional_id: TransactionalId) -> TopicPartition:
    return cluster.transaction_partition(transactional_id)


def members(cluster: Cluster, group: str) -> list[GroupMember]:
    """The members of a group. NotThereError."""
    coordinator = cluster.coordinator(group)
    if coordinator is None:
        raise NotThereError(f"no broker coordinates the group {group!r} now")
    known = coordinator.groups.groups
    if group not in known:
        raise NotThereError(f"no group {group!r}{nearest(group, known) if known else ''}")
    return [GroupMember(coordinator, group, each) for each in known[group].members.values()]


def _share_group(cluster: Cluster, group: GroupId) -> SharingGroup:
    coordinator = cluster.coordinator(group)
    known = {} if coordinator is None else coordinator.groups.groups
    if coordinator is None or group not in known or known[group].type != "share":
        shared = [each.id for each in known.values() if each.type == "share"]
        raise NotThereError(f"no share group {group!r}{nearest(group, shared) if shared else ''}")
    return SharingGroup(coordinator, group)


def _member(cluster: Cluster, group: GroupId, member: MemberName) -> GroupMember:
    there = members(cluster, group)
    for name in ("id", "instance_id", "client_id"):
        found = [each for each in there if getattr(each.found, name) == member]
        if len(found) == 1:
            return found[0]
        if found:
            raise NotThereError(
                f"{len(found)} members of {group!r} have the client id {member!r}: give a member id"
            )
    names = [each.found.id for each in there]
    raise NotThereError(
        f"the group {group!r} has no member {member!r}{nearest(member, names) if names else ''}"
    )


def _transaction(cluster: Cluster, transactional_id: TransactionalId) -> CoordinatedTransaction:
    for broker in cluster.brokers.values():
        if broker.online and any(name == transactional_id for name, _ in broker.transactions):
            return CoordinatedTransaction(broker, transactional_id)
    raise NotThereError(f"no broker that runs coordinates a transactional id {transactional_id!r}")


class BrokerListener(NamedTuple):
    """A listener of a broker."""

    broker: Broker
    endpoint: Endpoint

    def __str__(self) -> str:
        return f"listener {self.endpoint.name} of broker {self.broker.id}"


def _listener(cluster: Cluster, broker: BrokerId, listener: ListenerName) -> BrokerListener:
    found = find_broker(cluster, broker)
    if listener not in found.endpoints:
        raise NotThereError(
            f"broker {broker} has no listener {listener!r}{nearest(listener, found.endpoints)}"
        )
    return BrokerListener(found, found.endpoints[listener])


class User(NamedTuple):
    """Somebody who logs in, or may some day."""

    cluster: Cluster
    name: str


def _user(cluster: Cluster, user: UserName) -> User:
    return User(cluster, user)


def _acls(cluster: Cluster) -> Cluster:
    return cluster


BROKER: Final = Subject("broker", _broker)
LISTENER: Final = Subject("listener", _listener)
PARTITION: Final = Subject("partition", _partition)
FOLLOWER: Final = Subject("follower", _follower)
GROUP: Final = Subject("group", _group)
"""A group's partition of `__consumer_offsets`: its leader is the group's coordinator."""
TRANSACTIONAL_ID: Final = Subject("transactional-id", _transactional_id)
"""A transactional id's partition of `__transaction_state`: its leader is the coordinator."""
MEMBER: Final = Subject("member", _member)
SHARE_GROUP: Final = Subject("share-group", _share_group)
TRANSACTION: Final = Subject("transactional-id", _transaction)
"""A transactional id that its coordinator knows."""
USER: Final = Subject("user", _user)
ACLS: Final = Subject("acl", _acls)
"""All of the cluster."""

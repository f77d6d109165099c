"""Descriptions of groups, their members and their committed offsets."""

from typing import TYPE_CHECKING, Final

from ..coordinators import assignments
from ..policies.offsets.offsets_load import offsets_load
from .values import CommittedOffset, GroupDescription, MemberDescription, TopicPartition

if TYPE_CHECKING:
    from ..cluster.cluster import Cluster
    from ..cluster.topic import TopicPartition as Partition
    from ..coordinators.classic.group import ClassicGroup
    from ..coordinators.classic.member import ClassicMember
    from ..coordinators.consumer.member import ConsumerMember
    from ..coordinators.groups import GroupCoordinator
    from ..coordinators.kinds import Group
    from ..coordinators.share.group import ShareMember
    from ..coordinators.streams.group import StreamsGroup
    from ..coordinators.streams.member import StreamsMember

_SKIPS: Final = offsets_load.answers["skips"]


def groups(cluster: "Cluster") -> dict[str, "Group"]:
    """By group id: groups that a coordinator has loaded, and what the log says about those that none has."""
    found: dict[str, Group] = {}
    topic = cluster.topics.get("__consumer_offsets")
    for partition in topic.partitions if topic is not None else ():
        if not _is_loaded(cluster, partition):
            found.update(_written(cluster, partition))
        else:
            cluster.written_groups.pop(partition.index, None)
    for broker in cluster.brokers.values():
        # Looking must not start a coordinator that nobody has asked yet.
        coordinator: GroupCoordinator | None = vars(broker).get("groups")
        for group in coordinator.groups.values() if coordinator is not None else ():
            if topic is None or topic.partitions[group.partition].leader == broker.id:
                found[group.id] = group
    return dict(sorted(found.items()))


def _is_loaded(cluster: "Cluster", partition: "Partition") -> bool:
    """Whether a coordinator has loaded a partition, or none needs to."""
    if not any(replica.log.end_offset for replica in partition.hosted):
        return True
    leader = cluster.brokers.get(partition.leader)
    return leader is not None and leader.online and leader.groups.shards.has_loaded(partition.index)


def _written(cluster: "Cluster", partition: "Partition") -> dict[str, "Group"]:
    """The groups of a partition, as the longest of its logs has them."""
    from ..coordinators.group_records import Layout
    from ..coordinators.loading import Loading

    replica = max(partition.hosted, key=lambda each: each.log.end_offset)
    environment, coordinator = cluster.environment, cluster.brokers[replica.broker].groups
    layout = Layout.of(environment.release, environment.policies)
    loading = cluster.written_groups.get(partition.index)
    if loading is None or not loading.goes_on(replica.log, layout):
        loading = cluster.written_groups[partition.index] = Loading(replica.log, layout, _SKIPS)
    for step in (loading.read(), loading.build()):
        for _ in step:
            pass
    return {
        group_id: coordinator.restored(group_id, partition.index, found)
        for group_id, found in loading.groups.items()
    }


def describe(cluster: "Cluster", group: "Group") -> GroupDescription:
    topic = cluster.topics.get("__consumer_offsets")
    leader = topic.partitions[group.partition].leader if topic is not None else -1
    if group.type == "classic":
        members = tuple(_member(group, each) for each in group.members.values())
    elif group.type == "share":
        members = tuple(_sharing(cluster, group.id, each) for each in group.members.values())
    elif group.type == "streams":
        members = tuple(_streaming(cluster, group, each) for each in group.members.values())
    else:
        members = tuple(_consumer(cluster, group.id, each) for each in group.members.values())
    return GroupDescription(
        group.id,
        group.state.value,
        leader if leader >= 0 and cluster.brokers[leader].online else None,
        group.protocol_type,
        group.protocol,
        group.generation,
        group.leader,
        members,
        group.type,
    )


def committed(group: "Group") -> dict[tuple[str, int], CommittedOffset]:
    """Valid offsets, in order of topics and partitions; those of open transactions are not valid yet."""
    return {
        TopicPartition(*key): CommittedOffset(
            each.offset,
            each.leader_epoch if each.leader_epoch >= 0 else None,
            each.metadata,
            each.commit_ms,
            each.expire_ms,
        )
        for key, each in sorted(group.offsets.committed.items())
    }


def _member(group: "ClassicGroup", member: "ClassicMember") -> MemberDescription:
    assignment = subscription = None
    if group.is_consumer:
        assigned = assignments.of_bytes(bytes(member.assignment))
        assignment = None if assigned is None else _places(assigned)
        metadata = (metadata for name, metadata in member.protocols if name == group.protocol)
        subscription = assignments.subscribed(bytes(next(metadata, b"")))
    return MemberDescription(
        member.id,
        member.instance_id,
        member.client_id,
        member.client_host,
        assignment,
        bytes(member.assignment),
        subscription,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
    )


def _consumer(cluster: "Cluster", group_id: str, member: "ConsumerMember") -> MemberDescription:
    from ..coordinators.consumer.settings import session_ms

    classic = member.classic
    return MemberDescription(
        member.id,
        member.instance_id,
        member.client_id,
        member.client_host,
        _places(assignments.named(cluster.topic_ids, member.assigned)),
        b"",
        member.topics.ordered,
        session_ms(cluster.configs, group_id) if classic is None else classic.session_ms,
        member.rebalance_timeout_ms,
        "consumer" if classic is None else "classic",
        member.epoch,
    )


def _sharing(cluster: "Cluster", group_id: str, member: "ShareMember") -> MemberDescription:
    from ..coordinators.share.settings import session_ms

    return MemberDescription(
        member.id,
        None,
        member.client_id,
        member.client_host,
        _places(assignments.named(cluster.topic_ids, member.assigned)),
        b"",
        member.topics.ordered,
        session_ms(cluster.configs, group_id),
        member.rebalance_timeout_ms,
        "share",
        member.epoch,
    )


def _places(found: tuple[tuple[str, int], ...]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition(*each) for each in found)


def _streaming(cluster: "Cluster", group: "StreamsGroup", member: "StreamsMember") -> MemberDescription:
    """The partitions that its active tasks read."""
    from ..coordinators.streams.member import task_names
    from ..coordinators.streams.settings import session_ms

    return MemberDescription(
        member.id,
        member.instance_id,
        member.client_id,
        member.client_host,
        tuple(
            sorted(
                TopicPartition(name, index)
                for name, index in group.read_by(member)
                if name in cluster.topics and index < len(cluster.topics[name].partitions)
            )
        ),
        b"",
        tuple(sorted(group.subscribed)),
        session_ms(cluster.configs, group.id),
        member.rebalance_timeout_ms,
        "streams",
        member.epoch,
        task_names(member.assigned.active),
        task_names(member.assigned.standby),
    )

"""Requests of members, and about groups and what they committed."""

from collections.abc import Iterator
from typing import Any

from mockbroker.protocol.api_keys import ApiKey
from mockbroker.protocol.messages import (
    common,
    consumer_group_describe,
    consumer_group_heartbeat,
    delete_groups,
    describe_groups,
    find_coordinator,
    heartbeat,
    leave_group,
    list_groups,
    offset_delete,
    offset_fetch,
    sync_group,
)

from ..many import BIG, TIMEOUT_MS, Many
from .about import about


@about(ApiKey.OFFSET_COMMIT)
def _offset_commit(many: Many) -> Iterator[Any]:
    yield many.commit(BIG, [(BIG, i) for i in range(many.n)])


@about(ApiKey.OFFSET_COMMIT, "to many groups")
def _offset_commits(many: Many) -> Iterator[Any]:
    for group in many.groups:
        yield many.commit(group, [(BIG, 0)])


@about(ApiKey.OFFSET_FETCH)
def _offset_fetch(many: Many) -> Iterator[Any]:
    many.commit_all()
    asked = [offset_fetch.OffsetFetchRequestGroup(group, topics=None) for group in [*many.groups, BIG]]
    yield offset_fetch.OffsetFetchRequest(groups=asked, require_stable=True)


@about(ApiKey.OFFSET_FETCH, "beside transactions")
def _offset_fetch_unstable(many: Many) -> Iterator[Any]:
    many.commit_all()
    many.init_all()
    for name in many.ids:
        many.send(many.commit_in_transaction(name, BIG, 1))
    partitions = list(range(many.n))
    topic = offset_fetch.OffsetFetchRequestTopics(many.cluster.topics[BIG].id, partitions, BIG)
    asked = [offset_fetch.OffsetFetchRequestGroup(BIG, topics=[topic])]
    yield offset_fetch.OffsetFetchRequest(groups=asked, require_stable=True)


@about(ApiKey.FIND_COORDINATOR)
def _find_coordinator(many: Many) -> Iterator[Any]:
    for key_type, keys in enumerate((many.groups, many.ids)):
        yield find_coordinator.FindCoordinatorRequest(key_type, keys)


@about(ApiKey.JOIN_GROUP)
def _join_group(many: Many) -> Iterator[Any]:
    """All join, the group rebalances, and all join again."""
    for _ in range(many.n):
        member_id = many.send(many.join()).member_id
        many.members.append(member_id)
        yield many.join(member_id)
    for member_id in many.members:
        yield many.join(member_id)


@about(ApiKey.JOIN_GROUP, "of static members")
def _join_static(many: Many) -> Iterator[Any]:
    for index in range(many.n):
        yield many.join(instance_id=f"instance-{index}")


@about(ApiKey.HEARTBEAT)
def _heartbeat(many: Many) -> Iterator[Any]:
    many.join_all()
    for member_id in many.members:
        yield heartbeat.HeartbeatRequest(BIG, many.generation, member_id)


@about(ApiKey.LEAVE_GROUP)
def _leave_group(many: Many) -> Iterator[Any]:
    many.join_all()
    yield leave_group.LeaveGroupRequest(BIG, [leave_group.MemberIdentity(each) for each in many.members])


@about(ApiKey.SYNC_GROUP)
def _sync_group(many: Many) -> Iterator[Any]:
    many.join_all()
    leader = many.cluster.brokers[1].groups.groups[BIG].leader
    assignments = [sync_group.SyncGroupRequestAssignment(each, b"a") for each in many.members]
    for member_id in many.members:
        yield sync_group.SyncGroupRequest(
            BIG, many.generation, member_id, assignments=assignments if member_id == leader else []
        )


@about(ApiKey.DESCRIBE_GROUPS)
def _describe_groups(many: Many) -> Iterator[Any]:
    many.commit_all()
    many.join_all()
    yield describe_groups.DescribeGroupsRequest([*many.groups, BIG])


@about(ApiKey.CONSUMER_GROUP_HEARTBEAT)
def _consumer_group_heartbeat(many: Many) -> Iterator[Any]:
    for number in range(many.n):
        yield _joins_consumer_group(many, number)


@about(ApiKey.CONSUMER_GROUP_DESCRIBE)
def _consumer_group_describe(many: Many) -> Iterator[Any]:
    for number in range(many.n):
        many.send(_joins_consumer_group(many, number))
    yield consumer_group_describe.ConsumerGroupDescribeRequest(["consumers", *many.groups, BIG])


def _joins_consumer_group(many: Many, number: int) -> consumer_group_heartbeat.ConsumerGroupHeartbeatRequest:
    return consumer_group_heartbeat.ConsumerGroupHeartbeatRequest(
        "consumers",
        f"member-{number}",
        rebalance_timeout_ms=TIMEOUT_MS,
        subscribed_topic_names=[BIG],
        topic_partitions=[],
    )


@about(ApiKey.LIST_GROUPS)
def _list_groups(many: Many) -> Iterator[Any]:
    many.commit_all()
    yield list_groups.ListGroupsRequest(["Empty", "Stable"])


@about(ApiKey.DELETE_GROUPS)
def _delete_groups(many: Many) -> Iterator[Any]:
    many.commit_all()
    yield delete_groups.DeleteGroupsRequest(many.groups)


@about(ApiKey.OFFSET_DELETE)
def _offset_delete(many: Many) -> Iterator[Any]:
    many.commit_all()
    partitions = [common.PartitionIndex(i) for i in range(many.n)]
    yield offset_delete.OffsetDeleteRequest(BIG, [offset_delete.OffsetDeleteRequestTopic(BIG, partitions)])

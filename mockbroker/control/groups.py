"""Operations that look at groups: their members, and what they committed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, TypedDict

from ..contents import groups as contents
from ..contents.values import CommittedOffset, GroupDescription, TopicPartition
from ..errors import NotThereError
from ..nearest import nearest
from .registry import operation
from .target import Target

if TYPE_CHECKING:
    from ..coordinators.kinds import Group

GroupId = Annotated[str, "A group's id."]


class GroupListing(TypedDict):
    """A group in short."""

    group_id: str
    type: str
    state: str
    coordinator: int | None
    protocol_type: str | None
    protocol: str | None
    members: int


class Assigned(TypedDict):
    """A partition."""

    topic: str
    partition: int


class MemberState(TypedDict):
    """`assignment` and `subscription` are null if the group's members are not consumers, or if they can't be
    read. `type` is the protocol that the member uses; `epoch` is null in classic groups."""

    member_id: str
    group_instance_id: str | None
    client_id: str
    host: str
    assignment: list[Assigned] | None
    subscription: list[str] | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    type: str
    epoch: int | None


class GroupState(TypedDict):
    """`leader` is a member's id; `coordinator` is null while there is none."""

    group_id: str
    type: str
    state: str
    coordinator: int | None
    protocol_type: str | None
    protocol: str | None
    generation: int
    leader: str | None
    members: list[MemberState]


class Committed(TypedDict):
    """`leader_epoch` is null if the client gave none, and `expire_ms` if it set no retention time."""

    topic: str
    partition: int
    offset: int
    leader_epoch: int | None
    metadata: str
    commit_ms: int
    expire_ms: int | None


@operation("groups list", "GET", "/groups")
def list_groups(target: Target) -> list[GroupListing]:
    """Lists every group."""
    return [
        {
            "group_id": each.group_id,
            "type": each.type,
            "state": each.state,
            "coordinator": each.coordinator,
            "protocol_type": each.protocol_type,
            "protocol": each.protocol,
            "members": len(each.members),
        }
        for each in groups(target).values()
    ]


@operation("groups committed", "GET", "/groups/{group}/committed")
def list_committed(target: Target, group: GroupId) -> list[Committed]:
    """Shows the offsets that a group has committed, by topic and partition."""
    return [
        {
            "topic": topic,
            "partition": partition,
            "offset": each.offset,
            "leader_epoch": each.leader_epoch,
            "metadata": each.metadata,
            "commit_ms": each.commit_ms,
            "expire_ms": each.expire_ms,
        }
        for (topic, partition), each in committed(target, group).items()
    ]


@operation("groups show", "GET", "/groups/{group}")
def show(target: Target, group: GroupId) -> GroupState:
    """Shows a group's state, its members and the partitions assigned to them."""
    found = group_named(target, group)
    return {
        "group_id": found.group_id,
        "type": found.type,
        "state": found.state,
        "coordinator": found.coordinator,
        "protocol_type": found.protocol_type,
        "protocol": found.protocol,
        "generation": found.generation,
        "leader": found.leader,
        "members": [
            {
                "member_id": each.member_id,
                "group_instance_id": each.group_instance_id,
                "client_id": each.client_id,
                "host": each.host,
                "assignment": None if each.assignment is None else assigned(each.assignment),
                "subscription": None if each.subscription is None else list(each.subscription),
                "session_timeout_ms": each.session_timeout_ms,
                "rebalance_timeout_ms": each.rebalance_timeout_ms,
                "type": each.type,
                "epoch": each.epoch,
            }
            for each in found.members
        ],
    }


def assigned(partitions: Iterable[TopicPartition]) -> list[Assigned]:
    return [{"topic": each.topic, "partition": each.partition} for each in partitions]


def groups(target: Target) -> dict[str, GroupDescription]:
    """By group id, in order."""
    cluster = target.cluster
    return {name: contents.describe(cluster, each) for name, each in contents.groups(cluster).items()}


def group_named(target: Target, group: str) -> GroupDescription:
    """NotThereError."""
    return contents.describe(target.cluster, _group(target, group))


def committed(target: Target, group: str) -> dict[tuple[str, int], CommittedOffset]:
    """NotThereError for a group that never existed, or exists no more; empty if it has committed nothing."""
    return contents.committed(_group(target, group))


def _group(target: Target, group: str) -> "Group":
    found = contents.groups(target.cluster)
    if group not in found:
        near = nearest(group, found) if found else ": nobody has joined a group or committed yet"
        raise NotThereError(f"no group {group!r}{near}")
    return found[group]

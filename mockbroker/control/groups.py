"""Operations that look at groups: their members, and what they committed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, TypedDict

from ..cluster.resources import ResourceType
from ..configs.altering import Operation
from ..configs.definitions import keys
from ..contents import groups as contents
from ..contents import share_groups
from ..contents.values import CommittedOffset, GroupDescription, SharePartitionDescription
from ..errors import ConflictError, NotThereError
from ..nearest import nearest
from ..protocol.api_keys import ApiKey
from ..protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from .asking import change
from .registry import operation
from .shaping import shaped
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
    read. `type` is the protocol that the member uses; `epoch` is null in classic groups, and the tasks in all
    but streams groups."""

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
    active_tasks: list[str] | None
    standby_tasks: list[str] | None


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


class GroupConfig(TypedDict):
    """All that is set for a group."""

    group_id: str
    config: dict[str, str]


class SharedRecordsState(TypedDict):
    """`state` is available, acquired, acknowledged or archived; `member` and `locked_until_ms` are null
    unless it is acquired."""

    first: int
    last: int
    state: str
    deliveries: int
    member: str | None
    locked_until_ms: int | None


class SharePartitionState(TypedDict):
    """`start_offset` is null until the group has read from the partition."""

    topic: str
    partition: int
    start_offset: int | None
    high_watermark: int
    in_flight: list[SharedRecordsState]


@operation("groups list", "GET", "/groups")
def list_groups(target: Target) -> list[GroupListing]:
    """Lists every group."""
    return [shaped(GroupListing, each, members=len(each.members)) for each in groups(target).values()]


@operation("groups committed", "GET", "/groups/{group}/committed")
def list_committed(target: Target, group: GroupId) -> list[Committed]:
    """Shows the offsets that a group has committed, by topic and partition."""
    return [
        shaped(Committed, each, topic=topic, partition=partition)
        for (topic, partition), each in committed(target, group).items()
    ]


@operation("groups configure", "POST", "/groups/{group}/configure")
def configure(
    target: Target,
    group: GroupId,
    config: Annotated[dict[str, str], "What is set, as in share.auto.offset.reset=earliest."],
) -> GroupConfig:
    """Sets the configuration of a group, which need not be there yet, as a client's IncrementalAlterConfigs
    does, and shows all that is set for it."""
    configure_group(target, group, config)
    return {"group_id": group, "config": dict(target.cluster.configs.groups.get(group, {}))}


def configure_group(target: Target, group: str, config: Mapping[str, str]) -> None:
    """RefusedError; ConflictError for a release without configurations of groups."""
    if not keys("group", target.cluster.release):
        raise ConflictError(f"groups have no configuration with Kafka {target.cluster.release}")
    changes = [AlterableConfig(name, Operation.SET, value) for name, value in config.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(ResourceType.GROUP, group, changes)])
    refused = f"the group {group!r} was not configured"
    change(target.cluster, ApiKey.INCREMENTAL_ALTER_CONFIGS, request, refused)


@operation("groups show", "GET", "/groups/{group}")
def show(target: Target, group: GroupId) -> GroupState:
    """Shows a group's state, its members and the partitions assigned to them."""
    return shaped(GroupState, group_named(target, group))


@operation("groups in-flight", "GET", "/groups/{group}/in-flight")
def list_in_flight(target: Target, group: GroupId) -> list[SharePartitionState]:
    """Shows what a share group has in flight, by topic and partition: where it begins, and the states of
    records from there on."""
    return [
        shaped(SharePartitionState, each, topic=topic, partition=partition)
        for (topic, partition), each in share_group(target, group).items()
    ]


def share_group(target: Target, group: str) -> dict[tuple[str, int], SharePartitionDescription]:
    """By topic and partition. NotThereError for a group that is not a share group."""
    found = _group(target, group)
    if found.type != "share":
        raise NotThereError(f"the group {group!r} is no share group, but a {found.type} group")
    return share_groups.in_flight(target.cluster, found)


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

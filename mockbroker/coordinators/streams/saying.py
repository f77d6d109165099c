"""What a heartbeat says of a member and its topology, and what is wrong with it
(`GroupMetadataManager.java`)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ...policies.streams_groups.streams_heartbeats import streams_heartbeats
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from ...protocol.streams_group_records import TopologyValue
from ..home import Request
from ..members import check_epoch, client_name
from .configuring import Problem
from .group import Progress, StreamsGroup
from .member import JOINING, Assigned, StreamsMember
from .reconciling import contained

E = ErrorCode
STALE_TOPOLOGY: Final = 0
_SHUTDOWN_APPLICATION: Final = 4
_MISSING_CLIENT_TAGS: Final = 6


def updated(member: StreamsMember, request: StreamsGroupHeartbeatRequest, call: Request) -> StreamsMember:
    """With what the heartbeat says about it; null says that nothing has changed, but since 4.4 a member that
    joins again has no endpoint then. ApiError UNKNOWN_SERVER_ERROR for two tags of one key."""
    timeout_ms, topology, endpoint = request.rebalance_timeout_ms, request.topology, request.user_endpoint
    tags = request.client_tags
    if tags is not None and len({each.key for each in tags}) < len(tags):
        raise ApiError(E.UNKNOWN_SERVER_ERROR)
    known = None if endpoint is None else (endpoint.host, endpoint.port)
    begins_anew = request.member_epoch == JOINING and call.policies[streams_heartbeats] == "full"
    if known is None and not begins_anew:
        known = member.endpoint
    return replace(
        member,
        instance_id=member.instance_id if request.instance_id is None else request.instance_id,
        rack_id=member.rack_id if request.rack_id is None else request.rack_id,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
        topology_epoch=member.topology_epoch if topology is None else topology.epoch,
        process_id=member.process_id if request.process_id is None else request.process_id,
        endpoint=known,
        tags=member.tags if tags is None else tuple(sorted((each.key, each.value) for each in tags)),
        client_id=client_name(call),
        client_host=call.client.host,
    )


def take_progress(group: StreamsGroup, request: StreamsGroupHeartbeatRequest) -> None:
    offsets, end_offsets = request.task_offsets, request.task_end_offsets
    if offsets is None and end_offsets is None:
        return
    before = group.progress.get(request.member_id, Progress((), ()))
    group.progress[request.member_id] = Progress(
        before.offsets if offsets is None else offsets,
        before.end_offsets if end_offsets is None else end_offsets,
    )


def take_topology(
    group: StreamsGroup, member: StreamsMember, topology: TopologyValue | None
) -> list[Problem]:
    """The first topology is that of the group; members may have an earlier one. ApiError INVALID_REQUEST, and
    UNKNOWN_SERVER_ERROR for a negative epoch."""
    if topology is not None and topology.epoch < 0:
        raise ApiError(E.UNKNOWN_SERVER_ERROR)
    if group.topology is None:
        group.topology = topology
        return []
    known = group.topology
    if topology is not None and topology.epoch >= known.epoch and not _are_alike(topology, known):
        raise ApiError(E.INVALID_REQUEST, "Topology updates are not supported yet.")
    if member.topology_epoch >= known.epoch:
        return []
    text = (
        f"The member's topology epoch {member.topology_epoch} is behind the group's topology epoch "
        f"{known.epoch}."
    )
    return [Problem(STALE_TOPOLOGY, text)]


def _are_alike(topology: TopologyValue, other: TopologyValue) -> bool:
    """Whatever the order of their subtopologies."""
    same = sorted(topology.subtopologies) == sorted(other.subtopologies)
    return same and topology.epoch == other.epoch


def shutdown(member_id: str) -> Problem:
    return Problem(
        _SHUTDOWN_APPLICATION,
        f"Streams group member {member_id} encountered a fatal error and requested a shutdown for the entire "
        "application.",
    )


def missing_tags(member: StreamsMember, needed: Iterable[str]) -> list[Problem]:
    """The client tags that a member should have, but has not."""
    known = {key for key, _ in member.tags}
    if missing := [each for each in needed if each not in known]:
        text = (
            f"Missing required client tags for rack-aware standby assignment: [{', '.join(missing)}]. "
            "Configure them via 'client.tag.<tagKey>' in your Streams config."
        )
        return [Problem(_MISSING_CLIENT_TAGS, text)]
    return []


def check_member_epoch(member: StreamsMember, epoch: int, owned: Assigned | None) -> None:
    """Its previous one will do if it has nothing that it was not assigned."""
    check_epoch("streams", member, epoch, lambda: contained(owned, member.assigned))

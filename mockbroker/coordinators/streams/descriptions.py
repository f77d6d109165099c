"""Descriptions of topologies, which a plugin of the broker keeps (KIP-1331). Here every plugin is like the
one that comes with Kafka: it keeps them in memory (`StreamsGroupTopologyDescriptionManager.java`,
`InMemoryTopologyDescriptionPlugin.java`). How long nobody is asked again, and that nobody is asked after the
coordinator has moved, is known from these classes only."""

from collections.abc import Iterable
from typing import Final

from ...configs import Configs
from ...environment import Environment
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
)
from ...protocol.messages.streams_groups import TopologyDescriptionNode
from .configuring import Problem
from .group import Described, StreamsGroup, Wanted
from .saying import STALE_TOPOLOGY

E = ErrorCode
_FIRST_MS: Final = 30_000
_MOST_MS: Final = 3_600_000
_JITTER: Final = 5
"""Waits are longer or shorter by as large a part of them at most."""
_TYPES: Final = (1, 2, 3)
"""A source, a processor, a sink."""


def are_kept(configs: Configs) -> bool:
    """Whether brokers have a plugin."""
    return bool(configs.broker_text("group.streams.topology.description.plugin.class"))


def wants(group: StreamsGroup, environment: Environment, statuses: Iterable[Problem]) -> bool:
    """Whether the member that sent a heartbeat is asked for a description; others are not for some time."""
    if group.topology is None or not are_kept(environment.configs):
        return False
    epoch, asked, now_ms = group.topology.epoch, group.wanted, environment.now_ms
    if group.described == epoch or any(each.status == STALE_TOPOLOGY for each in statuses):
        return False
    if asked is not None and asked.epoch != epoch:
        asked = None
    if asked is not None and now_ms < asked.until_ms:
        return False
    again = 0 if asked is None else asked.again + 1
    wait_ms = min(_MOST_MS, _FIRST_MS << min(again, _MOST_MS.bit_length()))
    part = wait_ms // _JITTER
    jitter_ms = environment.random("topology descriptions").randrange(-part, part + 1)
    group.wanted = Wanted(epoch, again, now_ms + min(_MOST_MS, wait_ms + jitter_ms))
    return True


def check_described(group: StreamsGroup, request: StreamsGroupTopologyDescriptionUpdateRequest) -> None:
    """ApiError UNKNOWN_MEMBER_ID; INVALID_REQUEST unless it is of the topology that the group has."""
    group.known(request.member_id)
    epoch = -1 if group.topology is None else group.topology.epoch
    if request.topology_epoch != epoch:
        raise ApiError(
            E.INVALID_REQUEST,
            f"Topology epoch {request.topology_epoch} does not match the group's current topology epoch "
            f"{epoch}.",
        )


def take(group: StreamsGroup, request: StreamsGroupTopologyDescriptionUpdateRequest, nodes: int) -> None:
    """Keeps the description of the topology that the group has."""
    epoch = request.topology_epoch
    group.description = Described(epoch, request.topology_description, nodes)
    group.described, group.wanted = epoch, None


def check(nodes: Iterable[TopologyDescriptionNode]) -> None:
    """ApiError INVALID_REQUEST for a node of no type."""
    for each in nodes:
        if each.node_type not in _TYPES:
            raise ApiError(E.INVALID_REQUEST, f"Unknown topology node type: {each.node_type}")


def shown(group: StreamsGroup) -> Described | None:
    """What is known of the topology that the group has."""
    found = group.description
    return found if found and group.topology and found.epoch == group.topology.epoch else None

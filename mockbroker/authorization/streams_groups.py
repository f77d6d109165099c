"""Requests for streams groups (KIP-1071)."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from ..acls import Operation, ResourceType
from ..cluster.authorizer import Asker
from ..cluster.call import Call
from ..coordinators.streams.requests import topics_of
from ..portions import Parts, portions
from ..protocol.api_keys import ApiKey
from ..protocol.messages.streams_group_describe import DescribedGroup, StreamsGroupDescribeRequest, Topology
from ..protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from .groups import describing, with_operations
from .refusing import CODES, refused
from .verdict import Judging, Verdict

_GROUP: Final = ResourceType.GROUP
_TOPIC: Final = ResourceType.TOPIC
_HIDDEN: Final = "The described group uses topics that the client is not authorized to describe."


def heartbeat(asker: Asker, call: Call, request: StreamsGroupHeartbeatRequest) -> Judging:
    """StreamsGroupHeartbeat, refused also for one topic that the client may not describe."""
    if not call.broker.groups.streams.served:
        return Verdict(request)
    if not asker.may(Operation.READ, _GROUP, request.group_id):
        return (yield from refused(call, ApiKey.STREAMS_GROUP_HEARTBEAT, request, _GROUP))
    for portion in portions(() if request.topology is None else topics_of(request.topology)):
        if not all(asker.may(Operation.DESCRIBE, _TOPIC, name) for name in portion):
            return Verdict(request, StreamsGroupHeartbeatResponse(error_code=CODES[_TOPIC]))
        yield
    return Verdict(request)


def update_description(asker: Asker, call: Call, request: Any) -> Verdict | Judging:
    """StreamsGroupTopologyDescriptionUpdate needs READ on the group."""
    if not call.broker.groups.streams.served or asker.may(Operation.READ, _GROUP, request.group_id):
        return Verdict(request)
    return refused(call, ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE, request, _GROUP)


def describe(asker: Asker, call: Call, request: StreamsGroupDescribeRequest) -> Judging:
    """StreamsGroupDescribe, which refuses groups with topics that the client may not describe."""
    if not call.broker.groups.streams.served:
        return Verdict(request)
    verdict = yield from describing(ApiKey.STREAMS_GROUP_DESCRIBE, "group_ids", asker, call, request)
    if verdict.answer is not None:
        return verdict

    def shown(answer: Any) -> Parts[Any]:
        groups = dict(enumerate(answer.groups))
        for place, each in groups.items():
            groups[place] = yield from _shown(asker, each)
        return replace(answer, groups=list(groups.values()))

    return with_operations(asker, request.include_authorized_operations, verdict).after(shown)


def _shown(asker: Asker, group: DescribedGroup) -> Parts[DescribedGroup]:
    for portion in portions(() if group.topology is None else set(_topics(group.topology))):
        if not all(asker.may(Operation.DESCRIBE, _TOPIC, name) for name in portion):
            return DescribedGroup(CODES[_TOPIC], _HIDDEN, group.group_id)
        yield
    return group


def _topics(topology: Topology) -> Iterable[str]:
    for each in topology.subtopologies or ():
        yield from each.source_topics
        yield from each.repartition_sink_topics
        for topic in (*each.repartition_source_topics, *each.state_changelog_topics):
            yield topic.name

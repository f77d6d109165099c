"""Which partitions the processes of a streams group read, for those who ask them for what they keep
(`EndpointToPartitionsManager.java`)."""

from collections.abc import Iterable

from ...policies.streams_groups.endpoint_partitions import endpoint_partitions
from ...policies.streams_groups.streams_answers import streams_answers
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.streams_group_heartbeat import EndpointToPartitions, TopicPartition
from ...protocol.messages.streams_groups import Endpoint
from ..home import Home
from .configuring import reads
from .group import StreamsGroup
from .hash_order import in_hash_order, in_timeline_order
from .member import StreamsMember, Tasks


def endpoints(home: Home, group: StreamsGroup, asks: StreamsMember) -> list[EndpointToPartitions]:
    """Of all members that have one; since 4.2 the one that asks comes last. ApiError UNKNOWN_SERVER_ERROR if
    there are any, and topics that they read are missing."""
    ordered = in_timeline_order(group.reachable, len(group.members))
    members = {each: group.members[each] for each in ordered} | {asks.id: asks}
    if home.policies[streams_answers] == "released":
        members[asks.id] = members.pop(asks.id)
    asked = [each for each in members.values() if each.endpoint is not None]
    if not asked:
        return []
    topics = _Topics(home, group)
    return [_endpoint(topics, each) for each in asked]


def _endpoint(topics: "_Topics", member: StreamsMember) -> EndpointToPartitions:
    assert member.endpoint is not None
    active, standby, warmup = member.assigned.tasks
    copies = [standby, warmup] if topics.exact else [standby]
    return EndpointToPartitions(
        Endpoint(*member.endpoint), topics.partitions([active]), topics.partitions(copies)
    )


class _Topics:
    """What subtopologies read, as the topics are now. ApiError UNKNOWN_SERVER_ERROR."""

    def __init__(self, home: Home, group: StreamsGroup) -> None:
        self.exact = home.policies[endpoint_partitions] == "those-there"
        """Whether only partitions are named that there are."""
        if group.configured is None or group.configured.subtopologies is None:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        self._subtopologies = group.configured.subtopologies
        self._known = home.known_topics()

    def partitions(self, kinds: Iterable[Tasks]) -> list[TopicPartition]:
        """Those of tasks of these kinds."""
        tasks: dict[str, frozenset[int]] = {}
        for each in kinds:
            for name, some in each.items():
                tasks[name] = tasks.get(name, frozenset()) | some
        return [
            TopicPartition(topic, here)
            for name, some in tasks.items()
            for topic in in_hash_order(dict.fromkeys(reads(self._subtopologies[name].said)))
            if (here := self._of_topic(topic, some))
        ]

    def _of_topic(self, topic: str, tasks: frozenset[int]) -> list[int]:
        if topic not in self._known:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        count = len(self._known[topic].partitions)
        if self.exact:
            return sorted(each for each in tasks if each < count)
        return sorted(tasks)[:count]

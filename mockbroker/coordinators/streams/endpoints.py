"""Which partitions the processes of a streams group read, for those who ask them for what they keep
(`EndpointToPartitionsManager.java`)."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator

from ...java_hash import in_hash_order
from ...policies.streams_groups.endpoint_partitions import endpoint_partitions
from ...policies.streams_groups.streams_answers import streams_answers
from ...portions import MANY, Pace, Parts
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...protocol.messages.streams_group_heartbeat import EndpointToPartitions, TopicPartition
from ...protocol.messages.streams_groups import Endpoint
from ..home import Home
from .configuring import reads
from .group import StreamsGroup
from .hash_order import in_timeline_order
from .member import StreamsMember, Tasks


def endpoints(
    home: Home, group: StreamsGroup, asks: StreamsMember, count: Callable[[int], None]
) -> Parts[list[EndpointToPartitions]]:
    """Of all members that have one; since 4.2 the one that asks comes last. `count` is called before so many
    entries are added. ApiError UNKNOWN_SERVER_ERROR if there are any, and topics that they read are
    missing."""
    ordered = in_timeline_order(group.reachable, len(group.members))
    members = {each: group.members[each] for each in ordered} | {asks.id: asks}
    if home.policies[streams_answers] == "released":
        members[asks.id] = members.pop(asks.id)
    asked = [each for each in members.values() if each.endpoint is not None]
    if not asked:
        return []
    topics, pace, found = _Topics(home, group), Pace(MANY), list[EndpointToPartitions]()
    for each in asked:
        assert each.endpoint is not None
        active, standby, warmup = each.assigned.tasks
        listed: tuple[list[TopicPartition], list[TopicPartition]] = [], []
        for some, kinds in zip(listed, topics.kinds(active, standby, warmup), strict=True):
            for partitions in topics.read_by(kinds):
                size = 1 + len(partitions.partitions)
                count(size)
                some.append(partitions)
                if pace.enough(size):
                    yield
        found.append(EndpointToPartitions(Endpoint(*each.endpoint), *listed))
        if pace.enough():
            yield
    return found


class _Topics:
    """What subtopologies read, as the topics are now. ApiError UNKNOWN_SERVER_ERROR."""

    def __init__(self, home: Home, group: StreamsGroup) -> None:
        self.exact = home.policies[endpoint_partitions] == "those-there"
        """Whether only partitions are named that there are."""
        if group.configured is None or group.configured.subtopologies is None:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        self._subtopologies = group.configured.subtopologies
        self._known = home.known_topics()

    def kinds(self, active: Tasks, standby: Tasks, warmup: Tasks) -> tuple[list[Tasks], list[Tasks]]:
        """Those that are told as active, and as copies."""
        return [active], [standby, warmup] if self.exact else [standby]

    def read_by(self, kinds: Iterable[Tasks]) -> Iterator[TopicPartition]:
        """What tasks of these kinds read."""
        tasks: dict[str, frozenset[int]] = {}
        for each in kinds:
            for name, some in each.items():
                tasks[name] = tasks.get(name, frozenset()) | some
        for name, some in tasks.items():
            listed = sorted(some)
            for topic in in_hash_order(dict.fromkeys(reads(self._subtopologies[name].said))):
                if here := self._of_topic(topic, listed):
                    yield TopicPartition(topic, here)

    def _of_topic(self, topic: str, tasks: list[int]) -> list[int]:
        if topic not in self._known:
            raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        count = len(self._known[topic].partitions)
        return tasks[: bisect_left(tasks, count)] if self.exact else tasks[:count]

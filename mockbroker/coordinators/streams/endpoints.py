"""Which partitions the processes of a streams group read, for those who ask them for what they keep
(`EndpointToPartitionsManager.java`)."""

from collections.abc import Mapping

from ...protocol.messages.streams_group_heartbeat import EndpointToPartitions, TopicPartition
from ...protocol.messages.streams_groups import Endpoint
from ..home import Home
from .configuring import reads
from .group import StreamsGroup
from .hash_order import in_hash_order
from .member import StreamsMember, Tasks


def endpoints(home: Home, group: StreamsGroup, last: StreamsMember) -> list[EndpointToPartitions]:
    """Of all members that have one; the one that asks comes last."""
    members = [group.members[each] for each in in_hash_order(group.members) if each != last.id]
    known = home.known_topics()
    counts = {name: len(topic.partitions) for name, topic in known.items() if name in group.subscribed}
    return [
        EndpointToPartitions(
            Endpoint(*each.endpoint),
            _partitions(group, each.assigned.tasks.active, counts),
            _partitions(group, each.assigned.standby, counts),
        )
        for each in [*members, last]
        if each.endpoint is not None
    ]


def _partitions(group: StreamsGroup, tasks: Tasks, counts: Mapping[str, int]) -> list[TopicPartition]:
    found = []
    known = None if group.configured is None else group.configured.subtopologies
    for name, partitions in tasks.items() if known is not None else ():
        assert known is not None
        for topic in in_hash_order(dict.fromkeys(reads(known[name].said))):
            most = counts.get(topic, 0)
            found.append(TopicPartition(topic, sorted(partitions)[:most]))
    return found

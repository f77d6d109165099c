"""What is reported about groups: their members, and what share groups have in flight."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..cluster.sharing import led_share, shares_of
from ..coordinators import assignments
from ..protocol.share_state_log import UNKNOWN, SharePartitionKey
from ..share_partitions.states import RecordState
from .event import Event
from .group_events import MOST_RANGES, Group, InFlight, Member, SharePartition, ShareSession
from .looks import Change

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.cluster import Cluster
    from ..coordinators.classic.group import ClassicGroup
    from ..coordinators.classic.member import ClassicMember
    from ..coordinators.consumer.group import ConsumerGroup
    from ..coordinators.consumer.member import ConsumerMember
    from ..coordinators.kinds import Group as AnyGroup
    from ..coordinators.share.group import ShareGroup, ShareMember
    from ..coordinators.streams.group import StreamsGroup
    from ..coordinators.streams.member import StreamsMember
    from ..share_partitions.share_partition import SharePartition as Led

    _Replaced = ConsumerMember | ShareMember | StreamsMember
    """Members that are not changed, but replaced."""

Seen = tuple[tuple[type[Event], object], Change]
"""What is told, and of what: a kind, and what is told apart by it."""
_NAMES: Final = {state: state.name.lower() for state in RecordState}
_LEFT: Final = -1
GONE: "Final[Mapping[type[Event], Callable[[tuple[Any, ...]], tuple[object, ...]]]]" = {
    Group: lambda values: (values[0], -1, "Dead", 0, 0, values[5]),
    Member: lambda values: (*values[:6], _LEFT, (), ()),
    SharePartition: lambda values: (*values[:3], -1, UNKNOWN, ()),
    ShareSession: lambda values: (*values[:3], _LEFT, ()),
}
"""The values of what is there no more, by those that it had."""


def groups_of(broker: "Broker") -> "Iterable[AnyGroup]":
    # Looking must not start a coordinator that nobody has asked yet.
    return broker.groups.groups.values() if "groups" in vars(broker) else ()


class GroupLooks:
    """What there is of groups. It remembers what share groups had where nobody can be asked at the moment."""

    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._known: dict[SharePartitionKey, tuple[int, tuple[InFlight, ...]]] = {}
        self._before = self._known
        self._members: dict[tuple[str, str], tuple[object, object, Seen]] = {}
        """Those that are replaced where they change, what else they depend on, and what is told of them."""
        self._members_before = self._members

    def look(self, details: bool) -> Iterator[Seen]:
        """Members and share sessions only with `details`."""
        brokers = self._cluster.brokers.values()
        self._before, self._known = self._known, {}
        self._members_before, self._members = self._members, {}
        # A coordinator that was has groups that another one has now.
        found = {group.id: (broker, group) for broker in brokers for group in groups_of(broker)}
        for broker, group in found.values():
            counted = (group.generation, len(group.members))
            values = (group.id, broker.id, group.state.value, *counted, group.type)
            yield (Group, group.id), Change(Group, values)
            if details:
                yield from self._look_at_members(group)
            if group.type == "share":
                yield from self._share_partitions(group)
        if details:
            yield from self._sessions()

    def _look_at_members(self, group: "AnyGroup") -> Iterator[Seen]:
        if group.type == "classic":
            for each in group.members.values():
                yield _told(group.id, each, "classic", group.generation, *_classic(group, each))
            return
        if group.type == "streams":
            for member in group.members.values():
                yield self._member(group, member, group.topology, _streams)
            return
        # Topics have their names, or are gone, as the controller has written.
        written = self._cluster.controller.metadata.end_offset
        for one in group.members.values():
            yield self._member(group, one, written, self._consumer)

    def _member(
        self, group: "AnyGroup", member: "_Replaced", depends_on: object, look: Callable[[Any, Any], Seen]
    ) -> Seen:
        """A member may have very many partitions or tasks, and most have not changed since the last look."""
        key = group.id, member.id
        known = self._members_before.get(key)
        if known is None or known[0] is not member or known[1] != depends_on:
            known = member, depends_on, look(group, member)
        self._members[key] = known
        return known[2]

    def _consumer(self, group: "ConsumerGroup | ShareGroup", member: "ConsumerMember | ShareMember") -> Seen:
        classic = group.type == "consumer" and getattr(member, "classic", None) is not None
        kind = "classic" if classic else group.type
        named = assignments.named(self._cluster.topic_ids, member.assigned)
        return _told(group.id, member, kind, member.epoch, member.topics.ordered, _names(named))

    def _share_partitions(self, group: "ShareGroup") -> Iterator[Seen]:
        if "__share_group_state" not in self._cluster.topics:
            return
        for topic_id, partitions in group.initialized.items():
            topic = self._cluster.topic_ids.get(topic_id)
            if topic is None:
                continue
            for index in sorted(partitions):
                key = SharePartitionKey(group.id, topic_id, index)
                keeper = self._cluster.internal_topics.share_state_partition(key.coordinator_key)
                broker = self._cluster.brokers.get(keeper.leader)
                coordinator = broker.id if broker is not None and broker.online else -1
                start, in_flight = self._known[key] = self._in_flight(key, broker, keeper.index)
                values = (topic.name, index, group.id, coordinator, start, in_flight)
                yield (SharePartition, key), Change(SharePartition, values)

    def _in_flight(
        self, key: SharePartitionKey, broker: "Broker | None", index: int
    ) -> tuple[int, tuple[InFlight, ...]]:
        """As the partition's leader has it, else as its share coordinator has it, else as it was last."""
        led = led_share(self._cluster.brokers.values(), key)
        if led is not None and led.share is not None:
            return led.share.start_offset, tuple(_ranges(_parts(led.share)))
        states = None if broker is None else vars(broker).get("share_states")
        kept = None if states is None else states.known(key, index)
        if kept is None:
            start, before = self._before.get(key, (UNKNOWN, ()))
            return start, tuple(_ranges(map(_unlocked, before)))
        batches = kept.now.batches
        found = [(b.first, b.last, _NAMES[RecordState(b.state)], b.deliveries, None, None) for b in batches]
        return kept.now.start_offset, tuple(_ranges(found))

    def _sessions(self) -> Iterator[Seen]:
        topics = self._cluster.topic_ids
        for broker, shares in shares_of(self._cluster.brokers.values()):
            for session in shares.sessions:
                named = [(topics[id_].name, index) for id_, index in session.told if id_ in topics]
                values = (broker.id, *session.member, session.epoch, _names(sorted(named)))
                yield (ShareSession, values[:3]), Change(ShareSession, values)


def _told(
    group: str,
    member: "ClassicMember | _Replaced",
    kind: str,
    epoch: int,
    subscribed: tuple[str, ...],
    assigned: tuple[str, ...],
    *tasks: tuple[str, ...],
) -> Seen:
    who = (group, member.id, member.instance_id, member.client_id, member.client_host, kind)
    return (Member, (group, member.id)), Change(Member, (*who, epoch, subscribed, assigned, *tasks))


def _streams(group: "StreamsGroup", member: "StreamsMember") -> Seen:
    from ..coordinators.streams.member import task_names

    tasks = task_names(member.assigned.active), task_names(member.assigned.standby)
    reads = _names(sorted(group.read_by(member)))
    return _told(group.id, member, "streams", member.epoch, tuple(sorted(group.subscribed)), reads, *tasks)


def _classic(group: "ClassicGroup", member: "ClassicMember") -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not group.is_consumer:
        return (), ()
    metadata = next((metadata for name, metadata in member.protocols if name == group.protocol), b"")
    return _subscribed(bytes(metadata)) or (), _assigned(bytes(member.assignment))


@lru_cache(1024)
def _assigned(data: bytes) -> tuple[str, ...]:
    return _names(assignments.of_bytes(data) or ())


_subscribed = lru_cache(1024)(assignments.subscribed)


def _names(places: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(f"{topic}-{index}" for topic, index in places)


def _parts(share: "Led") -> Iterator[InFlight]:
    for first, last, each in share.parts():
        acquired = each.state is RecordState.ACQUIRED
        member, until_ms = (each.member, each.locked_until) if acquired else (None, None)
        yield first, last, _NAMES[each.state], each.count, member, until_ms


def _unlocked(one: InFlight) -> InFlight:
    """Locks are forgotten with the leader of the partition."""
    first, last, state, count, *_ = one
    if state == _NAMES[RecordState.ACQUIRED]:
        state = _NAMES[RecordState.AVAILABLE]
    return first, last, state, count, None, None


def _ranges(parts: Iterable[InFlight]) -> list[InFlight]:
    """Neighbours of which the same is known are one; only the first ones."""
    found: list[InFlight] = []
    for each in parts:
        if found and found[-1][1] == each[0] - 1 and found[-1][2:] == each[2:]:
            found[-1] = (found[-1][0], *each[1:])
        elif len(found) == MOST_RANGES:
            break
        else:
            found.append(each)
    return found

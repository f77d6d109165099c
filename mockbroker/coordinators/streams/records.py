"""What a streams group is in `__consumer_offsets` (`StreamsCoordinatorRecordHelpers.java`)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...portions import MANY, Pace, Parts
from ...protocol.streams_group_keys import StreamsKey, StreamsKind, write_streams_key
from ...protocol.streams_group_records import (
    Partitions,
    StreamsCurrentValue,
    StreamsEpochValue,
    StreamsMemberValue,
    StreamsTargetEpochValue,
    StreamsTargetValue,
    StreamsValue,
    TopologyValue,
    writing_streams_value,
)
from ..group_records import Pairs, differences
from ..known_topics import KnownTopics
from ..member_state import BY_NUMBER, STATES, MemberState
from .group import StreamsGroup
from .member import Assigned, Held, StreamsMember, Tasks

Values = Mapping[StreamsKind, Mapping[str, StreamsValue]]
"""The records of one group, by kind and name."""


def changes(group: StreamsGroup, *, with_times: bool) -> Parts[Pairs]:
    """What differs from what was written last, in Kafka's order; afterwards it counts as written."""
    pairs, pace = Pairs(), Pace(MANY)
    for key, value, size in _present(group):
        written = None
        if value is not None:
            written = yield from writing_streams_value(value, with_times=with_times)
        pairs += differences(group.written, [(write_streams_key(key), written)])
        if pace.enough(1 + size):
            yield
    group.touched.clear()
    group.written_topology = group.topology
    return pairs


def _present(group: StreamsGroup) -> Iterator[tuple[StreamsKey, StreamsValue | None, int]]:
    """The records of the group and of the members that may have changed, with the numbers of their tasks;
    None for what is gone."""
    for name in [each for each in group.touched if each not in group.members]:
        for kind in (StreamsKind.CURRENT, StreamsKind.TARGET, StreamsKind.MEMBER):
            yield StreamsKey(kind, group.id, name), None, 0
    here = [group.members[each] for each in group.touched if each in group.members]
    for member in here:
        yield StreamsKey(StreamsKind.MEMBER, group.id, member.id), _of_member(member), 0
    if group.topology is not None and group.topology is not group.written_topology:
        yield StreamsKey(StreamsKind.TOPOLOGY, group.id), group.topology, MANY
    topics = 0 if group.without_hash else group.metadata.hash
    if group.in_preview:
        epoch = StreamsEpochValue(group.epoch, metadata_hash=topics)
    else:
        described = group.described
        epoch = StreamsEpochValue(
            group.epoch, group.validated, group.configs, described, metadata_hash=topics
        )
    yield StreamsKey(StreamsKind.EPOCH, group.id), epoch, 0
    for member in here:
        if member.id in group.target:
            target = group.target[member.id]
            yield StreamsKey(StreamsKind.TARGET, group.id, member.id), _of_target(target), target.size
    if group.assignment_epoch != group.begun:
        made = StreamsTargetEpochValue(group.assignment_epoch, group.assigned_ms or 0)
        yield StreamsKey(StreamsKind.TARGET_EPOCH, group.id), made, 0
    for member in here:
        size = member.assigned.size + member.revoking.size
        yield StreamsKey(StreamsKind.CURRENT, group.id, member.id), _of_current(member), size


def _of_member(member: StreamsMember) -> StreamsMemberValue:
    return StreamsMemberValue(
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.rebalance_timeout_ms,
        member.topology_epoch,
        member.process_id,
        member.endpoint,
        member.tags,
    )


def _of_target(target: Assigned) -> StreamsTargetValue:
    return StreamsTargetValue(*(_listed(tasks) for tasks in target))


def _of_current(member: StreamsMember) -> StreamsCurrentValue:
    assigned, revoking = member.assigned, member.revoking
    return StreamsCurrentValue(
        member.epoch,
        member.previous_epoch,
        STATES[member.state],
        assigned.active,
        _listed(assigned.standby),
        _listed(assigned.warmup),
        revoking.active,
        _listed(revoking.standby),
        _listed(revoking.warmup),
    )


def _listed(tasks: Tasks) -> dict[str, list[int]]:
    return {name: sorted(partitions) for name, partitions in tasks.items()}


def restored(group: StreamsGroup, values: Values) -> None:
    """Makes a new group what its records say."""
    for value in values.get(StreamsKind.EPOCH, {}).values():
        assert isinstance(value, StreamsEpochValue)
        group.epoch, group.validated, group.configs = value.epoch, value.validated, value.configs or ()
        group.metadata, group.described = KnownTopics(None, value.metadata_hash), value.described
    for value in values.get(StreamsKind.TOPOLOGY, {}).values():
        assert isinstance(value, TopologyValue)
        group.topology = value
    for value in values.get(StreamsKind.TARGET_EPOCH, {}).values():
        assert isinstance(value, StreamsTargetEpochValue)
        group.assignment_epoch, group.assigned_ms = value.epoch, value.assigned_ms or None
    for name, value in values.get(StreamsKind.TARGET, {}).items():
        assert isinstance(value, StreamsTargetValue)
        group.target[name] = Assigned(*(_frozen(tasks) for tasks in value))
    current = values.get(StreamsKind.CURRENT, {})
    for name, value in values.get(StreamsKind.MEMBER, {}).items():
        assert isinstance(value, StreamsMemberValue)
        group.put(_member(name, value, current.get(name)))
    group.touched.clear()


def _member(name: str, said: StreamsMemberValue, current: StreamsValue | None) -> StreamsMember:
    member = StreamsMember(name, *said)
    if not isinstance(current, StreamsCurrentValue):
        return member
    return replace(
        member,
        epoch=current.epoch,
        previous_epoch=current.previous_epoch,
        state=BY_NUMBER.get(current.state, MemberState.STABLE),
        assigned=Held(current.active, _frozen(current.standby), _frozen(current.warmup)),
        revoking=Held(
            current.revoking_active, _frozen(current.revoking_standby), _frozen(current.revoking_warmup)
        ),
    )


def _frozen(tasks: Partitions) -> Tasks:
    return {name: frozenset(partitions) for name, partitions in tasks.items() if partitions}

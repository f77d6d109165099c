"""What a consumer group is in `__consumer_offsets` (`GroupCoordinatorRecordHelpers.java`)."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ...protocol.consumer_group_keys import Key, Kind, write_key
from ...protocol.consumer_group_records import (
    ClassicValue,
    CurrentValue,
    EpochValue,
    MemberValue,
    PartitionsValue,
    RegexValue,
    TargetEpochValue,
    TargetValue,
    Value,
    write_value,
)
from ..group_records import Layout, Pairs, differences
from ..known_topics import KnownTopics, restored_topics
from ..member_state import BY_NUMBER, STATES, MemberState
from ..named_topics import NamedTopics
from .group import ConsumerGroup
from .member import Assignment, Classic, ConsumerMember

Values = Mapping[Kind, Mapping[str, Value]]
"""The records of one group, by kind and name."""


def changes(group: ConsumerGroup, layout: Layout) -> Pairs:
    """What differs from what was written last, in Kafka's order; afterwards it counts as written."""
    present = (
        (write_key(key), None if value is None else write_value(value, with_times=layout.with_times))
        for key, value in _present(group, layout)
    )
    pairs = differences(group.written, present)
    group.touched.clear()
    group.stored = group.epochs
    return pairs


def _present(group: ConsumerGroup, layout: Layout) -> Iterator[tuple[Key, Value | None]]:
    """The records of the group and of the members that may have changed; None for what is gone."""
    gone = [each for each in group.touched if each not in group.members]
    for name in gone:
        for kind in (Kind.CURRENT, Kind.TARGET, Kind.MEMBER):
            yield Key(kind, group.id, name), None
    here = [group.members[each] for each in group.touched if each in group.members]
    for member in here:
        yield Key(Kind.MEMBER, group.id, member.id), _of_member(member)
    if group.metadata.described is not None:
        yield Key(Kind.PARTITIONS, group.id), group.metadata.described
    metadata_hash = group.metadata.hash if layout.with_hashes else 0
    yield Key(Kind.EPOCH, group.id), EpochValue(group.epoch, metadata_hash)
    for pattern in group.patterns:
        found = group.resolved.get(pattern)
        value = None if found is None else RegexValue(sorted(found), group.resolved_ms)
        yield Key(Kind.REGEX, group.id, pattern), value
    for member in here:
        yield Key(Kind.TARGET, group.id, member.id), _of_target(group.target_of(member.id))
    if group.assignment_epoch:
        yield (
            Key(Kind.TARGET_EPOCH, group.id),
            TargetEpochValue(group.assignment_epoch, group.assigned_ms or 0),
        )
    for member in here:
        yield Key(Kind.CURRENT, group.id, member.id), _of_current(member)


def _of_member(member: ConsumerMember) -> MemberValue:
    return MemberValue(
        member.instance_id,
        member.rack_id,
        member.client_id,
        member.client_host,
        member.topics.written,
        member.regex,
        member.rebalance_timeout_ms,
        member.assignor,
        None if member.classic is None else ClassicValue(*member.classic),
    )


def _of_target(target: Assignment) -> TargetValue:
    return TargetValue({topic: sorted(partitions) for topic, partitions in target.items()})


def _of_current(member: ConsumerMember) -> CurrentValue:
    return CurrentValue(
        member.epoch, member.previous_epoch, STATES[member.state], member.assigned, member.revoking
    )


def restored(group: ConsumerGroup, values: Values) -> None:
    """Makes a new group what its records say."""
    for value in values.get(Kind.EPOCH, {}).values():
        assert isinstance(value, EpochValue)
        group.epoch, group.metadata = value.epoch, KnownTopics(None, value.metadata_hash)
    for value in values.get(Kind.PARTITIONS, {}).values():
        assert isinstance(value, PartitionsValue)
        group.metadata = restored_topics(value)
    for value in values.get(Kind.TARGET_EPOCH, {}).values():
        assert isinstance(value, TargetEpochValue)
        group.assignment_epoch, group.assigned_ms = value.epoch, value.assigned_ms or None
    resolved = {}
    for pattern, value in values.get(Kind.REGEX, {}).items():
        assert isinstance(value, RegexValue)
        resolved[pattern], group.resolved_ms = frozenset(value.topics), value.resolved_ms
        group.patterns.add(pattern)
    group.resolved = resolved
    for name, value in values.get(Kind.TARGET, {}).items():
        assert isinstance(value, TargetValue)
        group.target[name] = {topic: frozenset(found) for topic, found in value.partitions.items()}
    current = values.get(Kind.CURRENT, {})
    for name, value in values.get(Kind.MEMBER, {}).items():
        assert isinstance(value, MemberValue)
        group.put(_member(name, value, current.get(name)))
    group.touched.clear()
    group.stored = group.epochs


def _member(name: str, said: MemberValue, current: Value | None) -> ConsumerMember:
    assert not isinstance(said.topics, bytes)
    member = ConsumerMember(
        name,
        said.instance_id,
        said.rack_id,
        said.client_id,
        said.client_host,
        said.rebalance_timeout_ms,
        NamedTopics(said.topics),
        said.regex or "",
        said.assignor,
        classic=None
        if said.classic is None
        else Classic(said.classic.session_ms, tuple(said.classic.protocols)),
    )
    if not isinstance(current, CurrentValue):
        return member
    return replace(
        member,
        epoch=current.epoch,
        previous_epoch=current.previous_epoch,
        state=BY_NUMBER.get(current.state, MemberState.STABLE),
        assigned=current.assigned,
        revoking=current.revoking,
    )

"""What a share group is in `__consumer_offsets` (`GroupCoordinatorRecordHelpers.java`)."""

from collections.abc import Iterator, Mapping
from uuid import UUID

from ...protocol.share_group_records import (
    ShareCurrentValue,
    ShareEpochValue,
    ShareKey,
    ShareKind,
    ShareMemberValue,
    SharePartitionsValue,
    ShareTargetEpochValue,
    ShareTargetValue,
    ShareValue,
    write_share_key,
    write_share_value,
)
from ..group_records import Pairs, differences
from ..known_topics import KnownTopics
from ..named_topics import NamedTopics
from .group import Assignment, Initializing, ShareGroup, ShareMember

Values = Mapping[ShareKind, Mapping[str, ShareValue]]
"""The records of one group, by kind and name."""


def changes(group: ShareGroup, *, with_times: bool) -> Pairs:
    """What differs from what was written last, in Kafka's order; afterwards it counts as written."""
    present = (
        (write_share_key(key), None if value is None else write_share_value(value, with_times=with_times))
        for key, value in _present(group)
    )
    pairs = differences(group.written, present)
    group.touched.clear()
    return pairs


def _present(group: ShareGroup) -> Iterator[tuple[ShareKey, ShareValue | None]]:
    """The records of the group and of the members that may have changed; None for what is gone."""
    for name in [each for each in group.touched if each not in group.members]:
        for kind in (ShareKind.CURRENT, ShareKind.TARGET, ShareKind.MEMBER):
            yield ShareKey(kind, group.id, name), None
    here = [group.members[each] for each in group.touched if each in group.members]
    for member in here:
        said = ShareMemberValue(member.rack_id, member.client_id, member.client_host, member.topics.written)
        yield ShareKey(ShareKind.MEMBER, group.id, member.id), said
    yield ShareKey(ShareKind.EPOCH, group.id), ShareEpochValue(group.epoch, group.metadata.hash)
    for member in here:
        target = ShareTargetValue(_listed(group.target_of(member.id)))
        yield ShareKey(ShareKind.TARGET, group.id, member.id), target
    if group.assignment_epoch:
        made = ShareTargetEpochValue(group.assignment_epoch, group.assigned_ms or 0)
        yield ShareKey(ShareKind.TARGET_EPOCH, group.id), made
    for member in here:
        current = ShareCurrentValue(member.epoch, member.previous_epoch, _listed(member.assigned))
        yield ShareKey(ShareKind.CURRENT, group.id, member.id), current
    key = ShareKey(ShareKind.PARTITIONS, group.id)
    initializing = {topic: sorted(each.partitions) for topic, each in group.initializing.items()}
    partitions = SharePartitionsValue(
        initializing, _listed(group.initialized), sorted(group.deleting), group.names
    )
    if any(partitions[:3]) or write_share_key(key) in group.written:
        yield key, partitions


def _listed(assignment: Assignment) -> dict[UUID, list[int]]:
    return {topic: sorted(partitions) for topic, partitions in assignment.items()}


def restored(group: ShareGroup, values: Values, now_ms: int) -> None:
    """Makes a new group what its records say."""
    for value in values.get(ShareKind.EPOCH, {}).values():
        assert isinstance(value, ShareEpochValue)
        group.epoch, group.metadata = value.epoch, KnownTopics(None, value.metadata_hash)
    for value in values.get(ShareKind.TARGET_EPOCH, {}).values():
        assert isinstance(value, ShareTargetEpochValue)
        group.assignment_epoch, group.assigned_ms = value.epoch, value.assigned_ms or None
    for name, value in values.get(ShareKind.TARGET, {}).items():
        assert isinstance(value, ShareTargetValue)
        group.target[name] = _frozen(value.partitions)
    for value in values.get(ShareKind.PARTITIONS, {}).values():
        assert isinstance(value, SharePartitionsValue)
        group.initialized = dict(_frozen(value.initialized))
        group.initializing = {
            topic: Initializing(found, now_ms) for topic, found in _frozen(value.initializing).items()
        }
        group.deleting, group.names = set(value.deleting), dict(value.names)
    current = values.get(ShareKind.CURRENT, {})
    for name, value in values.get(ShareKind.MEMBER, {}).items():
        assert isinstance(value, ShareMemberValue)
        group.put(_member(name, value, current.get(name)))
    group.touched.clear()


def _member(name: str, said: ShareMemberValue, current: ShareValue | None) -> ShareMember:
    assert not isinstance(said.topics, bytes)
    epoch = previous = 0
    assigned: Assignment = {}
    if isinstance(current, ShareCurrentValue):
        epoch, previous, assigned = current.epoch, current.previous_epoch, _frozen(current.assigned)
    return ShareMember(
        name,
        said.rack_id,
        said.client_id,
        said.client_host,
        NamedTopics(said.topics),
        epoch,
        previous,
        assigned,
    )


def _frozen(partitions: Mapping[UUID, list[int]]) -> Assignment:
    return {topic: frozenset(found) for topic, found in partitions.items() if found}

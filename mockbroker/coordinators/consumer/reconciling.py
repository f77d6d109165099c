"""How a member gets to its target assignment, step by step (`CurrentAssignmentBuilder.java`)."""

from collections.abc import Callable, Collection
from dataclasses import replace
from uuid import UUID

from ..member_state import MemberState
from .member import Assignment, ConsumerMember, Owned

EpochOf = Callable[[UUID, int], int]
"""The epoch of the member that has a partition, or has to give it up; -1 if nobody has it."""


def reconciled(
    member: ConsumerMember,
    epoch: int,
    target: Assignment,
    subscribed: Collection[UUID],
    owned: Assignment | None,
    epoch_of: EpochOf,
    *,
    changed: bool,
) -> ConsumerMember:
    """The member's next state on its way to the target assignment of that epoch.

    `owned` is what it says that it has, None if it does not say; `subscribed` are the ids of its topics, and
    `changed` is whether those have just changed. A member first gives up what it has to, in its old epoch.
    """
    if not changed and member.reconciled_to(epoch):
        return member
    if member.state is MemberState.STABLE and member.epoch == epoch:
        return _without_unsubscribed(member, subscribed, owned)
    if member.state is MemberState.UNREVOKED and _owns(owned, member.revoking):
        return _without_unsubscribed(member, subscribed, owned) if changed else member
    return _next(member, epoch, target, subscribed, owned, epoch_of)


def _owns(owned: Assignment | None, revoking: Owned) -> bool:
    """Whether it still has something that it has to give up; if it does not say, it has."""
    if owned is None:
        return True
    return any(
        not owned.get(topic, frozenset()).isdisjoint(partitions) for topic, partitions in revoking.items()
    )


def _without_unsubscribed(
    member: ConsumerMember, subscribed: Collection[UUID], owned: Assignment | None
) -> ConsumerMember:
    """Takes away topics to which it no longer subscribes, before there is another target assignment."""
    gone = {topic: partitions for topic, partitions in member.assigned.items() if topic not in subscribed}
    if not gone:
        return member
    kept = {topic: partitions for topic, partitions in member.assigned.items() if topic in subscribed}
    revoking = dict(member.revoking)
    for topic, partitions in gone.items():
        revoking[topic] = {**revoking.get(topic, {}), **partitions}
    if _owns(owned, revoking):
        state, left = MemberState.UNREVOKED, revoking
    else:
        state, left = member.state, dict(member.revoking)
    return replace(member, previous_epoch=member.epoch, state=state, assigned=kept, revoking=left)


def _next(
    member: ConsumerMember,
    epoch: int,
    target: Assignment,
    subscribed: Collection[UUID],
    owned: Assignment | None,
    epoch_of: EpochOf,
) -> ConsumerMember:
    kept: dict[UUID, dict[int, int]] = {}
    revoking: dict[UUID, dict[int, int]] = {}
    given: dict[UUID, list[int]] = {}
    unreleased = False
    for topic in dict.fromkeys((*target, *member.assigned)):
        wanted = target.get(topic, frozenset()) if topic in subscribed else frozenset()
        present = member.assigned.get(topic, {})
        own = member.revoking.get(topic, {})
        stays = {index: since for index, since in present.items() if index in wanted}
        goes = {index: since for index, since in present.items() if index not in wanted}
        missing = sorted(wanted - stays.keys())
        free = [index for index in missing if index in own or epoch_of(topic, index) == -1]
        unreleased |= len(free) < len(missing)
        if stays:
            kept[topic] = stays
        if goes:
            revoking[topic] = goes
        if free:
            given[topic] = free
    if revoking and _owns(owned, revoking):
        return replace(
            member,
            previous_epoch=member.epoch,
            state=MemberState.UNREVOKED,
            assigned=kept,
            revoking=revoking,
        )
    for topic, partitions in given.items():
        kept[topic] = {**kept.get(topic, {}), **dict.fromkeys(partitions, epoch)}
    return replace(
        member,
        epoch=epoch,
        previous_epoch=member.epoch,
        state=MemberState.UNRELEASED if unreleased else MemberState.STABLE,
        assigned=kept,
        revoking={},
    )

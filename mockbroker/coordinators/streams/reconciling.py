"""How a member gets to its target assignment, step by step (`CurrentAssignmentBuilder.java`)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

from ..member_state import MemberState
from . import roles
from .group import Processes
from .member import NOTHING, Assigned, Held, Owned, StreamsMember, Task, Tasks
from .roles import Step, Taken

T = TypeVar("T")


class _Parts(NamedTuple, Generic[T]):
    """Of the tasks of one role: what stays, goes and comes; and whether more is to come."""

    stays: T
    goes: T
    comes: T
    waits: bool


def reconciled(
    member: StreamsMember,
    epoch: int,
    target: Assigned,
    owned: Assigned | None,
    processes: Processes,
    *,
    in_place: bool,
) -> StreamsMember:
    """The member's next state on its way to the target assignment of that epoch. `owned` is what it says that
    it has, None if it does not say. A member first gives up what it has to, in its old epoch; not what it is
    to have in another role, if that changes `in_place`."""
    if member.reconciled_to(epoch):
        return member
    if member.state is MemberState.UNREVOKED:
        if owned is None or _contains(owned, member.revoking):
            return member
        return _next(member, member.epoch + 1, epoch, target, owned, processes, in_place=in_place)
    return _next(member, member.epoch, epoch, target, owned, processes, in_place=in_place)


def contained(owned: Assigned | None, held: Held) -> bool:
    """Whether the member has no more than that; if it does not say, it may have."""
    if owned is None:
        return False
    return all(
        partitions <= set(have.get(name, ()))
        for tasks, have in zip(owned, held.tasks, strict=True)
        for name, partitions in tasks.items()
    )


def _contains(owned: Assigned, held: Held) -> bool:
    """Whether it has any of these tasks."""
    return any(
        not tasks.get(name, frozenset()).isdisjoint(partitions)
        for tasks, some in zip(owned, held.tasks, strict=True)
        for name, partitions in some.items()
    )


def _next(
    member: StreamsMember,
    present_epoch: int,
    epoch: int,
    target: Assigned,
    owned: Assigned | None,
    processes: Processes,
    *,
    in_place: bool,
) -> StreamsMember:
    """`present_epoch` is the member's for as long as it has something to give up."""

    def keeps(goes: Held) -> bool:
        return any(goes) and (owned is None or _contains(owned, goes))

    step, waits = _step(member, target, epoch, roles.taken(member, processes, in_place=in_place))
    if in_place:
        step = roles.in_place(step, member.assigned, target, keeps)
    stays, goes, comes = step
    if keeps(goes):
        return replace(
            member,
            epoch=present_epoch,
            previous_epoch=member.epoch,
            state=MemberState.UNREVOKED,
            assigned=stays,
            revoking=goes,
        )
    return replace(
        member,
        epoch=epoch,
        previous_epoch=member.epoch,
        state=MemberState.UNRELEASED if waits else MemberState.STABLE,
        assigned=Held(
            _joined(stays.active, comes.active),
            _united(stays.standby, comes.standby),
            _united(stays.warmup, comes.warmup),
        ),
        revoking=NOTHING,
    )


def _step(member: StreamsMember, target: Assigned, epoch: int, taken: Taken) -> tuple[Step, bool]:
    """And whether more is to come."""
    had = member.assigned
    active = _active(had.active, target.active, taken.active, epoch)
    standby = _copies(had.standby, target.standby, taken.standby)
    warmup = _copies(had.warmup, target.warmup, taken.warmup)
    step = Step(
        stays=Held(active.stays, standby.stays, warmup.stays),
        goes=Held(active.goes, standby.goes, warmup.goes),
        comes=Held(active.comes, standby.comes, warmup.comes),
    )
    return step, active.waits or standby.waits or warmup.waits


def _active(present: Owned, wanted: Tasks, taken: Callable[[Task], bool], epoch: int) -> _Parts[Owned]:
    """With the epochs."""
    without_epochs = {name: frozenset(found) for name, found in present.items()}
    stays, goes, comes, waits = _copies(without_epochs, wanted, taken)
    given = {name: dict.fromkeys(sorted(some), epoch) for name, some in comes.items()}
    return _Parts(_with_epochs(stays, present), _with_epochs(goes, present), given, waits)


def _with_epochs(tasks: Tasks, present: Owned) -> Owned:
    return {name: {each: present[name][each] for each in sorted(some)} for name, some in tasks.items()}


def _copies(present: Tasks, wanted: Tasks, taken: Callable[[Task], bool]) -> _Parts[Tasks]:
    stays: dict[str, frozenset[int]] = {}
    goes: dict[str, frozenset[int]] = {}
    comes: dict[str, frozenset[int]] = {}
    waits = False
    for name in sorted({*wanted, *present}):
        has, is_to_have = present.get(name, frozenset()), wanted.get(name, frozenset())
        missing = is_to_have - has
        free = frozenset(each for each in missing if not taken((name, each)))
        waits |= len(free) < len(missing)
        for found, some in ((stays, has & is_to_have), (goes, has - is_to_have), (comes, free)):
            if some:
                found[name] = some
    return _Parts(stays, goes, comes, waits)


def _joined(some: Owned, others: Owned) -> Owned:
    names = sorted({*some, *others})
    return {name: {**some.get(name, {}), **others.get(name, {})} for name in names}


def _united(some: Tasks, others: Tasks) -> Tasks:
    names = sorted({*some, *others})
    return {name: some.get(name, frozenset()) | others.get(name, frozenset()) for name in names}

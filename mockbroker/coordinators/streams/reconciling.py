"""How a member gets to its target assignment, step by step (`CurrentAssignmentBuilder.java`)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

from ...portions import MANY, Pace, Parts, portions
from ..member_state import MemberState
from . import roles
from .group import Processes
from .member import NOTHING, Assigned, Held, Owned, StreamsMember, Task, Tasks
from .roles import Step, Taken

T = TypeVar("T")


class _Sorted(NamedTuple, Generic[T]):
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
) -> Parts[StreamsMember]:
    """The member's next state on its way to the target assignment of that epoch. `owned` is what it says that
    it has, None if it does not say. A member first gives up what it has to, in its old epoch; not what it is
    to have in another role, if that changes `in_place`."""
    if member.reconciled_to(epoch):
        return member
    if member.state is MemberState.UNREVOKED:
        if owned is None or _contains(owned, member.revoking):
            return member
        present_epoch = member.epoch + 1
    else:
        present_epoch = member.epoch
    return (yield from _next(member, present_epoch, epoch, target, owned, processes, in_place=in_place))


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
) -> Parts[StreamsMember]:
    """`present_epoch` is the member's for as long as it has something to give up."""

    def keeps(goes: Held) -> bool:
        return any(goes) and (owned is None or _contains(owned, goes))

    taken = roles.taken(member, processes, in_place=in_place)
    step, waits = yield from _step(member, target, epoch, taken)
    if in_place:
        step = yield from roles.in_place(step, member.assigned, target, keeps)
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


def _step(member: StreamsMember, target: Assigned, epoch: int, taken: Taken) -> Parts[tuple[Step, bool]]:
    """And whether more is to come."""
    had = member.assigned
    active = yield from _active(had.active, target.active, taken.active, epoch)
    standby = yield from _copies(had.standby, target.standby, taken.standby)
    warmup = yield from _copies(had.warmup, target.warmup, taken.warmup)
    step = Step(
        stays=Held(active.stays, standby.stays, warmup.stays),
        goes=Held(active.goes, standby.goes, warmup.goes),
        comes=Held(active.comes, standby.comes, warmup.comes),
    )
    return step, active.waits or standby.waits or warmup.waits


def _active(
    present: Owned, wanted: Tasks, taken: Callable[[Task], bool], epoch: int
) -> Parts[_Sorted[Owned]]:
    """With the epochs."""
    without_epochs = {name: frozenset(found) for name, found in present.items()}
    stays, goes, comes, waits = yield from _copies(without_epochs, wanted, taken)
    staying = yield from _with_epochs(stays, present)
    going = yield from _with_epochs(goes, present)
    given, pace = dict[str, Mapping[int, int]](), Pace(MANY)
    for name, some in comes.items():
        given[name] = dict.fromkeys(sorted(some), epoch)
        if pace.enough(len(some)):
            yield
    return _Sorted(staying, going, given, waits)


def _with_epochs(tasks: Tasks, present: Owned) -> Parts[Owned]:
    found, pace = dict[str, Mapping[int, int]](), Pace(MANY)
    for name, some in tasks.items():
        epochs = present[name]
        whole = len(some) == len(epochs)
        found[name] = epochs if whole else {each: epochs[each] for each in sorted(some)}
        if pace.enough(len(some)):
            yield
    return found


def _copies(present: Tasks, wanted: Tasks, taken: Callable[[Task], bool]) -> Parts[_Sorted[Tasks]]:
    pace = Pace()
    stays: dict[str, frozenset[int]] = {}
    goes: dict[str, frozenset[int]] = {}
    comes: dict[str, frozenset[int]] = {}
    waits = False
    for name in sorted({*wanted, *present}):
        has, is_to_have = present.get(name, frozenset()), wanted.get(name, frozenset())
        missing = is_to_have - has
        free = set[int]()
        for portion in portions(missing):
            free.update(each for each in portion if not taken((name, each)))
            if pace.enough(len(portion)):
                yield
        waits |= len(free) < len(missing)
        for found, some in ((stays, has & is_to_have), (goes, has - is_to_have), (comes, frozenset(free))):
            if some:
                found[name] = some
        if pace.enough():
            yield
    return _Sorted(stays, goes, comes, waits)


def _joined(some: Owned, others: Owned) -> Owned:
    names = sorted({*some, *others})
    return {name: {**some.get(name, {}), **others.get(name, {})} for name in names}


def _united(some: Tasks, others: Tasks) -> Tasks:
    names = sorted({*some, *others})
    return {name: some.get(name, frozenset()) | others.get(name, frozenset()) for name in names}

"""How a member gets to its target assignment, step by step (`CurrentAssignmentBuilder.java`)."""

from collections.abc import Callable
from dataclasses import replace

from ..member_state import MemberState
from .group import Processes
from .member import NOTHING, Assigned, Held, Owned, StreamsMember, Task, Tasks


def reconciled(
    member: StreamsMember, epoch: int, target: Assigned, owned: Assigned | None, processes: Processes
) -> StreamsMember:
    """The member's next state on its way to the target assignment of that epoch. `owned` is what it says that
    it has, None if it does not say. A member first gives up what it has to, in its old epoch."""
    if member.reconciled_to(epoch):
        return member
    if member.state is MemberState.UNREVOKED:
        if owned is None or _contains(owned, member.revoking):
            return member
        return _next(member, member.epoch + 1, epoch, target, owned, processes)
    return _next(member, member.epoch, epoch, target, owned, processes)


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
) -> StreamsMember:
    """`present_epoch` is the member's for as long as it has something to give up."""

    def taken(task: Task) -> bool:
        """Whether another process processes it, or its own keeps it."""
        return task in processes.active or processes.keeps(task, member.process_id)

    def on_process(task: Task) -> bool:
        return processes.active.get(task) == member.process_id or processes.keeps(task, member.process_id)

    active, revoking, given, waits = _active(member.assigned.active, target.active, taken, epoch)
    standby, revoking_standby, given_standby, waits_standby = _copies(
        member.assigned.standby, target.standby, on_process
    )
    warmup, revoking_warmup, given_warmup, waits_warmup = _copies(
        member.assigned.warmup, target.warmup, on_process
    )
    goes = Held(revoking, revoking_standby, revoking_warmup)
    if any(goes) and (owned is None or _contains(owned, goes)):
        return replace(
            member,
            epoch=present_epoch,
            previous_epoch=member.epoch,
            state=MemberState.UNREVOKED,
            assigned=Held(active, standby, warmup),
            revoking=goes,
        )
    unreleased = waits or waits_standby or waits_warmup
    return replace(
        member,
        epoch=epoch,
        previous_epoch=member.epoch,
        state=MemberState.UNRELEASED if unreleased else MemberState.STABLE,
        assigned=Held(_joined(active, given), _united(standby, given_standby), _united(warmup, given_warmup)),
        revoking=NOTHING,
    )


def _active(
    present: Owned, wanted: Tasks, taken: Callable[[Task], bool], epoch: int
) -> tuple[Owned, Owned, Owned, bool]:
    """What stays, goes and comes, with the epochs; and whether more is to come."""
    without_epochs = {name: frozenset(found) for name, found in present.items()}
    stays, goes, comes, waits = _copies(without_epochs, wanted, taken)
    return (
        _with_epochs(stays, present),
        _with_epochs(goes, present),
        {name: dict.fromkeys(sorted(some), epoch) for name, some in comes.items()},
        waits,
    )


def _with_epochs(tasks: Tasks, present: Owned) -> Owned:
    return {name: {each: present[name][each] for each in sorted(some)} for name, some in tasks.items()}


def _copies(present: Tasks, wanted: Tasks, taken: Callable[[Task], bool]) -> tuple[Tasks, Tasks, Tasks, bool]:
    """What stays, goes and comes; and whether more is to come."""
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
    return stays, goes, comes, waits


def _joined(some: Owned, others: Owned) -> Owned:
    names = sorted({*some, *others})
    return {name: {**some.get(name, {}), **others.get(name, {})} for name in names}


def _united(some: Tasks, others: Tasks) -> Tasks:
    names = sorted({*some, *others})
    return {name: some.get(name, frozenset()) | others.get(name, frozenset()) for name in names}

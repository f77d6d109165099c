"""How long members of consumer groups may be silent, and how long they may take for what they have to do."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from ...environment import Environment, Timer
from ..member_state import MemberState
from ..members import Session
from .group import ConsumerGroup
from .member import ConsumerMember
from .settings import session_ms

_Key = tuple[str, str]
"""Group and member id."""
Task = Literal["revoke", "join", "sync"]
"""What a member has its rebalance timeout for: to give up partitions; with the classic protocol, to join
again and to sync."""
_TASKS: tuple[Task, ...] = ("revoke", "join", "sync")


class Timers:
    """The timers of all members on one broker. `fence` is called for a member that is too late."""

    def __init__(self, environment: Environment, fence: Callable[[ConsumerGroup, str], None]) -> None:
        self._environment = environment
        self._fence = fence
        self._sessions: dict[_Key, Session] = {}
        self._tasks: dict[Task, dict[_Key, Timer]] = {each: {} for each in _TASKS}

    def heard(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """The member's session begins anew; one of the classic protocol has its own timeout."""
        classic = member.classic
        own_ms = session_ms(self._environment.configs, group.id) if classic is None else classic.session_ms
        self._renew(group, member, own_ms)

    def loaded(self, group: ConsumerGroup) -> None:
        """Sessions begin anew on another coordinator, and so does the time to give up partitions."""
        timeout_ms = session_ms(self._environment.configs, group.id)
        for member in group.members.values():
            self._renew(group, member, timeout_ms)
            self.await_revocation(group, member)

    def _renew(self, group: ConsumerGroup, member: ConsumerMember, timeout_ms: int) -> None:
        key = group.id, member.id
        session = self._sessions.get(key)
        if session is None:
            late = partial(self._fence, group, member.id)
            session = self._sessions[key] = Session(self._environment, late)
        session.renew(timeout_ms)

    def await_revocation(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A member that does not give up what it has to within its rebalance timeout is fenced."""
        self.done("revoke", group, member.id)
        if member.state is not MemberState.UNREVOKED or member.classic is not None:
            return

        def late() -> None:
            known = group.members.get(member.id)
            if known is not None and known.epoch == member.epoch:
                self._fence(group, member.id)

        self._await("revoke", group, member, late)

    def await_task(self, task: Task, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A member of the classic protocol has this to do; if it has had so before, its time goes on."""
        if (group.id, member.id) not in self._tasks[task]:
            self._await(task, group, member, partial(self._fence, group, member.id))

    def _await(
        self, task: Task, group: ConsumerGroup, member: ConsumerMember, late: Callable[[], None]
    ) -> None:
        def over() -> None:
            self._tasks[task].pop((group.id, member.id), None)
            late()

        timer = self._environment.after(member.rebalance_timeout_ms, over)
        self._tasks[task][group.id, member.id] = timer

    def done(self, task: Task, group: ConsumerGroup, member_id: str) -> None:
        timer = self._tasks[task].pop((group.id, member_id), None)
        if timer is not None:
            timer.cancel()

    def stop(self, group: ConsumerGroup, member_id: str) -> None:
        """Ends all timers of a member."""
        session = self._sessions.pop((group.id, member_id), None)
        if session is not None:
            session.end()
        for task in _TASKS:
            self.done(task, group, member_id)

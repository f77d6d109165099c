"""The group coordinator of one broker."""

from collections.abc import Callable, Collection, Mapping

from ..environment import Timer
from ..policies.groups.empty_group_cleanup import empty_group_cleanup
from ..policies.groups.not_coordinator_join import not_coordinator_join
from ..policies.groups.session_timeout_check import session_timeout_check
from ..policies.offsets.commit_of_nothing import commit_of_nothing
from ..policies.offsets.commit_to_unknown_group import commit_to_unknown_group
from ..policies.offsets.loaded_offsets import loaded_offsets
from ..policies.offsets.offset_retention_start import offset_retention_start
from ..policies.offsets.unsubscribed_offsets import unsubscribed_offsets
from ..protocol.errors import ErrorCode
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import MemberIdentity, MemberResponse
from .commits import commit
from .group import ClassicGroup, RebalanceFailedError, join_error
from .home import Home
from .membership import Membership
from .offsets import CommittedOffset, Key
from .rebalance import Joining, Rebalance
from .settings import GroupSettings
from .states import GroupEvent, GroupState

E = ErrorCode


class GroupCoordinator:
    """`groups` are by group id, `halted` are the groups that were here when the broker went down; `settings`
    were read from the broker's configuration when it started."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.environment = environment = home.environment
        self.groups: dict[str, ClassicGroup] = {}
        self.halted: dict[str, ClassicGroup] = {}
        self.settings = GroupSettings.of(environment.configs)
        self.rebalance = Rebalance(environment, self.settings, self._wrote)
        self.members = Membership(environment, self.settings, self.rebalance)
        self._in_transaction: dict[int, dict[str, None]] = {}
        """Groups with offsets that wait for the end of a transaction, by producer id."""
        self._unwritten: list[ClassicGroup] = []
        self._started_ms = environment.now_ms
        self._check: Timer | None = None

    def refuses(self, group_id: str, *, may_be_empty: bool = False) -> ErrorCode:
        """INVALID_GROUP_ID or NOT_COORDINATOR if this coordinator is not the one to ask about the group.

        The id `""` is valid for the APIs that old consumers without a group used.
        """
        if not group_id and not may_be_empty:
            return E.INVALID_GROUP_ID
        if not self.home.coordinates(group_id):
            return E.NOT_COORDINATOR
        return E.NONE

    def create(self, group_id: str) -> ClassicGroup:
        """The group of that id, a new one if there is none."""
        group = self.groups.get(group_id)
        if group is None:
            group = self.groups[group_id] = ClassicGroup(self.environment, group_id)
            self._plan_check()
        return group

    def _begin_with_commit(self, group_id: str) -> ClassicGroup:
        """A group that begins with a commit. If that commits nothing, there is no record of the group."""
        group = self.create(group_id)
        if self.home.policies[commit_of_nothing] == "begins-unseen":
            group.unwritten = True
            self._unwritten.append(group)
        return group

    def _wrote(self, group: ClassicGroup) -> None:
        """A record of this group was written to its partition."""
        if self._unwritten:
            self._wrote_to(self.home.offsets_index(group.id))

    def _wrote_to(self, partition: int) -> None:
        for group in self._unwritten:
            if self.home.offsets_index(group.id) == partition:
                group.unwritten = False
        self._unwritten = [each for each in self._unwritten if each.unwritten]

    # -- moves

    def resign(self, held: Callable[[ClassicGroup], bool]) -> list[ClassicGroup]:
        """Lets go of groups that have another coordinator now: requests that wait get NOT_COORDINATOR."""
        gone = self._pop(self.groups, held)
        for group in gone:
            self.rebalance.stop(group)
            self.rebalance.refuse(group, E.NOT_COORDINATOR)
        gone += self._pop(self.halted, held)
        for group in gone:
            for producer_id in group.offsets.open:
                self._in_transaction.get(producer_id, {}).pop(group.id, None)
        return gone

    def halt(self) -> None:
        """The broker goes down: its timers end, and no request is answered."""
        for group in self.groups.values():
            self.rebalance.stop(group)
            self.halted[group.id] = group
        self.groups.clear()

    def reload(self, held: Callable[[ClassicGroup], bool]) -> None:
        """Loads the groups that were here when the broker went down."""
        self.load(self._pop(self.halted, held))

    def load(self, groups: list[ClassicGroup]) -> None:
        """Takes over groups from `__consumer_offsets`; sessions start again."""
        for group in groups:
            if group.stored is None and not group.offsets:
                continue
            loaded = self.groups[group.id] = self.rebalance.load(group)
            for producer_id in loaded.offsets.open:
                self._in_transaction.setdefault(producer_id, {})[group.id] = None
            if self.home.policies[loaded_offsets] == "expire-at-once":
                loaded.offsets.expire_next()
        if self.groups:
            self._plan_check()

    @staticmethod
    def _pop(groups: dict[str, ClassicGroup], held: Callable[[ClassicGroup], bool]) -> list[ClassicGroup]:
        return [groups.pop(group.id) for group in list(filter(held, groups.values()))]

    def delete(self, group: ClassicGroup) -> None:
        self.rebalance.stop(group)
        group.fire(GroupEvent.DELETED)
        del self.groups[group.id]
        self._wrote(group)

    # -- members

    def join(self, request: JoinGroupRequest, reply: Joining) -> None:
        settings, member_id, policies = self.settings, request.member_id, self.home.policies
        error, timeout_ms = self.refuses(request.group_id), request.session_timeout_ms
        if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms and (
            not error
            or (error is not E.INVALID_GROUP_ID and policies[session_timeout_check] == "by-any-broker")
        ):
            reply.complete(join_error(member_id, E.INVALID_SESSION_TIMEOUT))
        elif error:
            kept = error is not E.NOT_COORDINATOR or policies[not_coordinator_join] == "member-id"
            reply.complete(join_error(member_id if kept else "", error))
        elif member_id and request.group_id not in self.groups:
            reply.complete(join_error(member_id, E.UNKNOWN_MEMBER_ID))
        else:
            known = request.group_id in self.groups
            group = self.create(request.group_id)
            if not known:
                self._wrote(group)
            try:
                self.members.join(group, request, reply)
            except RebalanceFailedError:
                self._fail_join(group, reply)

    @staticmethod
    def _fail_join(group: ClassicGroup, reply: Joining) -> None:
        """Answers the request now, and not when its member is removed."""
        for member in group.members.values():
            if member.join is reply:
                group.answer_join(member, join_error("", E.UNKNOWN_SERVER_ERROR))

    def leave(self, group_id: str, leaving: list[MemberIdentity]) -> list[MemberResponse]:
        """The result for each member; the group rebalances once, after the last one."""
        group = self.groups.get(group_id)
        answers = []
        rebalance = False
        for member in leaving:
            error, counts = (
                (E.UNKNOWN_MEMBER_ID, False) if group is None else self.members.leave(group, member)
            )
            rebalance = rebalance or counts
            answers.append(MemberResponse(member.member_id, member.group_instance_id, error))
        if group is not None:
            self.members.left(group, rebalance=rebalance)
        return answers

    # -- offsets

    def commit(
        self,
        group_id: str,
        generation: int,
        member_id: str,
        instance_id: str | None,
        version: int,
        offsets: Mapping[Key, CommittedOffset],
        done: Callable[[ErrorCode], None],
    ) -> None:
        """Commits offsets if the member may; a commit from outside creates a group that does not exist."""
        if error := self.refuses(group_id, may_be_empty=True):
            done(error)
            return
        group = self.groups.get(group_id)
        if group is None:
            if generation >= 0:
                done(self.home.policies[commit_to_unknown_group](version))
                return
            group = self._begin_with_commit(group_id)
        if error := self.members.check_commit(group, generation, member_id, instance_id):
            done(error)
            return
        if offsets:
            self._wrote(group)
        commit(self.home, group, offsets, done)

    def may_commit_in_transaction(
        self, group_id: str, generation: int, member_id: str, instance_id: str | None
    ) -> ErrorCode:
        """The error if offsets of this member may not be part of a transaction; creates a group that does not
        exist."""
        if error := self.refuses(group_id):
            return error
        group = self.groups.get(group_id)
        if group is None:
            if generation >= 0:
                return E.ILLEGAL_GENERATION
            group = self._begin_with_commit(group_id)
        return self.members.check_transactional_commit(group, generation, member_id, instance_id)

    def commit_in_transaction(
        self, group: ClassicGroup, producer_id: int, offsets: Mapping[Key, CommittedOffset]
    ) -> None:
        """The offsets become valid when the transaction is committed."""
        self._wrote(group)
        group.offsets.commit_open(producer_id, offsets)
        self._in_transaction.setdefault(producer_id, {})[group.id] = None

    def complete_transaction(self, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets`: offsets that waited for it become valid, or are
        dropped."""
        self._wrote_to(partition)
        waiting = self._in_transaction.pop(producer_id, {})
        for group_id in list(waiting):
            if self.home.offsets_index(group_id) == partition:
                del waiting[group_id]
                if (group := self.groups.get(group_id)) is not None:
                    group.offsets.complete(producer_id, committed)
        if waiting:
            self._in_transaction[producer_id] = waiting

    def forget_offsets(self, group: ClassicGroup, keys: list[Key]) -> None:
        group.offsets.remove(keys)
        self._wrote(group)
        if self.home.policies[empty_group_cleanup] == "at-once":
            self._delete_if_unused(group)

    def topics_deleted(self, topics: Collection[str]) -> None:
        """Forgets the committed offsets of deleted topics."""
        for group in list(self.groups.values()):
            group.offsets.remove_topics(topics)
            if self.home.policies[empty_group_cleanup] == "at-once":
                self._delete_if_unused(group)

    # -- expiry

    def _plan_check(self) -> None:
        """Checks for expired offsets every `offsets.retention.check.interval.ms`, as Kafka does; without
        groups, no timer runs."""
        if self._check is None:
            interval_ms = self.settings.retention_check_interval_ms
            since_last_ms = (self.environment.now_ms - self._started_ms) % interval_ms
            self._check = self.environment.after(interval_ms - since_last_ms, self._expire)

    def _expire(self) -> None:
        self._check = None
        for group in list(self.groups.values()):
            self._expire_offsets(group)
            self._delete_if_unused(group)
        if self.groups:
            self._plan_check()

    def _expire_offsets(self, group: ClassicGroup) -> None:
        now_ms, retention_ms = self.environment.now_ms, self.settings.offsets_retention_ms
        if group.protocol_type is None or self.home.policies[offset_retention_start] == "commit":
            group.offsets.expire(now_ms, retention_ms, _commit_ms)
        elif group.state is GroupState.EMPTY:
            group.offsets.expire(now_ms, retention_ms, lambda _: group.state_since_ms)
        elif group.subscribed is not None and self.home.policies[unsubscribed_offsets](
            group.state is GroupState.STABLE
        ):
            group.offsets.expire(now_ms, retention_ms, _commit_ms, group.subscribed)

    def _delete_if_unused(self, group: ClassicGroup) -> None:
        if group.state is GroupState.EMPTY and not group.offsets:
            self.delete(group)


def _commit_ms(offset: CommittedOffset) -> int:
    return offset.commit_ms

"""The group coordinator of one broker."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from ..policies.groups.empty_group_cleanup import empty_group_cleanup
from ..policies.groups.group_loading import group_loading
from ..policies.groups.new_group_record import new_group_record
from ..policies.groups.not_coordinator_join import not_coordinator_join
from ..policies.groups.session_timeout_check import session_timeout_check
from ..policies.offsets.commit_of_nothing import commit_of_nothing
from ..policies.offsets.commit_to_unknown_group import commit_to_unknown_group
from ..policies.offsets.transactional_offsets import transactional_offsets
from ..protocol.errors import ErrorCode
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import MemberIdentity, MemberResponse
from .burials import Burials
from .commits import Done, commit
from .expiry import Expiry
from .group import ClassicGroup, RebalanceFailedError, join_error
from .group_shard import commit_error, group_error
from .group_shards import GroupShards
from .home import Home
from .loading import LoadedGroup
from .members import Member
from .membership import Membership
from .offsets import CommittedOffset, Key
from .rebalance import Joining, Rebalance
from .settings import GroupSettings
from .states import GroupEvent
from .transaction_rules import Producer

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .consumer.coordinating import ConsumerGroups
    from .consumer.group import ConsumerGroup
    from .consumer.member import ConsumerMember
    from .kinds import Group

E = ErrorCode
_OFFSETS_AT_ONCE: Final = 1024
_A_GROUP: Final = 8
_A_TOMBSTONE: Final = 32
"""To look at a group, and to bury an offset, takes as long as to look at so many offsets."""
_LATER_MS: Final = 100
"""How long after its marker a transaction is completed where that is a step of its own."""


def nobody(error: ErrorCode) -> None:
    """Nobody waits for the answer."""


class GroupCoordinator:
    """`groups` are by group id; `settings` were read from the broker's configuration when it started."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.environment = environment = home.environment
        self.groups: dict[str, Group] = {}
        self.shards = GroupShards(home, self._loaded, self._resigned, self._wrote)
        self.settings = GroupSettings.of(environment.configs)
        self.rebalance = Rebalance(home, self.settings, self._store)
        self.members = Membership(home, self.settings, self.rebalance)
        self.burials = Burials(self.shards)
        self.expiry = Expiry(home, self.settings, self.groups, self.shards, self._expire)
        self._in_transaction: dict[int, dict[str, None]] = {}
        """Groups with offsets that wait for the end of a transaction, by producer id."""
        self._unwritten: list[ClassicGroup] = []

    def refuses(self, group_id: str, *, may_be_empty: bool = False) -> ErrorCode:
        """Why this coordinator can't be asked about the group now: INVALID_GROUP_ID, NOT_COORDINATOR, or what
        `group-loading` says.

        The id `""` is valid for the APIs that old consumers without a group used.
        """
        if not group_id and not may_be_empty:
            return E.INVALID_GROUP_ID
        shard = self.shards.of(group_id)
        if shard is None or shard.failed:
            return E.NOT_COORDINATOR
        return E.NONE if shard.loading is None else self.home.policies[group_loading].error

    def loads(self, group_id: str) -> bool:
        """Whether this coordinator is loading the group."""
        shard = self.shards.of(group_id)
        return shard is not None and shard.loading is not None

    @cached_property
    def consumers(self) -> "ConsumerGroups":
        """The groups of KIP-848, of which only few clusters have any."""
        from .consumer.coordinating import ConsumerGroups

        return ConsumerGroups(self)

    def classic(self, group_id: str) -> ClassicGroup | None:
        """The classic group of that id, if there is one."""
        group = self.groups.get(group_id)
        return group if group is not None and group.type == "classic" else None

    def consumer(self, group_id: str) -> "ConsumerGroup | None":
        """The consumer group of that id, if there is one."""
        group = self.groups.get(group_id)
        return group if group is not None and group.type == "consumer" else None

    def create(self, group_id: str) -> ClassicGroup:
        """The classic group of that id, a new one if there is none. A consumer group without members becomes
        one, and keeps its offsets."""
        known = self.groups.get(group_id)
        if known is not None and known.type == "classic":
            return known
        group = ClassicGroup(self.home, group_id, self.home.offsets_index(group_id))
        if known is not None:
            group.offsets = known.offsets
            shard, graves = self.shards.of(group_id), known.graves()
            if graves and shard is not None and shard.current:
                shard.append(graves)
        self.groups[group_id] = group
        self.expiry.plan()
        return group

    def _begin_with_commit(self, group_id: str) -> ClassicGroup:
        """A group that begins with a commit. If that commits nothing, there is no record of the group."""
        group = self.create(group_id)
        if self.home.policies[commit_of_nothing] == "begins-unseen":
            group.unwritten = True
            self._unwritten.append(group)
        return group

    # -- records

    def _wrote(self, partition: int) -> None:
        """Something was written to this partition of `__consumer_offsets`."""
        if self._unwritten:
            for group in self._unwritten:
                if group.partition == partition:
                    group.unwritten = False
            self._unwritten = [each for each in self._unwritten if each.unwritten]

    def _store(self, group: ClassicGroup, assignments: Mapping[str, bytes], done: Done) -> None:
        """Writes a generation with its assignment."""
        shard = self.shards.of(group.id)
        if shard is None:
            done(E.NOT_COORDINATOR)
            return
        pairs, awaits = shard.layout.group(group.id, group.metadata(assignments)), self.shards.awaits
        shard.write(pairs, lambda: None, lambda error: done(group_error(error, awaits=awaits)), awaits=awaits)

    def _bury(self, group: "Group", offsets: list[Key], done: Done, *, of_group: bool = False) -> None:
        self.burials.bury(group, offsets, done, of_group=of_group, awaits=self.shards.awaits)

    def _expire(self, expired: "Iterable[tuple[Group, list[Key]]]") -> None:
        with self.burials.together():
            for group, gone in expired:
                self._forgot(group, gone, nobody)

    def settle(self, group_id: str, done: Done) -> None:
        """Since 4.0 a request that writes nothing waits for what was written to the partition before it.
        COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
        shard = self.shards.of(group_id) if self.shards.awaits else None
        if shard is None:
            done(E.NONE)
        else:
            shard.settle(lambda error: done(commit_error(error, awaits=True)))

    def delete(self, group: "Group", done: Done) -> None:
        """Deletes a group with its offsets. COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
        self._remove(group, group.offsets.remove_all(with_open=self.shards.awaits), done)

    def _forgot(self, group: "Group", gone: list[Key], done: Done, *, at_once: bool = True) -> None:
        """These offsets are gone, and with its last ones an empty group."""
        if at_once and group.is_empty and not group.offsets:
            self._remove(group, gone, done)
        else:
            self._bury(group, gone, done)

    def _remove(self, group: "Group", gone: list[Key], done: Done) -> None:
        if group.type == "classic":
            self.rebalance.stop(group)
            group.fire(GroupEvent.DELETED)
        else:
            group.deleted = True
        del self.groups[group.id]
        self._bury(group, gone, done, of_group=True)

    # -- moves

    def leader_changed(self, index: int, partition: "Partition | None") -> None:
        """The broker now leads a partition of `__consumer_offsets`, or no longer leads it."""
        self.shards.leader_changed(index, partition)
        if self.shards.loading:
            self.expiry.plan()

    def halt(self) -> None:
        """The broker goes down: its timers end, and no request is answered."""
        for group in self.groups.values():
            self._stop(group)
        self.groups.clear()
        self.shards.halt()
        self._in_transaction.clear()
        self._unwritten.clear()

    def _loaded(self, partition: int, groups: Mapping[str, LoadedGroup]) -> None:
        """Takes over what was read from `__consumer_offsets`; sessions start again."""
        for group_id, found in groups.items():
            loaded = self.groups[group_id] = self.restored(group_id, partition, found)
            if loaded.type == "consumer":
                self.consumers.loaded(loaded)
            else:
                for member in loaded.members.values():
                    self.rebalance.renew(member)
            for producer_id in loaded.offsets.open:
                self._in_transaction.setdefault(producer_id, {})[group_id] = None
        if self.groups:
            self.expiry.plan()

    def restored(self, group_id: str, partition: int, found: LoadedGroup) -> "Group":
        """A group as its records say; its sessions have not begun."""
        if found.consumer:
            return self.consumers.restore(group_id, partition, found)
        return self.rebalance.load(group_id, partition, found)

    def _resigned(self, partition: int) -> None:
        """Lets go of the groups of a partition that another broker leads: requests that wait get
        NOT_COORDINATOR."""
        for group in list(self.groups.values()):
            if group.partition != partition:
                continue
            del self.groups[group.id]
            self._stop(group)
            if group.type == "classic":
                self.rebalance.refuse(group, E.NOT_COORDINATOR)
            for producer_id in group.offsets.open:
                self._in_transaction.get(producer_id, {}).pop(group.id, None)

    def _stop(self, group: "Group") -> None:
        """Ends the group's timers."""
        if group.type == "classic":
            self.rebalance.stop(group)
        else:
            self.consumers.stop(group)

    # -- members

    def end_session(self, group_id: str, member: "Member | ConsumerMember") -> None:
        """The member was silent for too long."""
        group = self.groups[group_id]
        if group.type == "consumer":
            self.consumers.remove(group, [member.id])
        elif isinstance(member, Member):
            self.rebalance.end_session(group, member)

    def join(self, request: JoinGroupRequest, reply: Joining) -> None:
        settings, member_id, policies = self.settings, request.member_id, self.home.policies
        error, timeout_ms = self.refuses(request.group_id), request.session_timeout_ms
        if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms and (
            not error
            or (error is not E.INVALID_GROUP_ID and policies[session_timeout_check] == "by-any-broker")
        ):
            reply.complete(join_error(member_id, E.INVALID_SESSION_TIMEOUT))
        elif error:
            kept = error is E.INVALID_GROUP_ID or policies[not_coordinator_join] == "member-id"
            reply.complete(join_error(member_id if kept else "", error))
        elif (shared := self.consumer(request.group_id)) is not None and not shared.is_empty:
            answer = self.consumers.join(shared, request, reply.call)
            self.settle(
                request.group_id, lambda late: reply.complete(join_error("", late) if late else answer)
            )
        elif member_id and request.group_id not in self.groups:
            reply.complete(join_error(member_id, E.UNKNOWN_MEMBER_ID))
        else:
            known = request.group_id in self.groups
            group = self.create(request.group_id)
            if not known and policies[new_group_record] == "written":
                self._store(group, {}, nobody)
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

    def leave(self, group_id: str, leaving: Sequence[MemberIdentity]) -> list[MemberResponse]:
        """The result for each member; the group rebalances once, after the last one."""
        known = self.groups.get(group_id)
        if known is not None and known.type == "consumer":
            return self.consumers.leave(known, leaving)
        group = self.classic(group_id)
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
        shard = self.shards.of(group_id)
        if shard is None or not shard.serves:
            done(self.refuses(group_id, may_be_empty=True))
            return
        group = self.groups.get(group_id)
        if group is None:
            if generation >= 0:
                done(self.home.policies[commit_to_unknown_group](version))
                return
            group = self._begin_with_commit(group_id)
        if group.type == "consumer":
            error = self.consumers.check_commit(group, generation, member_id, version, offsets)
        else:
            error = self.members.check_commit(group, generation, member_id, instance_id)
        if error:
            done(error)
            return
        commit(shard, group, offsets, done, self.shards.metrics, awaits=self.shards.awaits)

    def may_commit_in_transaction(
        self,
        group_id: str,
        generation: int,
        member_id: str,
        instance_id: str | None,
        offsets: Iterable[Key],
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
        if group.type == "consumer":
            member = generation, member_id, instance_id
            return self.consumers.check_transactional_commit(group, *member, offsets)
        return self.members.check_transactional_commit(group, generation, member_id, instance_id)

    def commit_in_transaction(
        self,
        group: "Group",
        producer: Producer,
        offsets: Mapping[Key, CommittedOffset],
        done: Done,
    ) -> None:
        """The offsets become valid when the transaction is committed."""
        shard = self.shards.of(group.id)
        assert shard is not None
        self._in_transaction.setdefault(producer.id, {})[group.id] = None
        commit(shard, group, offsets, done, self.shards.metrics, awaits=self.shards.awaits, producer=producer)

    def complete_transaction(self, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets`: offsets that waited for it become valid, or are
        dropped."""
        self._wrote(partition)
        complete = partial(self._complete, partition, producer_id, committed)
        if self.home.policies[transactional_offsets] == "later":
            self.environment.after(_LATER_MS, complete)
        else:
            complete()

    def _complete(self, partition: int, producer_id: int, committed: bool) -> None:
        waiting = self._in_transaction.pop(producer_id, {})
        for group_id in list(waiting):
            if self.home.offsets_index(group_id) == partition:
                del waiting[group_id]
                if (group := self.groups.get(group_id)) is not None:
                    group.offsets.complete(producer_id, committed)
        if waiting:
            self._in_transaction[producer_id] = waiting

    def forget_offsets(self, group: "Group", keys: list[Key], done: Done) -> None:
        """COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
        at_once = self.home.policies[empty_group_cleanup] == "at-once"
        self._forgot(group, group.offsets.remove(keys, with_open=self.shards.awaits), done, at_once=at_once)

    def topics_deleted(self, topics: Collection[str]) -> Iterator[None]:
        """Forgets the committed offsets of deleted topics, in parts: some thousand offsets at once."""
        at_once = self.home.policies[empty_group_cleanup] == "at-once"
        left = deque(self.groups.values())
        while left:
            seen = 0
            with self.burials.together():
                while left and seen < _OFFSETS_AT_ONCE:
                    group = left.popleft()
                    if self.groups.get(group.id) is group:
                        seen += _A_GROUP + group.offsets.size
                        gone = group.offsets.remove_topics(topics, with_open=self.shards.awaits)
                        seen += _A_TOMBSTONE * len(gone)
                        self._forgot(group, gone, nobody, at_once=at_once)
            yield

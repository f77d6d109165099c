"""The group coordinator of one broker."""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from ..policies.groups.empty_group_cleanup import empty_group_cleanup
from ..policies.groups.group_loading import group_loading
from ..policies.groups.new_group_record import new_group_record
from ..policies.groups.not_coordinator_join import not_coordinator_join
from ..policies.groups.session_timeout_check import session_timeout_check
from ..policies.offsets.commit_of_nothing import commit_of_nothing
from ..policies.offsets.commit_to_unknown_group import commit_to_unknown_group
from ..portions import Parts
from ..protocol.errors import ErrorCode
from ..protocol.messages.join_group import JoinGroupRequest
from ..protocol.messages.leave_group import MemberIdentity, MemberResponse
from .burials import Burials
from .classic.coordinating import ClassicGroups
from .classic.group import ClassicGroup, join_error
from .commits import Done, commit
from .expiry import Expiry
from .group_shard import commit_error
from .group_shards import GroupShards
from .home import Home, Request
from .known_topics import learning
from .loading import LoadedGroup
from .members import Claim
from .named_topics import NamedTopics, named_topics
from .offsets import CommittedOffset, Key
from .open_offsets import OpenOffsets
from .reply import Joining, Reply
from .settings import GroupSettings
from .transaction_rules import ProducerIdAndEpoch

if TYPE_CHECKING:
    from ..replication.partition import Partition
    from .consumer.coordinating import ConsumerGroups
    from .consumer.group import ConsumerGroup
    from .kinds import Group, Kind
    from .share.coordinating import ShareGroups
    from .share.offsets import ShareOffsets
    from .streams.coordinating import StreamsGroups

E = ErrorCode
_OFFSETS_AT_ONCE: Final = 1024
_A_GROUP: Final = 8
_A_TOMBSTONE: Final = 32
"""To look at a group, and to bury an offset, takes as long as to look at so many offsets."""


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
        self.classics = ClassicGroups(home, self.settings, self.shards)
        self.burials = Burials(self.shards)
        self.expiry = Expiry(home, self.settings, self.groups, self.shards, self._expire)
        self._open = OpenOffsets(home, self.groups)
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

    @cached_property
    def shares(self) -> "ShareGroups":
        """The groups of KIP-932."""
        from .share.coordinating import ShareGroups

        return ShareGroups(self)

    @cached_property
    def share_offsets(self) -> "ShareOffsets":
        from .share.offsets import ShareOffsets

        return ShareOffsets(self.home, self.shares)

    @cached_property
    def streams(self) -> "StreamsGroups":
        """The groups of KIP-1071."""
        from .streams.coordinating import StreamsGroups

        return StreamsGroups(self)

    def kind(self, group: "Group") -> "Kind[Any]":
        """The groups of that kind."""
        match group.type:
            case "classic":
                return self.classics
            case "consumer":
                return self.consumers
            case "share":
                return self.shares
            case "streams":
                return self.streams

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
            shard, graves = self.shards.of(group_id), known.graves(awaits=self.shards.awaits)
            if graves and shard is not None and shard.current:
                shard.write_at_once(graves)
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

    def _expire(self, expired: "Iterable[tuple[Group, list[Key]]]") -> None:
        with self.burials.together():
            for group, gone in expired:
                self._forgot(group, gone, nobody)

    def settle(self, group_id: str, done: Done) -> None:
        """Since 4.0 a request that writes nothing waits for what was written to the partition before it.
        COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
        shard = self.shards.of(group_id)
        if shard is None:
            done(E.NONE)
        else:
            shard.settle(lambda error: done(commit_error(error, awaits=True)))

    def once_settled(
        self, call: Request, group_id: str, answer: object, failed: Callable[[ErrorCode], object]
    ) -> object:
        """For a handler to return: the answer once `settle` is done, or `failed` if that fails."""
        reply: Reply[object] = Reply(call)
        self.settle(group_id, lambda late: reply.complete(failed(late) if late else answer))
        return reply.outcome()

    def delete(self, group: "Group", done: Done) -> None:
        """Deletes a group with its offsets. COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
        self._remove(group, group.offsets.remove_all(with_open=self.shards.awaits), done)

    def _forgot(self, group: "Group", gone: list[Key], done: Done, *, at_once: bool = True) -> None:
        """These offsets are gone, and with its last ones an empty group."""
        if at_once and group.is_empty and not group.offsets:
            self._remove(group, gone, done)
        else:
            self.burials.bury(group, gone, done)

    def _remove(self, group: "Group", gone: list[Key], done: Done) -> None:
        self.kind(group).stop(group)
        group.delete()
        del self.groups[group.id]
        self.burials.bury(group, gone, done, of_group=True)

    # -- moves

    def leader_changed(self, index: int, partition: "Partition | None") -> None:
        """The broker now leads a partition of `__consumer_offsets`, or no longer leads it."""
        self.shards.leader_changed(index, partition)
        if self.shards.loading:
            self.expiry.plan()

    def halt(self) -> None:
        """The broker goes down: its timers end, and no request is answered."""
        for group in self.groups.values():
            self.kind(group).stop(group)
        self.groups.clear()
        self.shards.halt()
        self._open.clear()
        self._unwritten.clear()

    def _loaded(self, partition: int, groups: Mapping[str, LoadedGroup]) -> None:
        """Takes over what was read from `__consumer_offsets`; sessions start again."""
        for group_id, found in groups.items():
            loaded = self.groups[group_id] = self.restored(group_id, partition, found)
            self.kind(loaded).loaded(loaded)
            self._open.take(loaded)
        if self.groups:
            self.expiry.plan()

    def restored(self, group_id: str, partition: int, found: LoadedGroup) -> "Group":
        """A group as its records say; its sessions have not begun."""
        kind: Kind[Any] = self.consumers if found.consumer else self.classics
        if found.share:
            kind = self.shares
        elif found.streams:
            kind = self.streams
        group: Group = kind.restore(group_id, partition, found)
        return group

    def _resigned(self, partition: int) -> None:
        """Lets go of the groups of a partition that another broker leads."""
        for group in list(self.groups.values()):
            if group.partition == partition:
                del self.groups[group.id]
                self.kind(group).resign(group)
                self._open.drop(group)

    # -- members

    def prepared(self, group_id: str, names: Sequence[str] | None) -> Parts[NamedTopics | None]:
        """Does beforehand what takes long of a heartbeat in which a member of a consumer or share group names
        these topics. What it changes is then changed in one short step."""
        named = None
        if names is not None:
            named = yield from named_topics(names)
            yield from learning(self.home, named)
        group = self.groups.get(group_id)
        if group is not None and group.subscribed is not None:
            yield from learning(self.home, group.subscribed)
        return named

    def end_session(self, group_id: str, member_id: str) -> None:
        """The member was silent for too long."""
        group = self.groups[group_id]
        self.kind(group).end_session(group, member_id)

    def join(self, request: JoinGroupRequest, reply: Joining) -> None:
        settings, member_id, policies = self.settings, request.member_id, self.home.policies
        error, timeout_ms = self.refuses(request.group_id), request.session_timeout_ms
        group = self.groups.get(request.group_id)
        if not settings.min_session_timeout_ms <= timeout_ms <= settings.max_session_timeout_ms and (
            not error
            or (error is not E.INVALID_GROUP_ID and policies[session_timeout_check] == "by-any-broker")
        ):
            reply.complete(join_error(member_id, E.INVALID_SESSION_TIMEOUT))
        elif error:
            kept = error is E.INVALID_GROUP_ID or policies[not_coordinator_join] == "member-id"
            reply.complete(join_error(member_id if kept else "", error))
        elif member_id and (group is None or (group.is_empty and group.type in ("consumer", "streams"))):
            reply.complete(join_error(member_id, E.UNKNOWN_MEMBER_ID))
        else:
            if group is None or (group.is_empty and group.type != "share"):
                begins, group = group is None, self.create(request.group_id)
                if begins and policies[new_group_record] == "written":
                    self.classics.store(group, {}, nobody)
            self.kind(group).join(group, request, reply)

    def leave(self, group_id: str, leaving: Sequence[MemberIdentity]) -> list[MemberResponse]:
        """The result for each member."""
        group = self.groups.get(group_id)
        if group is None:
            return [
                MemberResponse(each.member_id, each.group_instance_id, E.UNKNOWN_MEMBER_ID)
                for each in leaving
            ]
        return self.kind(group).leave(group, leaving)

    # -- offsets

    def commit(
        self,
        group_id: str,
        claim: Claim,
        version: int,
        offsets: Mapping[Key, CommittedOffset],
        done: Done,
    ) -> None:
        """Commits offsets if the member may; a commit from outside creates a group that does not exist."""
        shard = self.shards.of(group_id)
        if shard is None or not shard.serves:
            done(self.refuses(group_id, may_be_empty=True))
            return
        group = self.groups.get(group_id)
        if group is None:
            if claim.generation >= 0:
                done(self.home.policies[commit_to_unknown_group](version))
                return
            group = self._begin_with_commit(group_id)
        if error := self.kind(group).check_commit(group, claim, version, offsets):
            done(error)
        else:
            commit(shard, group, offsets, done, self.shards.metrics)

    def may_commit_in_transaction(self, group_id: str, claim: Claim, offsets: Iterable[Key]) -> ErrorCode:
        """The error if offsets of this member may not be part of a transaction; creates a group that does not
        exist."""
        if error := self.refuses(group_id):
            return error
        group = self.groups.get(group_id)
        if group is None:
            if claim.generation >= 0:
                return E.ILLEGAL_GENERATION
            group = self._begin_with_commit(group_id)
        return self.kind(group).check_transactional_commit(group, claim, offsets)

    def commit_in_transaction(
        self,
        group: "Group",
        producer: ProducerIdAndEpoch,
        offsets: Mapping[Key, CommittedOffset],
        done: Done,
    ) -> None:
        """The offsets become valid when the transaction is committed."""
        shard = self.shards.of(group.id)
        assert shard is not None
        self._open.add(producer.id, group.id)
        commit(shard, group, offsets, done, self.shards.metrics, producer)

    def complete_transaction(self, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets`: offsets that waited for it become valid, or are
        dropped."""
        self._wrote(partition)
        self._open.complete(partition, producer_id, committed)

    def forget_offsets(self, group: "Group", keys: list[Key], done: Done) -> None:
        """COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
        at_once = self.home.policies[empty_group_cleanup] == "at-once"
        self._forgot(group, group.offsets.remove(keys, with_open=self.shards.awaits), done, at_once=at_once)

    def topic_ids_deleted(self, topics: Collection[UUID]) -> None:
        """Share groups forget the partitions of deleted topics."""
        if "shares" in self.__dict__:
            self.shares.topics_deleted(topics)

    def topics_deleted(self, topics: Collection[str]) -> Iterator[None]:
        """Forgets the committed offsets of deleted topics, in parts: some thousand offsets at once."""
        at_once = self.home.policies[empty_group_cleanup] == "at-once"
        left = deque(self.groups.values())
        while left:
            seen = 0
            with self.burials.together():
                while left and seen < _OFFSETS_AT_ONCE:
                    group = left.popleft()
                    if self.groups.get(group.id) is group and group.type != "share":
                        seen += _A_GROUP + group.offsets.size
                        gone = group.offsets.remove_topics(topics, with_open=self.shards.awaits)
                        seen += _A_TOMBSTONE * len(gone)
                        self._forgot(group, gone, nobody, at_once=at_once)
            yield

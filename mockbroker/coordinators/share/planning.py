"""When a share group needs another target assignment or more partitions, and what its members have
(`GroupMetadataManager.java`)."""

from dataclasses import replace
from uuid import UUID

from ...policies.groups.emptied_group_epoch import emptied_group_epoch
from ...policies.share_groups.share_assignor import share_assignor
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ...share_partitions.kept import Kept
from ..home import Home, ids_of
from ..known_topics import KnownTopics, known_topics
from .assignor import Subscriber, simple
from .group import NOTHING, Assignment, Initializing, ShareGroup, ShareMember
from .hash_assignor import by_hash
from .settings import assignment_ms

Partitions = dict[UUID, frozenset[int]]
Outcomes = dict[tuple[UUID, int], Kept]
"""What the share coordinator has answered about partitions."""


class Planning:
    def __init__(self, home: Home) -> None:
        self._home = home
        self._environment = home.environment

    def check_room(self, group: ShareGroup, member_id: str) -> None:
        """ApiError GROUP_MAX_SIZE_REACHED."""
        most = self._environment.configs.broker_int("group.share.max.size")
        if len(group.members) >= most and member_id not in group.members:
            raise ApiError(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The share group has reached its maximum capacity of {most} members.",
            )

    def advance(self, group: ShareGroup, before: ShareMember, updated: ShareMember) -> ShareMember:
        """The member's state after it has said what it is now."""
        named = updated.topics != before.topics
        pending = group.assignment_epoch >= group.epoch and self._lacks_partitions(group)
        group.put(updated)
        begins = named or pending or self._metadata_of(group) != group.metadata
        if begins:
            self._begin_epoch(group)
        self._assign(group)
        after = self._reconciled(group, updated, changed=begins)
        if after is not updated:
            group.put(after)
        return after

    def removed(self, group: ShareGroup) -> None:
        """Members have left, or are fenced: a new epoch begins."""
        self._begin_epoch(group)
        if group.is_empty:
            if self._home.policies[emptied_group_epoch] == "its-own":
                group.assignment_epoch, group.assigned_ms = group.epoch, None
            group.state_since_ms = self._environment.now_ms

    def uninitialized(self, group: ShareGroup) -> Partitions:
        """The partitions of the group's topics that have no state, and for which none was asked just
        before; they count as asked for then."""
        now_ms = self._environment.now_ms
        patience_ms = self._patience_ms
        found: Partitions = {}
        for topic_id, count in ids_of(self._home, group.subscribed).items():
            known = group.initialized.get(topic_id, frozenset())
            asked = group.initializing.get(topic_id)
            if asked is not None and now_ms - asked.since_ms < patience_ms:
                known |= asked.partitions
            if len(known) < count:
                found[topic_id] = frozenset(range(count)) - known
        self.asked_for(group, found)
        return found

    def asked_for(self, group: ShareGroup, partitions: Partitions) -> None:
        """The share coordinator is asked to make states of these partitions."""
        for topic_id, some in partitions.items():
            before = group.initializing.get(topic_id)
            known = frozenset[int]() if before is None else before.partitions
            group.initializing[topic_id] = Initializing(known | some, self._environment.now_ms)
            group.deleting.discard(topic_id)
            self._name(group, topic_id)

    def settled(self, group: ShareGroup, outcomes: Outcomes) -> None:
        """The share coordinator has made states of these partitions, or has not."""
        answered: dict[UUID, set[int]] = {}
        made: dict[UUID, set[int]] = {}
        for (topic_id, index), kept in outcomes.items():
            answered.setdefault(topic_id, set()).add(index)
            if not kept.error:
                made.setdefault(topic_id, set()).add(index)
        for topic_id, some in answered.items():
            asked = group.initializing.pop(topic_id, None)
            if asked is not None and (left := asked.partitions - some):
                group.initializing[topic_id] = asked._replace(partitions=left)
        for topic_id, some in made.items():
            group.initialized[topic_id] = group.initialized.get(topic_id, frozenset()) | some
            self._name(group, topic_id)

    @property
    def _patience_ms(self) -> int:
        """After which the share coordinator is asked again (`shareGroupInitializeRetryIntervalMs`)."""
        configs = self._environment.configs
        commit_ms, write_ms = (
            configs.broker_int(name)
            for name in ("offsets.commit.timeout.ms", "share.coordinator.write.timeout.ms")
        )
        return 2 * (commit_ms + write_ms)

    def _name(self, group: ShareGroup, topic_id: UUID) -> None:
        topic = self._home.known_topic_ids().get(topic_id)
        if topic is not None:
            group.names[topic_id] = topic.name

    def _lacks_partitions(self, group: ShareGroup) -> bool:
        """Whether partitions that the group has, of a topic that it subscribes to, are nobody's."""
        subscribed = group.subscribed
        assigned: dict[UUID, set[int]] = {}
        for target in group.target.values():
            for topic_id, partitions in target.items():
                assigned.setdefault(topic_id, set()).update(partitions)
        return any(
            group.names.get(topic_id) in subscribed and assigned.get(topic_id, set()) != set(partitions)
            for topic_id, partitions in group.initialized.items()
        )

    def _metadata_of(self, group: ShareGroup) -> KnownTopics:
        return known_topics(self._home, group.subscribed)

    def _begin_epoch(self, group: ShareGroup) -> None:
        group.epoch += 1
        group.metadata = self._metadata_of(group)

    def _assign(self, group: ShareGroup) -> None:
        """Makes the next target assignment, unless the last one was made just before."""
        if group.assignment_epoch >= group.epoch:
            return
        now_ms = self._environment.now_ms
        wait_ms = assignment_ms(self._environment.configs, group.id)
        if group.assigned_ms is not None and now_ms < group.assigned_ms + wait_ms:
            return
        members = [
            Subscriber(each.id, frozenset(ids_of(self._home, each.topics)), group.target_of(each.id))
            for each in group.members.values()
        ]
        assignor = simple if self._home.policies[share_assignor] == "evenly" else by_hash
        group.aim(assignor(members, group.initialized), now_ms)

    def _reconciled(self, group: ShareGroup, member: ShareMember, *, changed: bool) -> ShareMember:
        target = group.target_of(member.id)
        if group.assignment_epoch != member.epoch:
            return replace(
                member,
                epoch=group.assignment_epoch,
                previous_epoch=member.epoch,
                assigned=self._subscribed_of(member, target),
            )
        if changed:
            return replace(member, assigned=self._subscribed_of(member, target))
        return member

    def _subscribed_of(self, member: ShareMember, target: Assignment) -> Assignment:
        if not target:
            return NOTHING
        topics = ids_of(self._home, member.topics)
        return {topic: partitions for topic, partitions in target.items() if topic in topics}

"""When a consumer group needs another target assignment, and how its members get there
(`GroupMetadataManager.java`)."""

from collections.abc import Callable, Mapping
from uuid import UUID

from ...environment import Nobody
from ...outcome import PARKED, Steps
from ...policies.groups.assignor_change import assignor_change
from ...policies.groups.emptied_expression import emptied_expression
from ...policies.groups.emptied_group_epoch import emptied_group_epoch
from ...policies.groups.full_consumer_group import full_consumer_group
from ...policies.groups.unsubscribed_partitions import unsubscribed_partitions
from ...portions import Pace, portions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ..group_records import Layout
from ..home import Home, ids_of
from ..known_topics import KnownTopics, described, known_topics, learning
from . import regular_expressions
from .assignors import ASSIGNORS, Subscriber
from .group import ConsumerGroup
from .member import Assignment, ConsumerMember
from .reconciling import reconciled
from .settings import assignment_ms, assignors
from .timers import Timers

E = ErrorCode
Sees = Callable[[str], bool]


class Planning:
    """`changed` is called with a group when other topics match its regular expressions than before: no
    request is being handled then."""

    def __init__(self, home: Home, timers: Timers, changed: Callable[[ConsumerGroup], None]) -> None:
        self._home = home
        self._environment = home.environment
        self._timers = timers
        self._changed = changed
        named = assignors(home.environment.configs)
        self.assignors = [each for each in named if each in ASSIGNORS] or list(ASSIGNORS)
        """The names of those that members may ask for, the default first."""
        self._describes = not Layout.of(home.environment.release, home.policies).with_hashes

    def check_room(self, group: ConsumerGroup, member_id: str, instance_id: str | None) -> None:
        """ApiError GROUP_MAX_SIZE_REACHED."""
        most = self._environment.configs.broker_int("group.consumer.max.size")
        if len(group.members) < most or member_id in group.members:
            return
        if instance_id not in group.static or self._home.policies[full_consumer_group] == "refused":
            raise ApiError(
                E.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {most} members.",
            )

    def advance(
        self,
        group: ConsumerGroup,
        before: ConsumerMember,
        updated: ConsumerMember,
        owned: Assignment | None,
        sees: Sees,
        *,
        assigns: bool = True,
    ) -> ConsumerMember:
        """The member's state after it has said what it is now, and which partitions it owns. ApiError
        INVALID_REGULAR_EXPRESSION. Regular expressions match only topics that the client `sees`. Unless the
        group `assigns`, it waits if a target assignment is needed."""
        named = updated.topics != before.topics
        by_regex = self._look_up(group, before, updated, sees)
        preferred = group.preferred_assignor(self.assignors[0])
        self._replace_static(group, updated)
        group.put(updated)
        changed = self._home.policies[assignor_change]
        first = updated.assignor if changed.own_first else None
        if (
            named
            or not group.epoch
            or by_regex == "resolved"
            or self._metadata_of(group) != group.metadata
            or (changed.begins and group.preferred_assignor(self.assignors[0], first) != preferred)
        ):
            self._begin_epoch(group)
        if assigns:
            self._assign(group)
        elif group.assignment_epoch < group.epoch:
            return updated
        after = reconciled(
            updated,
            group.assignment_epoch,
            group.target_of(updated.id),
            ids_of(self._home, group.topics_of(updated)),
            owned,
            group.epoch_of,
            changed=self._home.policies[unsubscribed_partitions] == "at-once" and (named or bool(by_regex)),
        )
        if after is not updated:
            group.put(after)
        return after

    def _replace_static(self, group: ConsumerGroup, member: ConsumerMember) -> None:
        """A static member that comes back has its earlier target assignment."""
        earlier = None if member.instance_id is None else group.static.get(member.instance_id)
        if earlier is not None and earlier != member.id:
            target = group.target_of(earlier)
            self._timers.stop(group, earlier)
            group.remove(earlier)
            group.target[member.id] = target

    def removed(self, group: ConsumerGroup) -> None:
        """Members have left, or are fenced: a new epoch begins."""
        used = group.subscribed_patterns
        group.resolved = {pattern: found for pattern, found in group.resolved.items() if pattern in used}
        self._begin_epoch(group)
        if group.is_empty:
            if self._home.policies[emptied_group_epoch] == "its-own":
                group.assignment_epoch, group.assigned_ms = group.epoch, None
            group.state_since_ms = self._environment.now_ms

    # -- what the group subscribes to

    def _look_up(
        self, group: ConsumerGroup, before: ConsumerMember, member: ConsumerMember, sees: Sees
    ) -> str:
        """What a regular expression means for the subscription: `resolved` if its topics are known, `later`
        if they are looked up, and `` if nothing has changed."""
        changed = before.regex != member.regex
        outcome = "later" if changed else ""
        if changed and not member.regex:
            outcome = "resolved" if self._home.policies[emptied_expression] == "new-epoch" else ""
        elif changed and member.regex in group.resolved:
            outcome = "resolved"
        elif changed:
            regular_expressions.check(member.regex)
        patterns = group.subscribed_patterns | ({member.regex} - {""})
        if not patterns:
            return outcome
        now_ms = self._environment.now_ms
        due = not group.resolved or now_ms > group.resolved_ms + regular_expressions.REFRESH_MS
        if due and not group.is_looked_up:
            group.resolved_ms, group.is_looked_up = now_ms, True
            self._environment.after(0, lambda: self._begin_to_resolve(group, sees))
        return outcome

    def _begin_to_resolve(self, group: ConsumerGroup, sees: Sees) -> None:
        self._home.in_parts(Nobody(self._environment), self._resolve(group, sees))

    def _resolve(self, group: ConsumerGroup, sees: Sees) -> Steps:
        """Looks up which topics match, also for members that subscribe meanwhile, of those that the client
        that was the first to ask may know. Brokers do that in another thread."""
        pace, names = Pace(regular_expressions.WORK_PER_PART), list[str]()
        for portion in portions(list(self._home.known_topics())):
            names += filter(sees, portion)
            yield
        found: dict[str, frozenset[str]] = {}
        try:
            while missing := group.subscribed_patterns - found.keys():
                for each in sorted(missing):
                    found[each] = yield from regular_expressions.matching(each, names, pace)
                yield from learning(self._home, frozenset[str]().union(group.subscribed, *found.values()))
        finally:
            group.is_looked_up = False
        before = group.resolved
        group.resolved = {each: found[each] for each in group.subscribed_patterns}
        group.patterns |= found.keys()
        if any(topics != before.get(each, frozenset()) for each, topics in group.resolved.items()):
            self._begin_epoch(group)
            self._changed(group)
        return PARKED

    def _metadata_of(self, group: ConsumerGroup) -> KnownTopics:
        """The topics that the group subscribes to."""
        return known_topics(self._home, group.subscribed)

    # -- the target assignment

    def _begin_epoch(self, group: ConsumerGroup) -> None:
        group.epoch += 1
        group.metadata = self._metadata_of(group)
        if self._describes:
            group.metadata.described = described(self._home, group.subscribed)

    def _assign(self, group: ConsumerGroup) -> None:
        """Makes the next target assignment, unless the last one was made just before."""
        if group.assignment_epoch >= group.epoch:
            return
        now_ms = self._environment.now_ms
        wait_ms = assignment_ms(self._environment.configs, group.id)
        if group.assigned_ms is not None and now_ms < group.assigned_ms + wait_ms:
            return
        counts = ids_of(self._home, group.subscribed)
        name = group.preferred_assignor(self.assignors[0])
        ids: dict[frozenset[str], frozenset[UUID]] = {}
        members = []
        for each in group.members.values():
            names = group.topics_of(each)
            if names not in ids:
                ids[names] = frozenset(ids_of(self._home, names))
            target = _of_topics(group.target_of(each.id), counts)
            members.append(Subscriber(each.id, each.instance_id, ids[names], target))
        if name == "uniform" and any(_has_unknown(each.assigned, counts) for each in members):
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        group.aim(ASSIGNORS[name](members, counts), name, now_ms)


def _of_topics(assignment: Assignment, counts: Mapping[UUID, int]) -> Assignment:
    """Without topics that are gone."""
    if counts.keys() >= assignment.keys():
        return assignment
    return {topic: partitions for topic, partitions in assignment.items() if topic in counts}


def _has_unknown(assignment: Assignment, counts: Mapping[UUID, int]) -> bool:
    """Whether there are partitions in it that do not exist: the leader of a classic group may have assigned
    them, and Kafka's `uniform` fails then."""
    return any(index >= counts[topic] for topic, partitions in assignment.items() for index in partitions)

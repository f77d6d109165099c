"""When a streams group needs another target assignment, and how its members get there
(`GroupMetadataManager.java`)."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple
from uuid import UUID

from ...environment import Timer
from ...policies.groups.emptied_group_epoch import emptied_group_epoch
from ...policies.streams_groups.cold_start import cold_start
from ...policies.streams_groups.former_standbys import former_standbys
from ...policies.streams_groups.previous_tasks import previous_tasks
from ...policies.streams_groups.role_changes import role_changes
from ...policies.streams_groups.streams_answers import streams_answers
from ...policies.streams_groups.streams_heartbeats import streams_heartbeats
from ...policies.streams_groups.task_sharing import task_sharing
from ...portions import MANY, Pace, Parts, at_once, portions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode
from ..home import Home
from ..known_topics import KnownTopics, known_topics, learning
from .assignor import Candidate, Subtasks, sticky
from .configuring import Configured, Problem, configured, required
from .group import FIRST_EPOCH, StreamsGroup
from .member import NO_TASKS, Assigned, StreamsMember, Task
from .pairing import by_pairs
from .reconciling import reconciled
from .settings import assignment_ms, initial_delay_ms, rack_tags, standbys

E = ErrorCode
_ASSIGNMENT_DELAYED: Final = 5
_BY_DELAY: Final = Problem(
    _ASSIGNMENT_DELAYED, "Assignment delayed due to the configured initial rebalance delay."
)
_BY_INTERVAL: Final = Problem(
    _ASSIGNMENT_DELAYED, "Assignment delayed due to the configured assignment interval."
)
_NOT_READY: Final = -1


class Advanced(NamedTuple):
    """The member's state, and what it is told about the assignment, if anything."""

    member: StreamsMember
    delayed: Problem | None


def _begins(before: StreamsMember, updated: StreamsMember) -> bool:
    """Whether the member asks for another epoch. A static one that comes back does so only if it runs
    elsewhere, or something else."""
    if updated.instance_id is None or before.client_id == "":
        return updated != before
    return (before.topology_epoch, before.rack_id, before.tags, before.process_id) != (
        updated.topology_epoch,
        updated.rack_id,
        updated.tags,
        updated.process_id,
    )


class Planning:
    """`changed` is called with a group that has a new target assignment although nobody has asked."""

    def __init__(self, home: Home, changed: Callable[[StreamsGroup], None]) -> None:
        self._home = home
        self._environment = home.environment
        self._changed = changed
        self._delays: dict[str, Timer] = {}

    def check_room(self, group: StreamsGroup, member_id: str, instance_id: str | None) -> None:
        """ApiError GROUP_MAX_SIZE_REACHED; up to 4.3 also for a member that joins again."""
        most = self._environment.configs.broker_int("group.streams.max.size")
        known = member_id in group.members or instance_id in group.static
        if len(group.members) >= most and not (known and self._home.policies[streams_heartbeats] == "full"):
            raise ApiError(
                E.GROUP_MAX_SIZE_REACHED,
                f"The streams group has reached its maximum capacity of {most} members.",
            )

    def configure(self, group: StreamsGroup, owned: Assigned | None) -> Parts[KnownTopics]:
        """The topics as they are now. ApiError INVALID_REQUEST if the member can't have these tasks,
        STREAMS_INVALID_TOPOLOGY, UNKNOWN_SERVER_ERROR."""
        topics = yield from self._topics_of(group)
        if group.configured is None or topics != group.metadata:
            found = yield from self._configured(group)
            partition = self._home.offsets_partition(group.id)
            assert partition is not None
            group.configure(found, partition.log.end_offset)
        self._check_tasks(group, owned)
        return topics

    def advance(
        self,
        group: StreamsGroup,
        before: StreamsMember,
        updated: StreamsMember,
        owned: Assigned | None,
        *,
        topics: KnownTopics,
        unclear: bool,
    ) -> Parts[Advanced]:
        """The member's state after it has said what it is now, and which tasks it has. `topics` are those of
        `configure`. ApiError UNKNOWN_SERVER_ERROR, also if what it has matters and is `unclear`."""
        begins = topics != group.metadata or _begins(before, updated)
        assert group.configured is not None
        validated = group.configured.epoch if group.configured.is_ready else _NOT_READY
        configs = self._assignment_configs(group)
        if self._home.policies[streams_answers] == "released":
            begins |= (validated, configs) != (group.validated, group.configs)
        if begins:
            group.without_hash &= topics == group.metadata
            group.epoch += 1
            group.metadata = topics
        group.validated, group.configs = validated, configs
        if group.is_empty:
            self._delay(group)
        group.put(updated)
        delayed = yield from self._assign(group)
        epoch, target = group.assignment_epoch, group.target_of(updated.id)
        if delayed is _BY_DELAY:
            epoch, target = max(epoch, FIRST_EPOCH), NO_TASKS
        if unclear and not updated.reconciled_to(epoch):
            raise ApiError(E.UNKNOWN_SERVER_ERROR)
        in_place = self._home.policies[role_changes] == "in-place"
        after = yield from reconciled(updated, epoch, target, owned, group.processes, in_place=in_place)
        if after is not updated:
            yield from group.putting(after)
        return Advanced(after, delayed)

    def removed(self, group: StreamsGroup) -> None:
        """Members have left, or are fenced: a new epoch begins."""
        group.epoch += 1
        group.without_hash = group.in_preview
        if group.is_empty and self._home.policies[emptied_group_epoch] == "its-own":
            group.assignment_epoch, group.assigned_ms = group.epoch, None

    def is_delayed(self, group_id: str) -> bool:
        """Whether a group waits for more than its first members."""
        return group_id in self._delays

    def stop(self, group_id: str) -> None:
        """The group is gone, or another broker coordinates it."""
        if (timer := self._delays.pop(group_id, None)) is not None:
            timer.cancel()

    # -- the topology

    def _configured(self, group: StreamsGroup) -> Parts[Configured]:
        assert group.topology is not None
        known, names = self._home.known_topics(), (yield from self._required(group))
        return (
            yield from configured(
                group.topology,
                names,
                {name: len(known[name].partitions) for name in names if name in known},
                names_all=self._home.policies[streams_answers] == "preview",
            )
        )

    @staticmethod
    def _required(group: StreamsGroup) -> Parts[list[str]]:
        """The topics that have to be there."""
        topology = group.topology
        if topology is None:
            return []
        if group.required is None or group.required[0] is not topology:
            group.required = topology, (yield from required(topology))
        return group.required[1]

    def problem(self, group: StreamsGroup) -> tuple[Problem, Configured] | None:
        """Why the group is not ready, as its last heartbeat found; if that is not known any more, as topics
        are now. None if nothing is wrong, or if no heartbeat would be accepted."""
        known = group.configured
        if known is None and group.topology is not None:
            with contextlib.suppress(ApiError):
                known = at_once(self._configured(group))
        return None if known is None or known.problem is None else (known.problem, known)

    def _topics_of(self, group: StreamsGroup) -> Parts[KnownTopics]:
        hashes, names = dict[UUID, int](), (yield from self._required(group))
        for some in portions(names, MANY):
            those = frozenset(some)
            yield from learning(self._home, those)
            hashes |= known_topics(self._home, those).hashes or {}
            if len(some) == MANY:
                yield
        return KnownTopics(hashes)

    @staticmethod
    def _check_tasks(group: StreamsGroup, owned: Assigned | None) -> None:
        known = group.configured
        if known is None or not known.is_ready or owned is None or known.subtopologies is None:
            return
        for tasks in owned:
            for name, partitions in tasks.items():
                if name not in known.subtopologies:
                    raise ApiError(E.INVALID_REQUEST, f"Subtopology {name} does not exist in the topology.")
                count = known.subtopologies[name].tasks
                if partitions and not 0 <= min(partitions) <= max(partitions) < count:
                    index = min(each for each in partitions if not 0 <= each < count)
                    raise ApiError(
                        E.INVALID_REQUEST,
                        f"Task {index} for subtopology {name} is invalid. Number of tasks for this "
                        f"subtopology: {count}",
                    )

    # -- the target assignment

    def _assignment_configs(self, group: StreamsGroup) -> tuple[tuple[str, str], ...]:
        configs = self._environment.configs
        copies = ("num.standby.replicas", str(standbys(configs, group.id)))
        tags = rack_tags(configs, group.id)
        return (copies, ("rack.aware.assignment.tags", ",".join(tags))) if tags else (copies,)

    def _delay(self, group: StreamsGroup) -> None:
        """A group without members waits for more than the first."""
        delay_ms = initial_delay_ms(self._environment.configs, group.id)
        if delay_ms <= 0 or group.id in self._delays:
            return

        def over() -> None:
            del self._delays[group.id]
            self._changed(group)

        self._delays[group.id] = self._environment.after(delay_ms, over)

    def assign_late(self, group: StreamsGroup) -> Parts[None]:
        """The initial delay is over."""
        if not group.is_empty and group.configured is not None:
            yield from self._assign(group)

    def _offsets_of(self, group: StreamsGroup, member_id: str) -> Parts[Mapping[Task, int]]:
        found: dict[Task, int] = {}
        if self._home.policies[cold_start] == "shuffled" or member_id not in group.progress:
            return found
        for some in portions(group.progress[member_id].offsets, MANY):
            found.update(((each.subtopology_id, each.partition), each.offset) for each in some)
            if len(some) == MANY:
                yield
        return found

    def _had(self, group: StreamsGroup) -> Callable[[StreamsMember], Assigned]:
        """What each member is taken to have."""
        if self._home.policies[previous_tasks] == "assigned":
            return lambda member: member.assigned.tasks
        return lambda member: group.target_of(member.id)

    def _candidates(self, group: StreamsGroup) -> Parts[list[Candidate]]:
        had, pace, found = self._had(group), Pace(), list[Candidate]()
        for each in list(group.members.values()):
            offsets = yield from self._offsets_of(group, each.id)
            found.append(Candidate(each.id, each.process_id, had(each), offsets))
            if pace.enough():
                yield
        return found

    def _assign(self, group: StreamsGroup) -> Parts[Problem | None]:
        """Makes the next target assignment; or says why not now."""
        if group.id in self._delays:
            return _BY_DELAY
        if group.assignment_epoch >= group.epoch:
            return None
        now_ms = self._environment.now_ms
        wait_ms = assignment_ms(self._environment.configs, group.id)
        if group.assigned_ms is not None and now_ms < group.assigned_ms + wait_ms:
            return _BY_INTERVAL
        known = group.configured
        assert known is not None
        target = dict.fromkeys(group.members, NO_TASKS)
        if known.is_ready and known.subtopologies is not None:
            candidates = yield from self._candidates(group)
            subtopologies = [
                Subtasks(name, each.tasks, each.is_stateful) for name, each in known.subtopologies.items()
            ]
            count = int(dict(group.configs)["num.standby.replicas"])
            if self._home.policies[task_sharing] == "by-pairs":
                target = yield from by_pairs(candidates, subtopologies, count)
            else:
                first_only = self._home.policies[former_standbys] == "first"
                target = yield from sticky(candidates, subtopologies, count, first_only=first_only)
        group.aim(target, now_ms)
        return None

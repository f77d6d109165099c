"""What administrators see and change of the offsets of share groups (`GroupMetadataManager.java`)."""

from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from uuid import UUID

from ...policies.share_groups.altered_share_epoch import altered_share_epoch
from ...portions import FEW, portions
from ...protocol.api_error import ApiError
from ...protocol.errors import ErrorCode, default_message
from ...protocol.share_state_log import SharePartitionKey
from ...share_partitions.kept import Kept
from ..home import Home
from .coordinating import ShareGroups
from .group import ShareGroup
from .planning import Outcomes

E = ErrorCode


class ShareOffsets:
    def __init__(self, home: Home, groups: ShareGroups) -> None:
        self._home = home
        self._groups = groups

    def of_all(self, group_id: str, group: ShareGroup | None) -> dict[UUID, frozenset[int]]:
        """The partitions that the group has, of topics that there are."""
        known = self._home.known_topic_ids()
        found = {} if group is None else group.initialized
        return {topic_id: found[topic_id] for topic_id in found if topic_id in known}

    def alter(
        self,
        group_id: str,
        offsets: Mapping[UUID, Mapping[int, int]],
        done: Callable[[Outcomes], None],
        *,
        creates: bool,
    ) -> Generator[None, None, None]:
        """Begins anew at these offsets. ApiError NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND; a
        group that does not exist is created, unless there would be no record of it."""
        group = self._groups.or_new(group_id)
        _check_empty(group)
        if creates:
            self._groups.put(group)
        if self._home.policies[altered_share_epoch] == "begins":
            group.epoch += 1
        partitions = {topic_id: frozenset(found) for topic_id, found in offsets.items()}
        self._groups.planning.asked_for(group, partitions)
        self._groups.write(group)
        yield from self._groups.initialize(group, offsets, group.epoch, done)

    def check_deletable(self, group_id: str) -> ShareGroup:
        """ApiError NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
        group = self._groups.existing(group_id)
        _check_empty(group)
        return group

    def delete(
        self, group: ShareGroup, topics: Iterable[UUID], done: Callable[[dict[UUID, ErrorCode]], None]
    ) -> Generator[None, None, None]:
        """The group gives up these topics. It has partitions of each."""
        known = self._home.known_topic_ids()
        outcomes = dict.fromkeys(topics, E.NONE)
        places: list[tuple[UUID, int]] = []
        for topic_id in outcomes:
            found = group.initialized.pop(topic_id, None) or range(len(known[topic_id].partitions))
            group.deleting.add(topic_id)
            places += [(topic_id, index) for index in sorted(found)]
        self._groups.write(group)
        waiting = len(places)

        def settled(topic_id: UUID, kept: Kept) -> None:
            nonlocal waiting
            waiting -= 1
            outcomes[topic_id] = kept.error or outcomes[topic_id]
            if not waiting:
                group.deleting -= {each for each, error in outcomes.items() if not error}
                self._groups.write(group)
                done(outcomes)

        if not places:
            done(outcomes)
        for portion in portions(places, FEW):
            for topic_id, index in portion:
                key = SharePartitionKey(group.id, topic_id, index)
                self._home.persister.delete(key, partial(settled, topic_id))
            yield

    def delete_all(self, group: ShareGroup, done: Callable[[ErrorCode], None]) -> Generator[None, None, None]:
        """The states of all partitions that the group has go before it is deleted."""
        asked = {topic_id: each.partitions for topic_id, each in group.initializing.items()}
        topics = {*group.initialized, *asked, *group.deleting} & self._home.known_topic_ids().keys()
        for topic_id, found in asked.items():
            group.initialized[topic_id] = group.initialized.get(topic_id, frozenset()) | found
        group.initializing.clear()

        def settled(outcomes: dict[UUID, ErrorCode]) -> None:
            done(next((error for error in outcomes.values() if error), E.NONE))

        yield from self.delete(group, sorted(topics), settled)


def _check_empty(group: ShareGroup) -> None:
    if not group.is_empty:
        raise ApiError(E.NON_EMPTY_GROUP, default_message(E.NON_EMPTY_GROUP))

"""Groups with offsets that wait for the end of a transaction (`openGroupsForProducer`)."""

from functools import partial
from typing import TYPE_CHECKING, Final

from ..policies.offsets.raced_transactional_commit import raced_transactional_commit
from ..policies.offsets.transactional_offsets import transactional_offsets
from .home import Home

if TYPE_CHECKING:
    from .kinds import Group

_LATER_MS: Final = 100
"""How long after its marker a transaction is completed where that is a step of its own."""


class OpenOffsets:
    """Which groups have offsets of which open transactions; `groups` are those of the coordinator, by id."""

    def __init__(self, home: Home, groups: "dict[str, Group]") -> None:
        self._home = home
        self._groups = groups
        self._by_producer: dict[int, dict[str, None]] = {}

    def add(self, producer_id: int, group_id: str) -> None:
        self._by_producer.setdefault(producer_id, {})[group_id] = None

    def take(self, group: "Group") -> None:
        """A group was loaded."""
        for producer_id in group.offsets.open:
            self.add(producer_id, group.id)

    def drop(self, group: "Group") -> None:
        """Another broker coordinates the group."""
        for producer_id in group.offsets.open:
            self._by_producer.get(producer_id, {}).pop(group.id, None)

    def clear(self) -> None:
        self._by_producer.clear()

    def complete(self, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets`: offsets that waited for it become valid, or are
        dropped."""
        complete = partial(self._complete, partition, producer_id, committed)
        if self._home.policies[transactional_offsets] == "later":
            self._home.environment.after(_LATER_MS, complete)
        else:
            complete()

    def _complete(self, partition: int, producer_id: int, committed: bool) -> None:
        waiting = self._by_producer.pop(producer_id, {})
        for group_id in list(waiting):
            if self._home.offsets_index(group_id) == partition:
                del waiting[group_id]
                if (group := self._groups.get(group_id)) is not None:
                    winner = self._home.policies[raced_transactional_commit]
                    group.offsets.complete(producer_id, committed, replaces=winner.in_memory)
        if waiting:
            self._by_producer[producer_id] = waiting

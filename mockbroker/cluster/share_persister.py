"""Asks share coordinators about share partitions (`PersisterStateManager.java`)."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..portions import at_once
from ..protocol.errors import ErrorCode, default_message
from ..protocol.share_state_log import SharePartitionKey, StateBatch
from ..share_partitions.kept import Done, Kept

if TYPE_CHECKING:
    from ..coordinators.share.states import ShareStates

_UNAVAILABLE = ErrorCode.COORDINATOR_NOT_AVAILABLE


class SharePersister:
    """`find` gives the share coordinator of a share partition, None if it can't be reached: then the answer
    is COORDINATOR_NOT_AVAILABLE."""

    def __init__(self, find: "Callable[[SharePartitionKey], ShareStates | None]") -> None:
        self._find = find

    def _ask(self, key: SharePartitionKey, done: Done, ask: "Callable[[ShareStates], Any]") -> None:
        states = self._find(key)
        if states is None:
            done(Kept(_UNAVAILABLE, default_message(_UNAVAILABLE)))
        else:
            ask(states)

    def initialize(self, key: SharePartitionKey, state_epoch: int, start_offset: int, done: Done) -> None:
        self._ask(key, done, lambda states: states.initialize(key, state_epoch, start_offset, done))

    def read(self, key: SharePartitionKey, leader_epoch: int, done: Done) -> None:
        self._ask(key, done, lambda states: at_once(states.read(key, leader_epoch, done)))

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        complete_count: int,
        batches: Iterable[StateBatch],
        done: Done,
    ) -> None:
        said = (state_epoch, leader_epoch, start_offset, complete_count, batches)
        self._ask(key, done, lambda states: at_once(states.write(key, *said, done)))

    def summarize(self, key: SharePartitionKey, done: Done) -> None:
        self._ask(key, done, lambda states: states.summarize(key, done))

    def delete(self, key: SharePartitionKey, done: Done) -> None:
        self._ask(key, done, lambda states: states.delete(key, done))

"""What a coordinator is given: the broker it is on, and its way to the others; a request it answers."""

from typing import Any, Protocol

from ..environment import Environment
from ..outcome import Client
from ..policies import Policies
from ..replication.partition import Partition


class Home(Protocol):
    """The broker of a coordinator."""

    id: int
    environment: Environment

    @property
    def policies(self) -> Policies: ...

    def coordinates(self, group_id: str) -> bool:
        """Whether it is the coordinator of a group."""

    def offsets_index(self, group_id: str) -> int:
        """Which partition of `__consumer_offsets` holds the group."""

    def offsets_partition(self, group_id: str) -> Partition | None:
        """That partition here, None where there is no replica of it."""

    def transaction_partition(self, transactional_id: str) -> Partition | None:
        """The partition of `__transaction_state` that holds the id here, None where there is no replica."""

    def new_producer_id(self) -> int: ...

    def knows(self, topic: str, index: int) -> bool:
        """Whether it has heard of a partition."""

    def leader_of(self, topic: str, index: int) -> Partition | None:
        """A partition at the broker that leads it as far as this one knows; None when that can't be reached,
        or has not heard of the partition."""

    def complete_offsets(self, broker: int, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets` at its leader: offsets that waited for it count
        there, or go."""


class Request(Protocol):
    """A request that a coordinator answers."""

    client_id: str | None
    client: Client
    environment: Environment
    version: int

    @property
    def policies(self) -> Policies: ...

    def answer(self, response: Any) -> None: ...

    def ended_by(self, error: Exception) -> None: ...

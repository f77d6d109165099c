"""What a coordinator needs: its broker, other brokers, and the requests that it answers."""

from collections.abc import Mapping, Set
from typing import Any, Protocol
from uuid import UUID

from ..environment import Environment
from ..metadata.image import TopicImage
from ..outcome import Asked, Client, Steps
from ..policies import Policies
from ..replication.partition import Partition
from ..share_partitions.kept import Persister


class Home(Protocol):
    """The broker of a coordinator."""

    id: int
    environment: Environment

    @property
    def policies(self) -> Policies: ...

    @property
    def features(self) -> Mapping[str, int]:
        """The finalized levels of features, as far as this broker knows."""

    @property
    def persister(self) -> Persister:
        """Keeps the states of share partitions."""

    def in_parts(self, asked: Asked, steps: Steps) -> object:
        """Does something that takes long in parts, so that others are served in between."""

    def offsets_index(self, group_id: str) -> int:
        """The partition of `__consumer_offsets` that holds the group."""

    def offsets_partition(self, group_id: str) -> Partition | None:
        """That partition on this broker, None if there is no replica of it."""

    def transaction_partition(self, transactional_id: str) -> Partition | None:
        """The partition of `__transaction_state` that holds the id, on this broker; None if it has no
        replica."""

    def share_state_partition(self, key: str) -> Partition | None:
        """The partition of `__share_group_state` that holds a share partition, on this broker; None if it has
        no replica. The key is what FindCoordinator is asked for."""

    def new_producer_id(self) -> int: ...

    def leader_id(self, topic: str, index: int) -> int | None:
        """The broker that leads a partition, as far as this broker knows: `NO_LEADER` if none does, None if
        it has not learned of the partition."""

    def known_topics(self) -> Mapping[str, TopicImage]:
        """The topics that this broker has learned of, by name."""

    def racks(self) -> Mapping[int, str]:
        """Of the brokers that this broker has learned of, those that have one."""

    def known_topic_ids(self) -> Mapping[UUID, TopicImage]:
        """The topics that this broker has learned of, by id."""

    def leader_of(self, topic: str, index: int) -> Partition | None:
        """A partition on the broker that leads it, as far as this broker knows; None if that broker can't be
        reached, or has not learned of the partition."""

    def complete_offsets(self, broker: int, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets` on its leader: offsets that waited for it become
        valid there, or are dropped."""


def existing(known: Mapping[str, TopicImage], names: frozenset[str]) -> Set[str]:
    """Those names that topics have. Takes as long as there are names, or topics if there are fewer."""
    return names.intersection(known) if len(known) < len(names) else known.keys() & names


def ids_of(home: Home, topics: frozenset[str]) -> dict[UUID, int]:
    """The ids of topics, with their numbers of partitions, of those that there are."""
    known = home.known_topics()
    return {known[name].id: len(known[name].partitions) for name in sorted(existing(known, topics))}


class Request(Protocol):
    """A request that a coordinator answers."""

    client_id: str | None
    client: Client
    environment: Environment
    version: int

    @property
    def policies(self) -> Policies: ...

    def sees(self, topic: str) -> bool:
        """Whether the client may know of a topic that it did not name."""

    def count(self, entries: int) -> None:
        """To be called before so many entries are added to the answer, where they may be many more than the
        request has. AnswerTooLargeError."""

    def answer(self, response: Any) -> None: ...

    def ended_by(self, error: Exception) -> None: ...

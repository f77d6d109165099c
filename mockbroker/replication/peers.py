"""What a broker asks of others, and how its replicas see each other: leaders, followers that keep up, the
controller."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from ..configs import TopicSettings
from ..environment import Environment
from ..policies import Policies
from ..protocol.errors import ErrorCode
from .states import FollowerEvent, FollowerState
from .topic_stats import BrokerTopicStats
from .waiters import Waiters

if TYPE_CHECKING:
    from ..log.log import Log
    from ..protocol.messages.fetch import FetchPartition, PartitionData


class HostedTopic(Protocol):
    """What a replica knows about its topic."""

    @property
    def id(self) -> UUID: ...

    @property
    def name(self) -> str: ...

    @property
    def internal(self) -> bool: ...


class Cleaned(Protocol):
    """A replica, as the cleaner sees it."""

    @property
    def settings(self) -> TopicSettings: ...

    appended_ms: int | None
    host: "Host"
    log: "Log"
    topic: HostedTopic
    index: int
    fetcher: "Fetching | None"
    deleted: bool

    @property
    def policies(self) -> Policies: ...

    @property
    def leads(self) -> bool: ...

    def tell_followers(self) -> None: ...

    def delete_upto(self, offset: int) -> None: ...


class Attached(Cleaned, Protocol):
    """The replica of a follower that keeps up: its leader gives it each batch."""

    broker: int
    waiting: Waiters[Callable[[int], None]]

    def changed(self) -> None:
        """Makes every Fetch that waits there check whether it still has to."""

    def lose_leader(self) -> None:
        """The leader no longer gives it batches."""


class Asking(Protocol):
    """A replica for which others are asked."""

    topic: HostedTopic
    index: int
    broker: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Sequence[int]


class Following(Attached, Asking, Protocol):
    """A follower's replica, as its fetcher sees it."""

    environment: Environment


class LeaderEndPoint(Protocol):
    """A leader, as its followers see it (`LeaderEndPoint.java`)."""

    appended_ms: int | None

    log: "Log"
    waiting_followers: Waiters[Callable[[int], None]]

    def check_leader(self, current_leader_epoch: int = -1, any_replica: bool = False) -> ErrorCode: ...

    def knows(self, broker: int) -> bool:
        """Whether it has learned of this follower."""

    def end_offset_for_epoch(self, requested: int) -> tuple[int, int]: ...

    def fetch(self, asked: "FetchPartition", replica: int) -> "PartitionData":
        """The answer to a follower, whose progress it has then recorded."""

    def follower_fetched(self, broker: int, offset: int, log_start_offset: int) -> None:
        """It learns how far a follower is."""

    def refresh(self, result: "PartitionData") -> None:
        """Updates an answer that was delayed, as far as leaders do that (KAFKA-7104)."""

    def take_along(self, replica: Attached) -> None:
        """From now on a follower that has everything gets each batch when it is appended."""

    def leave_behind(self, broker: int) -> None:
        """From now on a follower gets only what it fetches."""

    def tell_followers(self) -> None:
        """Followers that keep up learn the high watermark."""

    def log_start_told(self, broker: int, offset: int) -> None:
        """The leader learns the log start offset of a follower that keeps up."""


class Fetching(Protocol):
    """What a follower does on its broker. `source` is the leader while the follower keeps up."""

    state: FollowerState
    source: LeaderEndPoint | None
    cut: bool
    delay_ms: int
    failure: str

    @property
    def broker(self) -> int: ...

    @property
    def log(self) -> "Log": ...

    def on(self, event: FollowerEvent, delay_ms: int = 0) -> None:
        """Changes to the state after `event`, in which each fetch takes `delay_ms`; or does nothing."""

    def follow(self) -> None:
        """The broker has learned of the next leader epoch."""

    def retry(self) -> None:
        """The leader may be back, or may have learned that it leads."""

    def fail(self, reason: str) -> None:
        """It dies, alone or with everything that its thread fetches from this leader (KIP-461)."""

    def die(self, reason: str) -> None:
        """It dies alone."""

    def end(self) -> None:
        """The broker leads now, or no longer has a replica."""


class Hosted(Protocol):
    """One of a broker's replicas."""

    @property
    def leader(self) -> int: ...

    @property
    def fetcher(self) -> Fetching | None: ...


class Cleaner(Protocol):
    """Retention and compaction."""

    def appending(self, replicas: Iterable[Cleaned]) -> None: ...

    def log_start_moved(self, partition: Cleaned) -> None: ...

    def reconfigured(self, partition: Cleaned) -> None: ...

    def returned(self, partition: Cleaned) -> None: ...

    def forget(self, partition: Cleaned) -> None: ...


class Peers(Protocol):
    """How a broker reaches other brokers and the controller. None if nobody answers."""

    def reaches(self, broker: int) -> bool:
        """Whether the network allows it."""

    def leader_of(self, partition: Asking) -> LeaderEndPoint | None:
        """The partition on the broker that leads it, as far as the asking replica knows."""

    def fetcher_of(self, partition: Asking, broker: int) -> Fetching | None:
        """What a follower does on its broker."""

    def alter_isr(self, partition: Asking, isr: Sequence[int]) -> bool:
        """The leader asks the controller for another ISR (AlterPartition, KIP-497); False if it can't reach
        the controller, or is refused."""

    def is_used(self, topic: HostedTopic, index: int) -> bool:
        """Whether another broker has a replica of it that may have records."""

    def leads(self, partition: Asking) -> None:
        """Followers that wait for this leader may fetch."""

    def leadership_changed(self, partition: Asking) -> None:
        """The broker leads the partition now, or no longer leads it."""

    def halt(self) -> None:
        """The broker exits, once the core has finished what it is doing."""


class Host(Protocol):
    """The broker of a replica."""

    environment: Environment
    peers: Peers
    stats: BrokerTopicStats

    @property
    def broker(self) -> int: ...

    @property
    def cleanup(self) -> Cleaner: ...

    @property
    def online(self) -> bool: ...

    @property
    def fetches(self) -> bool: ...

    @property
    def dead_fetchers(self) -> dict[int, str]: ...

    def __iter__(self) -> Iterator[Hosted]: ...

    def is_fenced(self, broker: int) -> bool: ...

    def rack_of(self, broker: int) -> str | None: ...

    def new_log(self, topic: HostedTopic) -> "Log": ...

"""What a broker asks of others, and how its replicas see each other: the leader of what they follow, those in
step, the controller."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol
from uuid import UUID

from ..configs import TopicSettings
from ..environment import Environment
from ..log.log import Log
from ..policies import Policies
from ..protocol.errors import ErrorCode
from ..protocol.messages.fetch import FetchPartition, PartitionData
from .states import FollowerEvent, FollowerState
from .waiters import Waiters


class HostedTopic(Protocol):
    """What a replica knows of its topic."""

    @property
    def id(self) -> UUID: ...

    @property
    def name(self) -> str: ...

    @property
    def internal(self) -> bool: ...

    @property
    def settings(self) -> TopicSettings: ...


class Cleaned(Protocol):
    """A replica as the cleaner sees it."""

    appended_ms: int | None
    host: "Host"
    log: Log
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
    """A replica in step: its leader hands it each batch."""

    broker: int
    waiting: Waiters[Callable[[int], None]]

    def changed(self) -> None:
        """Lets every Fetch that waits there look whether it still has to."""

    def lose_leader(self) -> None:
        """The leader lets go of it."""


class Asking(Protocol):
    """A replica on whose behalf others are asked."""

    topic: HostedTopic
    index: int
    broker: int
    leader: int
    leader_epoch: int
    partition_epoch: int
    replicas: Sequence[int]


class Following(Attached, Asking, Protocol):
    """The replica of a follower, as its fetcher sees it."""

    environment: Environment


class LeaderEndPoint(Protocol):
    """A leader, as its followers reach it (`LeaderEndPoint.java`)."""

    appended_ms: int | None

    log: Log
    waiting_followers: Waiters[Callable[[int], None]]

    def check_leader(self, current_leader_epoch: int = -1, any_replica: bool = False) -> ErrorCode: ...

    def knows(self, broker: int) -> bool:
        """Whether it has heard of this follower."""

    def end_offset_for_epoch(self, requested: int) -> tuple[int, int]: ...

    def fetch(self, asked: FetchPartition, replica: int) -> PartitionData:
        """What it answers to a follower, of which it has heard then."""

    def follower_fetched(self, broker: int, offset: int, log_start_offset: int) -> None:
        """It hears how far a follower is."""

    def refresh(self, result: PartitionData) -> None:
        """Brings an answer that was held back up to date, so far as leaders do (KAFKA-7104)."""

    def take_along(self, replica: Attached) -> None:
        """From now on a follower that has all gets each batch as it is appended."""

    def leave_behind(self, broker: int) -> None:
        """From now on a follower gets what it fetches."""

    def tell_followers(self) -> None:
        """Those in step hear of the high watermark."""

    def log_start_told(self, broker: int, offset: int) -> None:
        """The leader hears of the log start offset of a follower in step."""


class Fetching(Protocol):
    """What a follower does, at its broker. `source` is the leader while it is in step."""

    state: FollowerState
    source: LeaderEndPoint | None
    cut: bool
    delay_ms: int
    failure: str

    @property
    def broker(self) -> int: ...

    @property
    def log(self) -> Log: ...

    def on(self, event: FollowerEvent, delay_ms: int = 0) -> None:
        """It goes on in another state, in which each fetch takes `delay_ms`; or nothing happens."""

    def follow(self) -> None:
        """The broker hears of the next leader epoch."""

    def retry(self) -> None:
        """The leader may be there again, or may have heard that it leads."""

    def fail(self, reason: str) -> None:
        """It dies, alone or with all that its thread fetches from this leader (KIP-461)."""

    def die(self, reason: str) -> None:
        """It dies alone."""

    def end(self) -> None:
        """The broker leads now, or has no replica any more."""


class Hosted(Protocol):
    """One of the replicas of a broker."""

    @property
    def leader(self) -> int: ...

    @property
    def fetcher(self) -> Fetching | None: ...


class Cleaner(Protocol):
    """Retention and compaction."""

    def appending(self, partition: Cleaned) -> None: ...

    def log_start_moved(self, partition: Cleaned) -> None: ...

    def returned(self, partition: Cleaned) -> None: ...

    def forget(self, partition: Cleaned) -> None: ...


class Peers(Protocol):
    """The way to other brokers and to the controller. None where nobody answers."""

    def reaches(self, broker: int) -> bool:
        """Whether the network lets it through."""

    def leader_of(self, partition: Asking) -> LeaderEndPoint | None:
        """The partition at the broker that leads it, as far as who asks knows."""

    def fetcher_of(self, partition: Asking, broker: int) -> Fetching | None:
        """What a follower does, at its broker."""

    def alter_isr(self, partition: Asking, isr: Sequence[int]) -> bool:
        """The leader asks the controller for another ISR (AlterPartition, KIP-497); False when it does not
        reach it, or is refused."""

    def is_used(self, topic: HostedTopic, index: int) -> bool:
        """Whether another broker has a replica of it, which may have records."""

    def leads(self, partition: Asking) -> None:
        """Followers that wait for this leader may fetch."""

    def leadership_changed(self, partition: Asking) -> None:
        """The broker leads the partition now, or leads it no more."""

    def halt(self) -> None:
        """The broker exits, once the core is done with what it is at."""


class Host(Protocol):
    """The broker of a replica."""

    environment: Environment
    peers: Peers

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

    def new_log(self, topic: HostedTopic) -> Log: ...

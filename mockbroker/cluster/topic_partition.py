"""A partition as somebody sees it who sees every broker: the controller, an operator, a test."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from ..environment import Environment
from ..errors import NotThereError
from ..log.log import Log
from ..metadata.image import PartitionRegistration
from ..metadata.records import NO_LEADER, PartitionChangeRecord
from ..replication.peers import Fetching
from ..replication.states import FollowerEvent, FollowerState

if TYPE_CHECKING:
    from ..policies import Policies
    from ..replication.partition import Partition
    from .topic import Topic

_TOLD: Final = {
    FollowerState.BEHIND: FollowerEvent.RESUME,
    FollowerState.SLOW: FollowerEvent.SLOW_DOWN,
    FollowerState.PAUSED: FollowerEvent.PAUSE,
    FollowerState.EXTERNAL: FollowerEvent.REPLACE,
    FollowerState.FAILED: FollowerEvent.FAIL,
    FollowerState.CUT_OFF: FollowerEvent.LOSE,
}


class TopicPartition:
    """One partition of a topic, as the controller knows it (`registered`), and each replica of it."""

    __slots__ = ("_hosts", "_led_last", "index", "registered", "topic")

    def __init__(self, topic: "Topic", index: int, registered: PartitionRegistration) -> None:
        self.topic = topic
        self.index = index
        self.registered = registered
        self._led_last = registered.leader
        self._hosts: dict[int, Partition] = {}

    def appear(self, replica: "Partition") -> None:
        """A broker has a replica now."""
        self._hosts[replica.broker] = replica

    def disappear(self, replica: "Partition") -> None:
        """A broker has none any more."""
        if self._hosts.get(replica.broker) is replica:
            del self._hosts[replica.broker]

    def register(self, registered: PartitionRegistration) -> None:
        """The controller has written that."""
        self.registered = registered
        if registered.leader != NO_LEADER:
            self._led_last = registered.leader

    @property
    def leader(self) -> int:
        return self.registered.leader

    @property
    def leader_epoch(self) -> int:
        return self.registered.leader_epoch

    @property
    def isr(self) -> Sequence[int]:
        return self.registered.isr

    @property
    def replicas(self) -> Sequence[int]:
        return self.registered.replicas

    @property
    def adding_replicas(self) -> Sequence[int]:
        return self.registered.adding_replicas

    @property
    def removing_replicas(self) -> Sequence[int]:
        return self.registered.removing_replicas

    @property
    def eligible_leader_replicas(self) -> Sequence[int]:
        return self.registered.eligible_leader_replicas

    @property
    def last_known_elr(self) -> Sequence[int]:
        return self.registered.last_known_elr

    @property
    def policies(self) -> "Policies":
        """The answers in force for this topic on the leader."""
        return self.topic.environment.policies.at(self.topic.name, self.registered.leader)

    @property
    def min_insync_replicas(self) -> int:
        """The topic's `min.insync.replicas`, which never asks for more replicas than there are."""
        return min(self.topic.settings.min_insync_replicas, len(self.replicas))

    @property
    def environment(self) -> Environment:
        return self.topic.environment

    @property
    def deleted(self) -> bool:
        """Whether its topic was deleted."""
        return self.topic.id not in self.topic.cluster.topic_ids

    # -- replicas

    def at(self, broker: int) -> "Partition | None":
        """The partition as `broker` knows it, None where it has no replica, or has not heard of it."""
        found = self._hosts.get(broker)
        if found is None and (there := self.topic.cluster.brokers.get(broker)) is not None:
            found = there.replicas.find(self.topic, self.index)
        return found

    def begun(self, broker: int) -> "Partition | None":
        """As `at`, None where it has not begun."""
        return self._hosts.get(broker)

    @property
    def hosted(self) -> "list[Partition]":
        """The replicas that have begun."""
        return list(self._hosts.values())

    @property
    def _all(self) -> "list[Partition]":
        """The replicas that there are, in the order of the assignment."""
        found = [self.at(broker) for broker in self.registered.replicas]
        return [each for each in found if each is not None]

    @property
    def led(self) -> "Partition | None":
        """The partition at its leader, if that runs and has heard that it leads."""
        found = self.at(self.leader)
        return found if found is not None and found.leads and found.host.online else None

    @property
    def at_leader(self) -> "Partition":
        """As `led`. NotThereError."""
        found = self.led
        if found is None:
            raise NotThereError(f"no broker that runs leads {self.topic.name}-{self.index}")
        return found

    @property
    def log(self) -> Log:
        """That of the leader, or of who led last."""
        found = self.at(self._led_last) or next(iter(self._all), None)
        if found is not None:
            return found.log
        return next(iter(self.topic.cluster.brokers.values())).replicas.new_log(self.topic)

    @property
    def logs(self) -> dict[int, Log]:
        return {each.broker: each.log for each in self._all}

    @property
    def followers(self) -> dict[int, Fetching]:
        """What each follower does, by its broker."""
        return {each.broker: each.fetcher for each in self._all if each.fetcher is not None}

    def follower(self, broker: int) -> Fetching | None:
        """What a broker does as a follower, None where it isn't one."""
        found = self.at(broker) if broker in self.registered.replicas else None
        return None if found is None else found.fetcher

    def state_of(self, broker: int) -> FollowerState:
        """What a follower does, or a broker that has not heard that it follows."""
        replica, there = self.begun(broker), self.topic.cluster.brokers[broker]
        if replica is not None and replica.fetcher is not None:
            return replica.fetcher.state
        if not there.online:
            return FollowerState.OFFLINE
        return FollowerState.CUT_OFF if self.hosted else FollowerState.IN_STEP

    def set_follower(self, broker: int, state: FollowerState, *, delay_ms: int = 0) -> None:
        """Lets a follower fetch again, slowly (each fetch takes `delay_ms`), or keeps it from fetching."""
        if (fetcher := self.follower(broker)) is not None:
            fetcher.on(_TOLD[state], delay_ms)

    # -- what the controller decides

    def change(
        self, *, isr: Sequence[int] | None = None, leader: int | None = None, **fields: Sequence[int]
    ) -> None:
        """The controller writes that, and with `leader` the next leader epoch."""
        self.write([PartitionChangeRecord(self.topic.id, self.index, isr, leader, **fields)])

    def write(self, records: Iterable[PartitionChangeRecord]) -> None:
        """The controller writes records about it."""
        for record in records:
            self.topic.cluster.write(record)

    def lead(self, broker: int) -> None:
        """Makes `broker` the leader of the next leader epoch."""
        self.change(leader=broker)

    def bump_epoch(self) -> None:
        """The same leader, in the next leader epoch."""
        self.change(leader=self.leader)

    def lose_leader(self) -> None:
        """No replica may lead."""
        self.change(leader=NO_LEADER)

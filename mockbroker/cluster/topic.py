"""Topics and partitions as somebody sees them who sees every broker, such as an operator or a test."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from ..configs import TopicSettings
from ..controller.controller import Controller
from ..controller.partition import ControlledPartition
from ..controller.state import ControllerState
from ..errors import NotThereError
from ..metadata.image import PartitionRegistration
from ..metadata.records import NO_LEADER
from ..policies import Policies
from ..replication.peers import Fetching
from ..replication.replica_manager import ReplicaManager
from ..replication.states import FollowerEvent, FollowerState

if TYPE_CHECKING:
    from ..log.log import Log
    from ..replication.partition import Partition

INTERNAL = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})

_TOLD: Final = {
    FollowerState.BEHIND: FollowerEvent.RESUME,
    FollowerState.SLOW: FollowerEvent.SLOW_DOWN,
    FollowerState.PAUSED: FollowerEvent.PAUSE,
    FollowerState.EXTERNAL: FollowerEvent.REPLACE,
    FollowerState.FAILED: FollowerEvent.FAIL,
    FollowerState.CUT_OFF: FollowerEvent.LOSE,
}


class Topic:
    """A topic. `overrides` is its own configuration and `settings` the effective one, as the controller last
    set them; `managers` are the replica managers of all brokers."""

    overrides: Mapping[str, str]
    settings: TopicSettings

    def __init__(
        self, controller: Controller, managers: Mapping[int, ReplicaManager], name: str, topic_id: UUID
    ) -> None:
        self.environment = controller.environment
        self.name = name
        self.id = topic_id
        self.internal = name in INTERNAL
        self.partitions: list[TopicPartition] = []
        self._controller = controller
        self._managers = managers
        self.configured()

    def configure(self, overrides: Mapping[str, str]) -> None:
        """Sets the topic's own configuration. ConfigError if a value is invalid."""
        self._controller.configure_topic(self.id, overrides)

    def configured(self) -> None:
        """The controller has set its configuration."""
        self.overrides = self._controller.image.topic_ids[self.id].overrides
        self.settings = self.environment.configs.settings_of(self.overrides)

    def inherit(self) -> None:
        """What brokers have, and topics inherit, has changed."""
        before = self.settings
        self.configured()
        if before.min_insync_replicas != self.settings.min_insync_replicas:
            self._controller.min_insync_replicas_set(self.id)
        for manager in self._managers.values():
            manager.configure(self)

    def add_partitions(self, assignment: Sequence[Sequence[int]]) -> None:
        """Adds one partition for each list of replicas."""
        self._controller.add_partitions(self.id, assignment)

    def added(self) -> "TopicPartition":
        """The controller has added the next partition."""
        partition = TopicPartition(self, self._controller, self._managers, len(self.partitions))
        self.partitions.append(partition)
        return partition

    @property
    def policies(self) -> Policies:
        """The answers in force for this topic."""
        return self.environment.policies.at(self.name)

    def partition(self, index: int) -> "TopicPartition | None":
        return self.partitions[index] if 0 <= index < len(self.partitions) else None


class TopicPartition(ControlledPartition):
    """One partition of a topic, as the controller knows it (`registered`), and its replicas."""

    __slots__ = ("_hosts", "_led_last", "_managers", "registered", "topic")

    registered: PartitionRegistration

    def __init__(
        self, topic: "Topic", state: ControllerState, managers: Mapping[int, ReplicaManager], index: int
    ) -> None:
        super().__init__(state, topic.id, index)
        self.topic = topic
        self._led_last = NO_LEADER
        self._managers = managers
        self._hosts: dict[int, Partition] = {}
        self.register()

    def appear(self, replica: "Partition") -> None:
        """A broker has a replica now."""
        self._hosts[replica.broker] = replica

    def disappear(self, replica: "Partition") -> None:
        """A broker no longer has a replica."""
        if self._hosts.get(replica.broker) is replica:
            del self._hosts[replica.broker]

    def register(self) -> None:
        """The controller has written another state."""
        registered = self.registered = self.state.image.topics[self.topic.name].partitions[self.index]
        if registered.leader != NO_LEADER:
            self._led_last = registered.leader

    @property
    def topic_name(self) -> str:
        return self.topic.name

    @property
    def settings(self) -> TopicSettings:
        return self.topic.settings

    @property
    def min_insync_replicas(self) -> int:
        """The topic's `min.insync.replicas`, but no more than there are replicas."""
        return min(self.settings.min_insync_replicas, len(self.replicas))

    # -- replicas

    def at(self, broker: int) -> "Partition | None":
        """The partition as `broker` knows it; None if that has no replica, or has not learned of it."""
        found = self._hosts.get(broker)
        if found is None and (manager := self._managers.get(broker)) is not None:
            found = manager.find(self.topic, self.index)
        return found

    def begun(self, broker: int) -> "Partition | None":
        """As `at`, but None if it has not been set up yet."""
        return self._hosts.get(broker)

    @property
    def hosted(self) -> "list[Partition]":
        """The replicas that have been set up."""
        return list(self._hosts.values())

    @property
    def _all(self) -> "list[Partition]":
        """All replicas, in the order of the assignment."""
        found = [self.at(broker) for broker in self.registered.replicas]
        return [each for each in found if each is not None]

    @property
    def led(self) -> "Partition | None":
        """The partition on its leader, if that runs and has learned that it leads."""
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
    def log(self) -> "Log":
        """The log of the leader, or of the last leader if there is none."""
        found = self.at(self._led_last) or next(iter(self._all), None)
        if found is not None:
            return found.log
        return next(iter(self._managers.values())).new_log(self.topic)

    @property
    def logs(self) -> "dict[int, Log]":
        return {each.broker: each.log for each in self._all}

    @property
    def followers(self) -> dict[int, Fetching]:
        """What each follower does, by its broker."""
        return {each.broker: each.fetcher for each in self._all if each.fetcher is not None}

    def follower(self, broker: int) -> Fetching | None:
        """What a broker does as a follower, None if it is not a follower."""
        found = self.at(broker) if broker in self.registered.replicas else None
        return None if found is None else found.fetcher

    def state_of(self, broker: int) -> FollowerState:
        """The state of a follower, or of a broker that has not learned that it follows."""
        replica = self.begun(broker)
        if replica is not None and replica.fetcher is not None:
            return replica.fetcher.state
        if not self._managers[broker].online:
            return FollowerState.OFFLINE
        return FollowerState.CUT_OFF if self.hosted else FollowerState.IN_STEP

    def set_follower(self, broker: int, state: FollowerState, *, delay_ms: int = 0) -> None:
        """Makes a follower fetch again, fetch slowly (each fetch takes `delay_ms`), or stop fetching."""
        if (fetcher := self.follower(broker)) is not None:
            fetcher.on(_TOLD[state], delay_ms)


def appear(replica: "Partition") -> None:
    """A broker has a replica now."""
    if isinstance(replica.topic, Topic):
        replica.topic.partitions[replica.index].appear(replica)


def disappear(replica: "Partition") -> None:
    """A broker no longer has a replica."""
    if isinstance(replica.topic, Topic):
        replica.topic.partitions[replica.index].disappear(replica)

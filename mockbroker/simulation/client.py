"""What all model clients have: a view of who leads, and a way to send requests to brokers.

Modelled on Kafka's `Metadata.java`: a leader epoch that was seen never goes back.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from ..apis.advertised import advertised
from ..cluster.broker import Broker
from ..cluster.cluster import Cluster
from ..protocol.api_keys import ApiKey
from ..protocol.errors import ErrorCode
from ..protocol.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from .scene import Scene

RETRY_BACKOFF_MS: Final = 100
NO_BROKER: Final = -1
NO_EPOCH: Final = -1


class LeaderAndEpoch(NamedTuple):
    """-1 if unknown."""

    leader: int = NO_BROKER
    epoch: int = NO_EPOCH


_UNKNOWN: Final = LeaderAndEpoch()


class ModelClient:
    """One client. `versions` are the highest that both the brokers and this model know."""

    _turn = 0
    """Goes up with each new activity, so that answers to abandoned ones are recognised."""
    _refreshing = False

    def __init__(self, scene: Scene, name: str, speaks: dict[ApiKey, int]) -> None:
        self.scene = scene
        self.cluster: Cluster = scene.cluster
        self.name = name
        self.random = scene.stream(name)
        known = advertised(self.cluster.release)
        self.versions = {api: min(high, known[api][1]) for api, high in speaks.items() if api in known}
        self._leaders: dict[tuple[str, int], LeaderAndEpoch] = {}
        self._last_seen: dict[tuple[str, int], int] = {}

    def ask(
        self, broker: int, api: ApiKey, request: Any, then: Callable[[Any], None], lane: str = ""
    ) -> None:
        """Sends a request. `then` gets the answer, or None if the connection was lost."""
        self.scene.network.send(self.name, broker, api, self.versions[api], request, then, lane)

    def later(self, action: Callable[[], None], delay_ms: int = RETRY_BACKOFF_MS) -> None:
        self.cluster.environment.after(delay_ms, action)

    def unless_over(self, action: Callable[..., None]) -> Callable[..., None]:
        """Does it, unless something else has begun by then."""
        turn = self._turn
        return lambda *given: action(*given) if turn == self._turn else None

    def tell(self, text: str) -> None:
        self.scene.tell(self.name, text)

    # -- metadata

    def leader_of(self, topic: str, partition: int) -> LeaderAndEpoch:
        """The leader; none while the last metadata is older than an epoch that was seen since."""
        key = topic, partition
        known, seen = self._leaders.get(key, _UNKNOWN), self._last_seen.get(key, NO_EPOCH)
        return known if known.epoch == seen else LeaderAndEpoch(NO_BROKER, seen)

    def saw_epoch(self, topic: str, partition: int, epoch: int) -> None:
        """An answer had a leader epoch: if it is newer than the metadata, that is out of date."""
        if epoch > self._last_seen.get((topic, partition), NO_EPOCH):
            self._last_seen[topic, partition] = epoch
            self.refresh(topic)

    def refresh(self, topic: str, then: Callable[[], None] | None = None) -> None:
        """Asks some broker for metadata, one request at a time."""
        if self._refreshing:
            if then is not None:
                self.later(then)
            return
        self._refreshing = True
        brokers = self.scene.bootstrap
        broker = brokers[self.random.randrange(0, len(brokers))]
        request = MetadataRequest([MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)

        def answered(answer: MetadataResponse | None) -> None:
            self._refreshing = False
            if answer is not None:
                self._learn(answer)
            if then is not None:
                if answer is None:
                    self.later(then)
                else:
                    then()

        self.ask(broker, ApiKey.METADATA, request, answered, "metadata")

    def _learn(self, answer: MetadataResponse) -> None:
        for topic in answer.topics:
            for each in topic.partitions:
                key = topic.name or "", each.partition_index
                has_epoch = self.versions[ApiKey.METADATA] >= 7
                epoch = each.leader_epoch if has_epoch else NO_EPOCH
                if epoch < self._last_seen.get(key, NO_EPOCH):
                    continue
                self._last_seen[key] = epoch
                leader = NO_BROKER if each.error_code else each.leader_id
                self._leaders[key] = LeaderAndEpoch(leader, epoch)

    def coordinator(self, group: str) -> int:
        """The coordinator's id, -1 if there is none: what FindCoordinator would answer, without asking."""
        return self._online(self.cluster.coordinator(group))

    def transaction_coordinator(self, transactional_id: str) -> int:
        """The same for a transactional id."""
        return self._online(
            self.cluster.brokers.get(self.cluster.transaction_partition(transactional_id).leader)
        )

    def _online(self, broker: Broker | None) -> int:
        return broker.id if broker is not None and broker.online else NO_BROKER


LEADER_GONE: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
"""Errors after which a client looks up the leader again."""

"""One broker of the cluster: its address and what it alone knows."""

from functools import cached_property
from typing import TYPE_CHECKING

from ..environment import Timer
from ..metadata.image import MetadataImage
from ..replication.replica_manager import ReplicaManager
from .liveness import Liveness
from .local_peers import LocalPeers

if TYPE_CHECKING:
    from ..coordinators.groups import GroupCoordinator
    from ..coordinators.transactions import TransactionCoordinator
    from ..policies import Policies
    from ..replication.partition import Partition
    from .cluster import Cluster
    from .fetch_sessions import FetchSessions


class Broker:
    """A broker. `host` and `port` are what Metadata tells clients; the shell sets them before it serves, and
    `listener` where it listens elsewhere."""

    def __init__(self, cluster: "Cluster", broker_id: int, rack: str | None) -> None:
        self.cluster = cluster
        self.environment = cluster.environment
        self.id = broker_id
        self.host = "127.0.0.1"
        self.port = 9091 + broker_id
        self.listener: tuple[str, int] | None = None
        self.liveness = Liveness.RUNNING
        self.closed_logs = True
        """Whether it closed its logs when it went down last."""
        self.hears_controller = True
        """False while it is cut off from the controller: it goes on with the leaders it knew."""
        self.session: Timer | None = None
        """Fires when the controller takes it for dead."""
        self.unreachable: set[int] = set()
        """Brokers it is cut off from."""
        self.fenced = False
        """Whether the controller takes it for gone: as in the newest image."""
        self.metadata_delay_ms = 0
        """How long after the controller wrote a metadata record it hears of it."""
        self.news_planned = False
        """Whether it will hear of one."""
        self.rack = rack
        peers = LocalPeers(cluster, self)
        self.replicas = ReplicaManager(
            broker_id,
            self.environment,
            peers,
            cluster.cleanup,
            lambda: self.image,
            cluster.appear,
            cluster.disappear,
        )

    @property
    def listens_on(self) -> tuple[str, int]:
        """Host and port."""
        return self.listener or (self.host, self.port)

    @property
    def image(self) -> MetadataImage:
        """The cluster as it knows it: what it tells clients."""
        metadata = self.cluster.metadata
        return metadata.image_of(self.id) if metadata.behind else metadata.image

    def leader_of(self, topic: str, index: int) -> "Partition | None":
        """A partition at the broker that leads it as far as this one knows; None when that can't be reached,
        or has not heard of the partition."""
        found = self.reached(self.image.topics[topic].partitions[index].leader)
        there = self.cluster.partition(topic, index)
        return None if found is None or there is None else there.at(found.id)

    def reached(self, broker: int) -> "Broker | None":
        """Another broker, None where it is down, or cut off from this one, or there is none."""
        found = self.cluster.brokers.get(broker)
        return None if found is None or not found.online or broker in self.unreachable else found

    def leader_id(self, topic: str, index: int) -> int | None:
        """The broker that leads a partition, as far as this broker knows: `NO_LEADER` if none does, None if
        it has not learned of the partition."""
        known = self.image.topics.get(topic)
        if known is None or not 0 <= index < len(known.partitions):
            return None
        return known.partitions[index].leader

    # -- what its coordinators ask

    def coordinates(self, group_id: str) -> bool:
        """Whether it is the coordinator of a group."""
        return self.cluster.coordinator(group_id) is self

    def offsets_index(self, group_id: str) -> int:
        """Which partition of `__consumer_offsets` holds the group."""
        return self.cluster.offsets_partition(group_id).index

    def offsets_partition(self, group_id: str) -> "Partition | None":
        """That partition here, None where there is no replica of it."""
        return self.cluster.offsets_partition(group_id).at(self.id)

    def transaction_partition(self, transactional_id: str) -> "Partition | None":
        """The partition of `__transaction_state` that holds the id here, None where there is no replica."""
        return self.cluster.transaction_partition(transactional_id).at(self.id)

    def new_producer_id(self) -> int:
        return self.cluster.new_producer_id()

    def complete_offsets(self, broker: int, partition: int, producer_id: int, committed: bool) -> None:
        """A marker is in a partition of `__consumer_offsets` at its leader: offsets that waited for it count
        there, or go."""
        self.cluster.brokers[broker].groups.complete_transaction(partition, producer_id, committed)

    # -- whether it is there

    @property
    def gone(self) -> bool:
        """Whether it is down, or taken for it."""
        return self.fenced or not self.online

    @property
    def electable(self) -> bool:
        """Whether it may lead: it has to hear of it."""
        return self.hears_controller and not self.gone

    @property
    def policies(self) -> "Policies":
        """The answers in force on this broker."""
        return self.cluster.environment.policies.at(broker=self.id)

    @property
    def online(self) -> bool:
        return self.liveness is Liveness.RUNNING

    def cancel_session(self) -> None:
        """The controller waits no longer for a sign of it: there was one, or it is fenced."""
        if self.session is not None:
            self.session.cancel()
            self.session = None

    def forget_sessions(self) -> None:
        """Fetch sessions end with the process."""
        self.__dict__.pop("sessions", None)

    # Made at their first use, since most of their code is not needed to start.

    @cached_property
    def sessions(self) -> "FetchSessions":
        from .fetch_sessions import FetchSessions

        return FetchSessions(self.cluster.environment)

    @cached_property
    def groups(self) -> "GroupCoordinator":
        from ..coordinators.groups import GroupCoordinator

        return GroupCoordinator(self)

    @cached_property
    def transactions(self) -> "TransactionCoordinator":
        from ..coordinators.transactions import TransactionCoordinator

        return TransactionCoordinator(self)
